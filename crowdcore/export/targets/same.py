"""The file that was given, with the truths beside its rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path, PurePath

import numpy as np

from crowdcore.data import UNKNOWN
from crowdcore.export.finished import FinishedRun, missing_original
from crowdcore.export.originals import AddedColumns, Cell, delimited, json, parquet, workbook
from crowdcore.export.targets import ExportFile, Target
from crowdcore.export.writers import defuse_text
from crowdcore.reading.parsing.original import Original

NAMES = ("truth", "confidence", "agrees")
"""Columns that are added; "agrees" only where each row holds one label."""


def _obstacle(run: FinishedRun) -> str:
    if run.original is None:
        return missing_original(run)
    if run.original.item is None:
        return "Each row of the file is a worker, so that no row has a truth to stand beside it."
    if run.data.row is None or _writer(run.original) is None:
        return "Truths cannot be put into a file of this kind: take the long table or a workbook."
    return ""


def _files(run: FinishedRun) -> Sequence[ExportFile]:
    name = PurePath(run.original.name if run.original else "labels.csv")
    as_sheet = run.original is not None and _writer(run.original) == "workbook"
    suffix = ".xlsx" if as_sheet else name.suffix
    return [ExportFile(name=f"{name.stem}-with-truths{suffix}", write=lambda p: _write(run, p))]


def _write(run: FinishedRun, path: Path) -> None:
    original = run.original
    if original is None or original.item is None:
        raise ValueError(_obstacle(run))
    added = added_columns(run, run.columns())
    if original.layout is not None:
        delimited.write(original, original.layout, added, path)
    elif _writer(original) == "parquet":
        parquet.write(original, added, path)
    elif _writer(original) == "workbook":
        workbook.write(original, added, path)
    else:
        json.write(original, added, path)


def _writer(original: Original) -> str | None:
    """How the file is written: as text, Parquet, JSON or a sheet; None where it cannot be."""
    if original.layout is not None:
        return "delimited"
    head = original.content().head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(b"PAR1"):
        return "parquet"
    if workbook.is_readable(original):
        return "workbook"
    is_list = head.startswith(b"[")
    return "json" if is_list or (head.startswith(b"{") and _has_records(original)) else None


def _has_records(original: Original) -> bool:
    """Tell one record per line from a JSON object, which has no place for a truth."""
    content = original.content().all()
    n_records = sum(line.lstrip().startswith(b"{") for line in content.splitlines())
    return original.item is not None and n_records == len(original.item)


def added_columns(run: FinishedRun, taken: Sequence[str]) -> AddedColumns:
    """Make the columns that are put behind those of a file.

    Parameters
    ----------
    run
        The run.
    taken
        The columns that the file has.

    Returns
    -------
    AddedColumns
        Truth and confidence of the item of each row, and whether its label agrees.
    """
    original, data = run.original, run.data
    if original is None or original.item is None or data.row is None:
        raise ValueError(_obstacle(run))
    item = original.item.astype(np.int64)
    from_file = np.flatnonzero((data.row != UNKNOWN) & (run.truth[data.item] != ""))
    rows = data.row[from_file]
    has_agreement = data.kind == "classes" and len(np.unique(rows)) == len(rows)
    agrees = np.full(len(item), UNKNOWN, np.int64)
    if has_agreement:
        agrees[rows] = run.agrees[from_file]
    distinct, code = np.unique((item + 1) * 3 + agrees + 1, return_inverse=True)
    records = [_record(run, int(key) // 3 - 1, int(key) % 3 - 1) for key in distinct]
    n_columns = len(NAMES) if has_agreement else 2
    lower = {name.lower() for name in taken}
    names = [name if name not in lower else f"{name} (crowdcore)" for name in NAMES[:n_columns]]
    return AddedColumns(
        names=tuple(names), records=[record[:n_columns] for record in records], code=code
    )


def _record(run: FinishedRun, item: int, agrees: int) -> tuple[Cell, ...]:
    if item == UNKNOWN or not run.truth[item]:
        return None, None, None
    truth, confidence = str(run.truth[item]), float(run.confidence[item])
    return (
        defuse_text(truth) if run.for_spreadsheets else truth,
        None if math.isnan(confidence) else confidence,
        None if agrees == UNKNOWN else bool(agrees),
    )


TARGET = Target(
    id="same",
    title="Your file with the truths",
    contents="The file that you gave, in the same order and with the same columns, and behind "
    "them the truth of each row's item, its confidence, and whether the row's label agrees.",
    order=0,
    obstacle=_obstacle,
    files=_files,
    guards_formulas=True,
)
