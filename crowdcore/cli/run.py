"""`crowdcore run`: infer the truths of a file of labels."""

import json
import os
import shlex
from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crowdcore.cli.frame import count, echo_json, progress, write_json
from crowdcore.cli.reading import (
    Contradictions,
    ContradictionsPolicy,
    FeatureColumns,
    FeaturesFile,
    Fixes,
    GoldColumn,
    GoldFile,
    ItemColumn,
    LabelColumn,
    LabelsFile,
    PictureSize,
    WorkerColumn,
    read,
)

if TYPE_CHECKING:
    import pandas as pd

    from crowdcore.method import Config
    from crowdcore.result import Result

TRUTHS, WORKERS, RESULT = "truths.csv", "workers.csv", "result.json"
CLASSIFIER, COMPLETED = "classifier.zip", "completed.parquet"
FILES = (TRUTHS, WORKERS, RESULT, CLASSIFIER, COMPLETED)


class Device(StrEnum):
    """What computes."""

    AUTO = "auto"
    CPU = "cpu"
    CUDA = "cuda"


def run(
    *,
    labels: LabelsFile,
    method: Annotated[
        str, typer.Option("--method", "-m", help="The method's id; see `crowdcore methods`.")
    ] = "auto",
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
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help=f"Write {TRUTHS}, {WORKERS} and {RESULT} there, {CLASSIFIER} where the method "
            f"trains one, and {COMPLETED} with all labels where some were filled in; older ones "
            "are replaced.",
        ),
    ] = None,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact",
            help="Write names to CSV as they are; else one that a spreadsheet would take for a "
            "formula gets an apostrophe.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    item: ItemColumn = None,
    worker: WorkerColumn = None,
    label: LabelColumn = None,
    gold_column: GoldColumn = None,
    contradictions: ContradictionsPolicy = Contradictions.LAST,
    feature_columns: FeatureColumns = None,
    picture_size: PictureSize = None,
    fixes: Fixes = None,
) -> None:
    """Infer the truths, judge the workers, and compare with gold where there is gold."""
    from crowdcore.io.beliefs import read_beliefs
    from crowdcore.registry import fit, get_method
    from crowdcore.run import Run

    chosen = get_method(method)
    params = parse_params(param or [], chosen.config)
    chosen.configure(params)  # a wrong setting is told before a large file is read
    complete_params = _complete_params(complete, complete_param or [])
    _check_out(out, [path for path in (labels, gold, features) if path is not None])
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
        fixes=fixes,
    )
    warm_start = None if start_from is None else read_beliefs(start_from)
    with progress() as watch:
        watched = Run(seed=seed, device=device.value, watch=watch)
        result = fit(
            data,
            method,
            run=watched,
            warm_start=warm_start,
            complete=complete,
            complete_params=complete_params,
            **params,
        )
    workers = result.workers()
    files = [] if out is None else _write(result, workers, out, exact=exact)
    summary = _summary(result, workers)
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
    }
    more = ["crowdcore", "check", str(labels)]
    several = [("--feature-column", column) for column in feature_columns or []]
    several += [("--fix", fix) for fix in fixes or []]
    for option, value in [*options.items(), *several]:
        more += [] if value is None else [option, str(value)]
    typer.echo("\n".join(_lines(summary, labels, shlex.join(more))))
    if files:
        typer.echo(f"Wrote {', '.join(str(path) for path in files)}")


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
    """Read KEY=VALUE pairs by the types of a method's settings."""
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


def _check_out(out: Path | None, sources: list[Path]) -> None:
    from crowdcore.data import DataError

    if out is None:
        return
    targets = {(out / name).resolve() for name in FILES}
    if clash := [path for path in sources if path.resolve() in targets]:
        raise DataError(
            f"The results would overwrite {str(clash[0])!r}, which is to be read",
            fix="Choose another folder with --out.",
        )
    # The folder itself is made when there is something to put into it.
    near = next(path for path in (out, *out.absolute().parents) if path.exists())
    if not near.is_dir() or not os.access(near, os.W_OK):
        why = "is a file, not a folder" if near.is_file() else "is not open for writing"
        raise DataError(f"{str(near)!r} {why}", fix="Choose another folder with --out.")


def _write(result: "Result", workers: "pd.DataFrame", out: Path, *, exact: bool) -> list[Path]:
    from crowdcore.artefacts.classifier import Classifier
    from crowdcore.artefacts.completion import Completion
    from crowdcore.io.completions import write_long
    from crowdcore.io.writers import write_csv

    paths = [out / name for name in (TRUTHS, WORKERS, RESULT)]
    truths, record = result.truths(), _record(result)
    out.mkdir(parents=True, exist_ok=True)
    write_csv(truths, paths[0], spreadsheet_safe=not exact)
    write_csv(workers, paths[1], spreadsheet_safe=not exact)
    write_json(record, paths[2])
    for name in (CLASSIFIER, COMPLETED):
        (out / name).unlink(missing_ok=True)  # that of an older run must not stay
    if (classifier := Classifier.of(result)) is not None:
        classifier.save(out / CLASSIFIER)
        paths.append(out / CLASSIFIER)
    if (completion := Completion.of(result)) is not None:
        write_long(completion, out / COMPLETED)
        paths.append(out / COMPLETED)
    return paths


def _record(result: "Result") -> dict[str, Any]:
    """Everything about a run that is not a table."""
    from dataclasses import asdict

    return {
        "provenance": asdict(result.provenance),
        "data": _sizes(result),
        "score": _score(result),
        "health": _health(result),
        "history": result.history,
    }


def _summary(result: "Result", workers: "pd.DataFrame") -> dict[str, Any]:
    how = result.provenance
    return {
        "method": how.method,
        "title": how.title,
        "params": how.params,
        "seed": how.seed,
        "device": how.device,
        "seconds": how.seconds,
        "steps": how.steps,
        "converged": how.converged,
        "notes": list(how.notes),
        "data": _sizes(result),
        "tied": int(result.tied.sum()),
        "undecided": int((result.truth < 0).sum()),
        "mean_confidence": float(result.confidence.mean()),
        "expected_accuracy": how.expected_accuracy,
        "used_gold": how.used_gold,
        "score": _score(result),
        "workers": dict(Counter(workers["verdict"]).most_common()),
        "health": _health(result),
    }


def _sizes(result: "Result") -> dict[str, Any]:
    data = result.data
    return {
        "labels": data.n_labels,
        "items": data.n_items,
        "workers": data.n_workers,
        "classes": list(data.classes),
        "gold": data.n_gold,
        "fingerprint": data.fingerprint,
    }


def _score(result: "Result") -> dict[str, Any] | None:
    from crowdcore.audit.calibration import calibration_error, reliability

    score, bins = result.score(), reliability(result)
    if score is None or bins is None:
        return None
    low, high = score.interval
    return {
        "accuracy": score.accuracy,
        "low": float(low),
        "high": float(high),
        "n": score.n,
        "correct": score.correct,
        "undecided": score.undecided,
        "calibration_error": calibration_error(bins),
    }


def _health(result: "Result") -> list[dict[str, Any]]:
    report = result.data.report
    found = () if report is None else report.warnings
    return [
        {"id": one.id, "severity": one.severity, "title": one.title, "count": one.count,
         "done": one.done}
        for one in found
    ]  # fmt: skip


def _lines(summary: dict[str, Any], labels: Path, more: str) -> list[str]:
    data, score = summary["data"], summary["score"]
    end = {None: "", True: ", converged", False: ", stopped before it converged"}
    steps = f"{count(summary['steps'], 'step')}{end[summary['converged']]}, "
    lines = [
        f"{labels.name}: {count(data['labels'], 'label')} of {count(data['items'], 'item')} by "
        f"{count(data['workers'], 'worker')}, {count(len(data['classes']), 'class', 'classes')}",
        f"{summary['title']}: {steps if summary['steps'] else ''}"
        f"{summary['seconds']:.2f} s on {summary['device']}, seed {summary['seed']}",
        *summary["notes"],
        f"Truths: {data['items'] - summary['undecided']:,} decided, {summary['undecided']:,} "
        f"undecided, {summary['tied']:,} tied; mean confidence {summary['mean_confidence']:.3f}",
    ]
    if summary["expected_accuracy"] is not None:
        point, low, high = summary["expected_accuracy"]
        lines.append(f"Expected accuracy: {point:.4f} (95 % interval {low:.4f} to {high:.4f})")
    if score is not None:
        lines += [
            f"Accuracy against gold: {score['accuracy']:.4f} (95 % interval {score['low']:.4f} to "
            f"{score['high']:.4f}; {score['correct']:,} of {score['n']:,} items)",
            f"Expected calibration error: {score['calibration_error']:.4f}, the mean gap between "
            "confidence and accuracy on gold",
        ]
    elif summary["used_gold"]:
        lines.append(
            f"The method was given the gold of {count(data['gold'], 'item')}, which therefore "
            "cannot tell how good the truths are"
        )
    verdicts = ", ".join(f"{number:,} {verdict}" for verdict, number in summary["workers"].items())
    lines.append(f"Workers: {verdicts}")
    if summary["health"]:
        found = "; ".join(f"{one['title']} ({one['count']:,})" for one in summary["health"])
        lines.append(f"Health: {found}. More: {more}")
    return lines
