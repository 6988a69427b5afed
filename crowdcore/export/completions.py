"""Completions as files: labels that were given and labels that were filled in, told apart.

Both forms are written some items at a time, so that a matrix is never listed in memory. A suffix
of .parquet or .csv chooses the format.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from crowdcore.artefacts.completion import Completion
from crowdcore.atomic import atomic
from crowdcore.data import UNKNOWN, DataError
from crowdcore.export.columns import TableColumn
from crowdcore.export.writers import csv_header, defuse

CELLS_PER_CHUNK = 4_000_000
"""Cells of the matrix that are written together."""

MIN_ITEMS_PER_CHUNK = 8192
"""Items that a chunk of a wide file has at least: every chunk has a column for each worker."""

ORIGINS = ("observed", "filled")
OBSERVED, FILLED, EMPTY = b"o", b"f", b"."
"""What a cell of the wide form came from: a letter per worker."""


class LongRows(NamedTuple):
    """Some rows of the long form, ordered by item and worker, and the names behind their codes."""

    item: NDArray[np.int32]  # codes
    worker: NDArray[np.int32]
    label: NDArray[np.int32]
    is_filled: NDArray[np.bool_]
    probability: NDArray[np.float32]
    items: Any  # pyarrow's texts, of these rows' items only
    workers: Any
    classes: Any
    origins: Any


LONG_COLUMNS: tuple[TableColumn[LongRows], ...] = (
    TableColumn(
        name="item",
        title="Item",
        help="The labelled item.",
        unit="name",
        values=lambda rows: pa.DictionaryArray.from_arrays(rows.item, rows.items),
    ),
    TableColumn(
        name="worker",
        title="Worker",
        help="Who gave the label, or for whom it was filled in.",
        unit="name",
        values=lambda rows: pa.DictionaryArray.from_arrays(rows.worker, rows.workers),
    ),
    TableColumn(
        name="label",
        title="Label",
        help="The class.",
        unit="class",
        values=lambda rows: pa.DictionaryArray.from_arrays(rows.label, rows.classes),
    ),
    TableColumn(
        name="origin",
        title="Origin",
        help="Whether the label was observed (the worker gave it) or filled in.",
        unit="text",
        values=lambda rows: pa.DictionaryArray.from_arrays(
            rows.is_filled.astype(np.int32), rows.origins
        ),
    ),
    TableColumn(
        name="probability",
        title="Probability",
        help="How sure the method is of a label that was filled in; empty for observed ones.",
        unit="share",
        values=lambda rows: pa.array(rows.probability, mask=~rows.is_filled),
    ),
)
"""Columns of a completion with one row per label."""


class WideRows(NamedTuple):
    """Some rows of the wide form, before the labels of the workers."""

    items: Any  # pyarrow's texts, of these rows' items only
    origin: NDArray[np.bytes_]  # a letter per worker


WIDE_COLUMNS: tuple[TableColumn[WideRows], ...] = (
    TableColumn(
        name="item",
        title="Item",
        help="The labelled item.",
        unit="name",
        values=lambda rows: rows.items,
    ),
    TableColumn(
        name="origin",
        title="Origin",
        help="One letter per worker, in the order of the columns: o for observed, f for filled, "
        "a dot for an empty cell.",
        unit="text",
        values=lambda rows: pa.array(rows.origin, pa.string()),
    ),
)
"""Columns of a completion with one row per item, before those of the workers."""


def write_long(completion: Completion, path: str | Path, *, spreadsheet_safe: bool = True) -> None:
    """Write one row per label, ordered by item and worker, with the columns of `LONG_COLUMNS`.

    Parameters
    ----------
    completion
        The completed labels.
    path
        The file, which ends with .parquet or .csv.
    spreadsheet_safe
        Put a ' before names that look like formulas; CSV only.

    Raises
    ------
    DataError
        Where the file has another suffix.
    """
    data = completion.data
    items, workers, classes, origins = _texts(
        path, spreadsheet_safe, data.items, data.workers, data.classes, ORIGINS
    )

    def tables() -> Iterator[Any]:
        step = max(1, CELLS_PER_CHUNK // data.n_workers)
        for start, observed in _observed_labels(completion, step):
            cell, label, is_filled, probability = _long_rows(completion, start, step, observed)
            item, worker = (codes.astype(np.int32) for codes in np.divmod(cell, data.n_workers))
            names = items.slice(start, step), workers, classes, origins
            rows = LongRows(item, worker, label, is_filled, probability, *names)
            columns = {column.name: column.values(rows) for column in LONG_COLUMNS}
            yield pa.Table.from_pydict(columns)

    _write(path, tables())


def write_wide(completion: Completion, path: str | Path, *, spreadsheet_safe: bool = True) -> None:
    """Write one row per item: the columns of `WIDE_COLUMNS`, and one column per worker.

    Of a pair that was labelled more than once, the last label counts.

    Parameters
    ----------
    completion
        The completed labels.
    path
        The file, which ends with .parquet or .csv.
    spreadsheet_safe
        Put a ' before names that look like formulas; CSV only.

    Raises
    ------
    DataError
        Where the file has another suffix.
    """
    data = completion.data
    items, workers, classes = _texts(path, spreadsheet_safe, data.items, data.workers, data.classes)
    names = _distinct([*(column.name for column in WIDE_COLUMNS), *workers.to_pylist()])

    def tables() -> Iterator[Any]:
        step = max(MIN_ITEMS_PER_CHUNK, CELLS_PER_CHUNK // data.n_workers)
        for start, observed in _observed_labels(completion, step):
            filled = completion.label[start : start + step]  # [items, W]
            cell = data.worker[observed], data.item[observed] - start
            labels = filled.T.astype(np.int32)  # [W, items]
            labels[cell] = data.label[observed]
            columns = [
                pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes == UNKNOWN), classes)
                for codes in labels
            ]
            rows = WideRows(items.slice(start, step), _origins(filled, cell))
            first = [column.values(rows) for column in WIDE_COLUMNS]
            yield pa.Table.from_arrays([*first, *columns], names=names)

    _write(path, tables())


def _origins(
    filled: NDArray[Any], observed: tuple[NDArray[Any], NDArray[Any]]
) -> NDArray[np.bytes_]:
    """What each cell of some items [n] came from, a letter per worker.

    `filled` [n, W] are the filled labels, `observed` the workers and items of the others.
    """
    letters = np.where(filled >= 0, FILLED, EMPTY)
    worker, item = observed
    letters[item, worker] = OBSERVED
    return letters.view(f"S{letters.shape[1]}").reshape(-1)


def _texts(path: str | Path, spreadsheet_safe: bool, *lists: Sequence[str]) -> list[Any]:
    """Names as pyarrow's texts; those for a spreadsheet are made harmless once, not in each row."""
    texts = [pa.array(names, pa.string()) for names in lists]
    is_risky = spreadsheet_safe and _suffix(path) == ".csv"
    return [defuse(names) for names in texts] if is_risky else texts


def _observed_labels(completion: Completion, step: int) -> Iterator[tuple[int, NDArray[Any]]]:
    """For so many items at a time: the first item, and rows of their labels by item and worker."""
    data = completion.data
    order = np.lexsort((data.worker, data.item))
    starts = range(0, data.n_items, step)
    ends = np.searchsorted(data.item[order], [*starts, data.n_items])
    for number, start in enumerate(starts):
        yield start, order[ends[number] : ends[number + 1]]


def _long_rows(
    completion: Completion, start: int, step: int, observed: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Of some items: cells by item and worker, labels, which are filled in, and how surely."""
    data, chunk = completion.data, slice(start, start + step)
    labels, probabilities = (
        table[chunk].reshape(-1) for table in (completion.label, completion.probability)
    )
    filled = np.flatnonzero(labels >= 0)
    cell = (data.item[observed].astype(np.int64) - start) * data.n_workers + data.worker[observed]
    position = np.searchsorted(filled, cell)
    return (
        np.insert(filled, position, cell),
        np.insert(labels[filled].astype(np.int32), position, data.label[observed]),
        np.insert(np.ones(len(filled), bool), position, values=False),
        np.insert(probabilities[filled].astype(np.float32), position, 0),
    )


def _distinct(names: list[str]) -> list[str]:
    """Column names with a number behind those that came before."""
    taken: set[str] = set()
    for index, name in enumerate(names):
        number, distinct = 2, name
        while distinct in taken:
            number, distinct = number + 1, f"{name} ({number})"
        names[index] = distinct
        taken.add(distinct)
    return names


def _suffix(path: str | Path) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise DataError(f"A completion is written as .parquet or .csv, not as {Path(path).name!r}")
    return suffix


def _write(path: str | Path, tables: Iterator[Any]) -> None:
    """Write tables one after another into a file that is either whole or not there."""
    write = _write_csv if _suffix(path) == ".csv" else _write_parquet
    with atomic(path) as temporary:
        write(temporary, tables)


def _write_csv(path: Path, tables: Iterator[Any]) -> None:
    options = pyarrow.csv.WriteOptions(include_header=False)
    with path.open("wb") as file:
        for number, table in enumerate(tables):
            if not number:
                file.write(csv_header(table.column_names))
            columns = [
                column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
                for column in table.itercolumns()
            ]
            names = [str(index) for index in range(len(columns))]
            pyarrow.csv.write_csv(pa.Table.from_arrays(columns, names=names), file, options)


def _write_parquet(path: Path, tables: Iterator[Any]) -> None:
    first = next(tables)
    # Without pyarrow's own schema the columns are read as plain texts.
    with pq.ParquetWriter(path, first.schema, compression="zstd", store_schema=False) as writer:
        writer.write_table(first)
        for table in tables:
            writer.write_table(table)
