"""What an earlier run believed, read back from the truths.csv and workers.csv that it wrote."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np

from crowdcore.data import DataError, Floats
from crowdcore.io.table import Table, open_table
from crowdcore.result import Beliefs

PREFIX = "p:"
SHARED = {"item", "truth", "confidence", "n_labels", "tied"}
"""Columns of truths.csv that every method has; others are its own scores."""


def read_beliefs(folder: Path) -> Beliefs:
    """Read the beliefs that `crowdcore run --out FOLDER` left, for a later fit to begin from."""
    path = folder / "truths.csv"
    if not path.is_file():
        raise DataError(
            f"There is no truths.csv in {str(folder)!r}",
            fix="Give the folder that an earlier `crowdcore run --out` wrote.",
        )
    table = open_table(path)
    columns = [name for name in table.columns if _plain(name).startswith(PREFIX)]
    if "item" not in table.columns or not columns:
        raise DataError("It has no column item, or no p: columns", file=str(path))
    try:
        rows = [_numbers(table, name) for name in columns]
    except ValueError:
        raise DataError("A probability is not a number", file=str(path)) from None
    workers: tuple[str, ...] = ()
    worker_scores: dict[str, Floats] = {}
    beside = folder / "workers.csv"
    if beside.is_file() and "worker" in (people := open_table(beside)).columns:
        workers, worker_scores = _names(people, "worker"), _scores(people, {"worker"})
    return Beliefs(
        items=_names(table, "item"),
        classes=tuple(_plain(name).removeprefix(PREFIX) for name in columns),
        posterior=np.stack(rows, axis=1),
        item_scores=_scores(table, {*SHARED, *columns}),
        workers=workers,
        worker_scores=worker_scores,
    )


def _names(table: Table, column: str) -> tuple[str, ...]:
    coded = table.coded(column)
    return tuple(_plain(coded.names[code]) for code in coded.codes.tolist())


def _numbers(table: Table, column: str) -> Floats:
    coded = table.coded(column)
    return np.array(coded.names, np.float64)[coded.codes]


def _scores(table: Table, leave: set[str]) -> dict[str, Floats]:
    """All columns of numbers but those to leave."""
    found = {}
    for name in table.columns:
        if name not in leave:
            with suppress(ValueError):
                found[name] = _numbers(table, name)
    return found


def _plain(text: str) -> str:
    """Take off the mark that keeps a spreadsheet from computing a cell."""
    return text[1:] if text.startswith("'") and text[1:2] in set("=+-@＝＋－＠\t\r\n") else text
