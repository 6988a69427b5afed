"""`crowdcore run`: infer the truths of a file of labels."""

import json
import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crowdcore.cli.options import (
    Contradictions,
    ContradictionsPolicy,
    FeatureColumns,
    FeaturesFile,
    Fixes,
    ForSpreadsheets,
    GoldColumn,
    GoldFile,
    ItemColumn,
    KindOfLabels,
    LabelColumn,
    LabelKinds,
    LabelsFile,
    PictureSize,
    QuestionName,
    ReadingNumber,
    Unmarked,
    WorkerColumn,
    read,
)
from crowdcore.cli.result_folder import (
    CLASSIFIER,
    COMPLETED,
    RESULT,
    TRUTHS,
    WORKERS,
    as_stored,
    check_out,
    write_run,
)
from crowdcore.cli.run_prepared import is_prepared, run_prepared
from crowdcore.cli.summary import result_record, summarise, summary_lines
from crowdcore.cli.terminal import echo_json, progress
from crowdcore.methods import DEFAULTS

if TYPE_CHECKING:
    from crowdcore.config import Config


class TruthsFormat(StrEnum):
    """What truths are written as."""

    AUTO = "auto"
    CSV = "csv"
    PARQUET = "parquet"


class Device(StrEnum):
    """What computes."""

    AUTO = "auto"
    CPU = "cpu"
    CUDA = "cuda"


def run(
    *,
    labels: LabelsFile,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            "-m",
            help="The method's id; see `crowdcore methods`. Without it, the default for the kind "
            "of labels.",
        ),
    ] = None,
    complete: Annotated[
        str | None,
        typer.Option(
            metavar="METHOD",
            help="Fill in missing labels first; see the methods with role complete in "
            "`crowdcore methods`.",
        ),
    ] = None,
    complete_param: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="A setting of --complete; may be repeated."),
    ] = None,
    features: FeaturesFile = None,
    gold: GoldFile = None,
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", metavar="KEY=VALUE", help="A setting; may be repeated."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of everything random.")] = 0,
    device: Annotated[Device, typer.Option(help="What computes.")] = Device.AUTO,
    start_from: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Begin from the truths that an earlier run wrote to this folder.",
        ),
    ] = None,
    decisions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Go by what people decided: workers left out, truths, merged classes; as "
            "`crowdcore decide export` writes them.",
        ),
    ] = None,
    requirement: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="The accuracy that workers must reach, between 0 and 1; who surely does not is "
            "called weak.",
        ),
    ] = None,
    rows_in_order: Annotated[
        bool,
        typer.Option(
            "--rows-in-order",
            help="Rows stand in the order of work: look for workers who change over time although "
            "the file has no times.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help=f"Write {TRUTHS}, {WORKERS} and {RESULT} there, {CLASSIFIER} where the method "
            f"trains one, and {COMPLETED} with all labels where some were filled in; older ones "
            "are replaced.",
        ),
    ] = None,
    parts: Annotated[
        int,
        typer.Option(
            min=1,
            max=256,
            help="Processes that work together, on a folder that `crowdcore prepare` wrote.",
        ),
    ] = 1,
    truths_format: Annotated[
        TruthsFormat,
        typer.Option(
            "--format", help="What truths are written as; auto takes Parquet from a million items."
        ),
    ] = TruthsFormat.AUTO,
    for_spreadsheets: ForSpreadsheets = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    item: ItemColumn = None,
    worker: WorkerColumn = None,
    label: LabelColumn = None,
    gold_column: GoldColumn = None,
    contradictions: ContradictionsPolicy = Contradictions.LAST,
    feature_columns: FeatureColumns = None,
    picture_size: PictureSize = None,
    reading: ReadingNumber = None,
    question: QuestionName = None,
    fixes: Fixes = None,
    unmarked: Unmarked = None,
    kind: KindOfLabels = LabelKinds.AUTO,
) -> None:
    """Infer the truths, judge the workers, and compare with gold where there is gold."""
    if is_prepared(labels):
        paths = (features, gold, start_from, decisions, item, worker, label, gold_column)
        choices = (complete, feature_columns, picture_size, reading, question, fixes, unmarked)
        _refuse_reading_options(*paths, *choices, for_spreadsheets or rows_in_order or None)
        run_prepared(
            labels,
            out,
            method=method,
            pairs=param or [],
            seed=seed,
            device=device.value,
            worker_options={} if requirement is None else {"requirement": requirement},
            n_parts=parts,
            as_json=as_json,
        )
        return
    if parts > 1:
        raise typer.BadParameter("Only prepared folders run in parts: `crowdcore prepare` first.")
    from crowdcore.cli.decide import apply_file
    from crowdcore.export.previous import read_warm_start
    from crowdcore.registry import fit, get_method
    from crowdcore.run import Run

    if method is not None:
        _check_settings(method, param or [])  # told before a large file is read
    complete_params = _complete_params(complete, complete_param or [])
    check_out(out, [path for path in (labels, gold, features) if path is not None])
    data = read(
        labels,
        gold=gold,
        features=features,
        feature_columns=feature_columns,
        picture_size=picture_size,
        item=item,
        worker=worker,
        label=label,
        gold_column=gold_column,
        contradictions=contradictions,
        reading=reading,
        question=question,
        fixes=fixes,
        command="run",
        unmarked=unmarked,
        kind=kind,
    )
    data, decided = apply_file(data, decisions)
    chosen = get_method(method or DEFAULTS[data.kind], kind=data.kind)
    params = parse_params(param or [], chosen.config)
    warm_start = None if start_from is None else read_warm_start(start_from)
    with progress() as watch:
        watched = Run(seed=seed, device=device.value, watch=watch)
        result = fit(
            data,
            chosen.id,
            run=watched,
            warm_start=warm_start,
            complete=complete,
            complete_params=complete_params,
            **params,
        )
    result = result.with_notes(*decided)
    workers = result.workers(requirement=requirement, rows_in_order=rows_in_order)
    read_as = {
        "labels": labels,
        "gold": gold,
        "item": item,
        "worker": worker,
        "label": label,
        "gold_column": gold_column,
        "contradictions": contradictions.value,
        "reading": reading,
        "question": question,
        "fixes": fixes,
        "decisions": decisions,
    }
    files = []
    if out is not None:
        record = {**result_record(result), "reading": as_stored(read_as)}
        formats = {TruthsFormat.CSV: False, TruthsFormat.PARQUET: True}
        files = write_run(
            result,
            workers,
            out,
            record,
            for_spreadsheets=for_spreadsheets,
            as_parquet=formats.get(truths_format),
        )
    summary = summarise(result, workers)
    if as_json:
        echo_json({**summary, "files": [str(path) for path in files]})
        return
    options = {
        "--gold": gold,
        "--features": features,
        "--item": item,
        "--worker": worker,
        "--label": label,
        "--gold-column": gold_column,
        "--contradictions": None if contradictions is Contradictions.LAST else contradictions,
        "--picture-size": picture_size,
        "--reading": reading,
        "--question": question,
        "--kind": None if kind is LabelKinds.AUTO else kind,
    }
    check_command = ["crowdcore", "check", str(labels)]
    several = [("--feature-column", column) for column in feature_columns or []]
    several += [("--fix", fix) for fix in fixes or []]
    for option, value in [*options.items(), *several]:
        check_command += [] if value is None else [option, str(value)]
    typer.echo("\n".join(summary_lines(result, summary, labels, shlex.join(check_command))))
    if files:
        typer.echo(f"Wrote {', '.join(str(path) for path in files)}")


def _refuse_reading_options(*given: object) -> None:
    """Refuse options that say how files are read: a prepared folder was read already."""
    if any(value is not None for value in given):
        raise typer.BadParameter(
            "A prepared folder takes --method, --param, --seed, --device, --requirement, --parts, "
            "--out and --json; give the others to `crowdcore prepare`, or run on the files."
        )


def _check_settings(name: str, pairs: list[str]) -> None:
    """Refuse an unknown method, or settings that fit it for no kind of labels."""
    from crowdcore.data import DataError
    from crowdcore.registry import all_methods, get_method

    named = [one for one in all_methods() if one.id == name and one.role == "aggregate"]
    if not named:
        get_method(name)
    errors = []
    for one in named:
        try:
            one.configure(parse_params(pairs, one.config))
        except DataError as error:
            errors.append(error)
    if errors and len(errors) == len(named):
        raise errors[0]


def _complete_params(name: str | None, pairs: list[str]) -> dict[str, Any]:
    from crowdcore.data import DataError
    from crowdcore.registry import get_method

    if name is None:
        if pairs:
            raise DataError("--complete-param is given without --complete")
        return {}
    completer = get_method(name, "complete")
    params = parse_params(pairs, completer.config)
    completer.configure(params)
    return params


def parse_params(pairs: list[str], config: "type[Config]") -> dict[str, Any]:
    """Read KEY=VALUE pairs by the types of a method's settings.

    Parameters
    ----------
    pairs : list of str
        Texts of the form KEY=VALUE.
    config : type of Config
        The settings that the method has.

    Returns
    -------
    dict of str to object
        Values by key; those that fit no type stay text, for the config to judge.

    Raises
    ------
    DataError
        A pair has no key, or a key is given twice.
    """
    from crowdcore.data import DataError

    params: dict[str, Any] = {}
    for pair in pairs:
        key, sign, text = pair.partition("=")
        key = key.strip()
        if not sign or not key:
            raise DataError(f"A setting is given as KEY=VALUE, not {pair!r}")
        if key in params:
            raise DataError(f"The setting {key!r} is given twice")
        field = config.model_fields.get(key)
        params[key] = text if field is None else _value(text, field.annotation)
    return params


def _value(text: str, annotation: Any) -> Any:
    """Read a value as JSON where that fits the type, else leave it for the config to judge."""
    from pydantic import TypeAdapter, ValidationError

    try:
        value = json.loads(text)
        TypeAdapter(annotation).validate_python(value)
    except (json.JSONDecodeError, ValidationError):
        return text
    return value
