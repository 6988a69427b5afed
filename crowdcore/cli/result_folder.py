"""The folder that `crowdcore run --out` writes, and how the run in it is opened again."""

import json
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowdcore.cli.terminal import write_json

if TYPE_CHECKING:
    import pandas as pd

    from crowdcore.data import CrowdData
    from crowdcore.export.finished import FinishedRun
    from crowdcore.results.result import Result

TRUTHS, WORKERS, RESULT = "truths.csv", "workers.csv", "result.json"
TRUTHS_PARQUET = "truths.parquet"
CLASSIFIER, COMPLETED = "classifier.zip", "completed.parquet"

PARQUET_FROM_ITEMS = 1_000_000
"""From so many items on truths are Parquet, unless CSV is asked for: a sixth of size and time."""

FILES = (TRUTHS, TRUTHS_PARQUET, WORKERS, RESULT, CLASSIFIER, COMPLETED)

_PATHS = ("labels", "gold", "decisions")


def as_stored(reading: dict[str, Any]) -> dict[str, Any]:
    """Make plain values of how a file was read, with whole paths; what is None is left out.

    Parameters
    ----------
    reading : dict of str to object
        Paths and options of `crowdcore run`.

    Returns
    -------
    dict of str to object
        For `result.json`.
    """
    stored = {name: value for name, value in reading.items() if value is not None}
    return {
        name: str(Path(value).resolve()) if name in _PATHS else value
        for name, value in stored.items()
    }


def check_out(out: Path | None, sources: list[Path]) -> None:
    """Refuse a folder that cannot be written to, or that holds what is to be read.

    Parameters
    ----------
    out : Path or None
        The folder of the results.
    sources : list of Path
        Files that are to be read.

    Raises
    ------
    DataError
        Another folder is needed.
    """
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
    nearest = next(path for path in (out, *out.absolute().parents) if path.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        problem = "is a file, not a folder" if nearest.is_file() else "is not open for writing"
        raise DataError(f"{str(nearest)!r} {problem}", fix="Choose another folder with --out.")


def write_run(
    result: "Result",
    workers: "pd.DataFrame",
    out: Path,
    record: dict[str, Any],
    *,
    for_spreadsheets: bool,
    as_parquet: bool | None = None,
) -> list[Path]:
    """Write a result into a folder.

    Parameters
    ----------
    result : Result
        What a method found.
    workers : DataFrame
        What it says of the workers.
    out : Path
        The folder; older results in it are replaced.
    record : dict of str to object
        Everything about the run that is not a table.
    for_spreadsheets : bool
        Whether names that look like formulas are marked.
    as_parquet : bool or None, optional
        Whether truths are Parquet, with numbers in single precision; None lets the number of items
        decide.

    Returns
    -------
    list of Path
        The files that were written.
    """
    from crowdcore.artefacts.completion import Completion
    from crowdcore.audit.kinds import audit_of
    from crowdcore.engine.learning.classifier import Classifier
    from crowdcore.export.completions import write_long
    from crowdcore.export.writers import write_csv, write_float32_parquet

    truths = result.truths()
    if as_parquet is None:
        as_parquet = len(truths) >= PARQUET_FROM_ITEMS and not for_spreadsheets
    name, other = (TRUTHS_PARQUET, TRUTHS) if as_parquet else (TRUTHS, TRUTHS_PARQUET)
    paths = [out / file for file in (name, WORKERS, RESULT)]
    out.mkdir(parents=True, exist_ok=True)
    if as_parquet:
        write_float32_parquet(truths, paths[0])
    else:
        write_csv(truths, paths[0], spreadsheet_safe=for_spreadsheets)
    (out / other).unlink(missing_ok=True)  # that of an older run must not stay
    write_csv(workers, paths[1], spreadsheet_safe=for_spreadsheets)
    write_json({**record, "for_spreadsheets": for_spreadsheets}, paths[2])
    for name in (CLASSIFIER, COMPLETED):
        (out / name).unlink(missing_ok=True)  # that of an older run must not stay
    if (classifier := Classifier.from_result(result)) is not None:
        classifier.save(out / CLASSIFIER)
        paths.append(out / CLASSIFIER)
    if (completion := result.artefact(Completion)) is not None:
        write_long(completion, out / COMPLETED)
        paths.append(out / COMPLETED)
    for name, written in audit_of(result.data.kind).files.items():
        (out / name).write_text(written(result), encoding="utf-8")
        paths.append(out / name)
    return paths


def read_run(folder: Path, *, labels: Path | None = None) -> "FinishedRun":
    """Read a run that was written to a folder, with its labels.

    Parameters
    ----------
    folder : Path
        What `crowdcore run --out` wrote.
    labels : Path or None, optional
        Where the labels are, if they are no longer where the run found them.

    Returns
    -------
    FinishedRun
        As the workspace has it for its own runs.

    Raises
    ------
    DataError
        The folder is of another kind, or the labels are not those of the run.
    """
    from crowdcore.audit.kinds import audit_of
    from crowdcore.audit.spans.texts import text_names
    from crowdcore.data import DataError
    from crowdcore.export.finished import FinishedRun
    from crowdcore.wording import file_stem

    record = _record(folder)
    reading = dict(record["reading"])
    if labels is not None:
        reading["labels"] = str(labels)
    data, excluded = _read_data(folder, reading)
    is_marked = bool(record.get("for_spreadsheets"))
    name = TRUTHS if (folder / TRUTHS).exists() else TRUTHS_PARQUET
    truths, workers = (_table(folder / file, is_marked=is_marked) for file in (name, WORKERS))
    rows = text_names(data) if data.kind == "sequences" else data.items
    if truths["item"].tolist() != list(rows):
        raise DataError(
            "The labels are not those that the run was made of: their items differ",
            file=reading["labels"],
            fix="Give the file of the run with --labels, or run again.",
        )
    return FinishedRun(
        name=file_stem(Path(reading["labels"]).stem, record["provenance"]["method"]),
        data=data,
        truths=truths,
        workers=workers,
        provenance=record["provenance"],
        excluded=excluded,
        span_files={
            file: partial((folder / file).read_text, encoding="utf-8")
            for file in audit_of(data.kind).files
        },
    )


def _record(folder: Path) -> dict[str, Any]:
    from crowdcore.data import DataError

    path = folder / RESULT
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise DataError(
            f"There is no {RESULT} in {str(folder)!r}",
            fix="Give a folder that `crowdcore run --out` wrote, or a run of the workspace.",
        ) from None
    if "reading" not in record:
        raise DataError(
            f"The run in {str(folder)!r} was made by an earlier version, which did not note where "
            "its labels are",
            fix="Run again.",
        )
    return record


def _read_data(folder: Path, reading: dict[str, Any]) -> tuple["CrowdData", dict[str, str]]:
    """The labels as the run had them, all workers included, and who was left out."""
    from crowdcore.cli.options import Contradictions, read
    from crowdcore.data import DataError
    from crowdcore.decisions import standing
    from crowdcore.decisions.applying import apply
    from crowdcore.decisions.files import read_decisions

    given = {name: value for name, value in reading.items() if name != "decisions"}
    labels = Path(given.pop("labels"))
    if not labels.exists():
        raise DataError(
            f"The labels of the run are no longer at {str(labels)!r}",
            fix="Say where they are with --labels.",
        )
    gold = given.pop("gold", None)
    given["gold"] = Path(gold) if gold is not None and Path(gold).exists() else None
    given["contradictions"] = Contradictions(given["contradictions"])
    data = read(labels, **given)
    if "decisions" not in reading:
        return data, {}
    text = Path(reading["decisions"]).read_text(encoding="utf-8")
    decisions = standing(read_decisions(text)).changing_data
    excluded = {made.subject: made.reason for made in decisions if made.action == "exclude"}
    others = [made for made in decisions if made.action != "exclude"]
    return apply(data, others).data, {
        name: reason for name, reason in excluded.items() if name in data.workers
    }


def _table(path: Path, *, is_marked: bool) -> Any:
    """Read a table that we wrote; names are texts as they are in the labels."""
    import pandas as pd

    from crowdcore.export.previous import unmarked

    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    frame = pd.read_csv(path, dtype={"item": str, "worker": str, "truth": str}, na_filter=True,
                        keep_default_na=False, na_values=[""])  # fmt: skip
    for name in ("item", "worker", "truth", "verdict", "evidence"):
        if name in frame:
            frame[name] = frame[name].fillna("").map(unmarked if is_marked else str)
    return frame.rename(columns=unmarked) if is_marked else frame
