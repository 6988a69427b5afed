"""What an earlier run believed, read back from the truths.csv and workers.csv that it wrote."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from crowdcore.audit.workers import COLUMNS
from crowdcore.data import DataError, Floats
from crowdcore.export.columns import PROBABILITY, TableColumn, score_columns
from crowdcore.export.tables import TRUTH_COLUMNS
from crowdcore.reading.parsing.open import open_table
from crowdcore.reading.parsing.table import Table
from crowdcore.warm_start import WarmStart

_FORMULA_SIGNS = frozenset("=+-@＝＋－＠\t\r\n")


def read_warm_start(folder: Path) -> WarmStart:
    """Read what `crowdcore run --out FOLDER` left, for a later fit to begin from.

    Files of earlier versions, whose scores have no prefix, are read too.

    Parameters
    ----------
    folder
        A folder with truths.csv; the workers' scores come from workers.csv beside it, if there
        is one.

    Returns
    -------
    WarmStart
        Probabilities of items, and scores of items and workers.

    Raises
    ------
    DataError
        Where truths.csv is missing, or lacks the items or their probabilities.
    """
    path = folder / "truths.csv"
    if not path.is_file() and (folder / "truths.parquet").is_file():
        path = folder / "truths.parquet"  # of many items
    if not path.is_file():
        raise DataError(
            f"There is no truths.csv in {str(folder)!r}",
            fix="Give the folder that an earlier `crowdcore run --out` wrote.",
        )
    truths = open_table(path)
    probabilities = [name for name in truths.columns if unmarked(name).startswith(PROBABILITY)]
    if "item" not in truths.columns or not probabilities:
        raise DataError("It has no column item, or no p: columns", file=str(path))
    try:
        posterior = np.stack([_numbers(truths, name) for name in probabilities], axis=1)
    except ValueError:
        raise DataError("A probability is not a number", file=str(path)) from None
    worker_names: tuple[str, ...] = ()
    worker_scores: dict[str, Floats] = {}
    workers_path = folder / "workers.csv"
    if workers_path.is_file() and "worker" in (workers := open_table(workers_path)).columns:
        worker_names, worker_scores = _names(workers, "worker"), _scores(workers, COLUMNS)
    return WarmStart(
        items=_names(truths, "item"),
        classes=tuple(unmarked(name).removeprefix(PROBABILITY) for name in probabilities),
        posterior=posterior,
        item_scores=_scores(truths, TRUTH_COLUMNS),
        workers=worker_names,
        worker_scores=worker_scores,
    )


def _names(table: Table, column: str) -> tuple[str, ...]:
    coded = table.coded(column)
    return tuple(unmarked(coded.names[code]) for code in coded.codes.tolist())


def _numbers(table: Table, column: str) -> Floats:
    coded = table.coded(column)
    return np.array(coded.names, np.float64)[coded.codes]


def _scores(table: Table, columns: Collection[TableColumn[Any]]) -> dict[str, Floats]:
    """Read a method's own scores: name -> one number per row."""
    original = {unmarked(name): name for name in table.columns}
    scores = {}
    for name, score in score_columns(original, columns).items():
        with suppress(ValueError):  # a column of words, which somebody added
            scores[score] = _numbers(table, original[name])
    return scores


def unmarked(text: str) -> str:
    """Take off the mark that keeps a spreadsheet from computing a cell.

    Parameters
    ----------
    text
        A cell or a heading of a CSV that we wrote.

    Returns
    -------
    str
        The text as it was.
    """
    return text[1:] if text.startswith("'") and text[1:2] in _FORMULA_SIGNS else text
