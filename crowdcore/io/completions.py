"""Completions as files: labels that were given and labels that were filled in, told apart.

Both forms are written some items at a time, so that a matrix is never listed in memory. A suffix
of .parquet or .csv chooses the format.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import UNKNOWN, DataError
from crowdcore.io.atomic import atomic
from crowdcore.io.writers import csv_header, defuse

if TYPE_CHECKING:
    from crowdcore.artefacts.completion import Completion

CELLS_AT_ONCE = 4_000_000
FEWEST_ITEMS = 8192
"""Items that a part of a wide file has at least: every part has a piece for each worker."""

LONG = ("item", "worker", "label", "origin", "probability")
ORIGINS = ("observed", "filled")
OBSERVED, FILLED, EMPTY = b"o", b"f", b"."


def write_long(completion: Completion, path: str | Path, *, spreadsheet_safe: bool = True) -> None:
    """Write one row a label: item, worker, label, origin (observed or filled), probability.

    Rows are ordered by item and worker. Only labels that were filled in have a probability.
    `spreadsheet_safe` concerns CSV alone: it puts a ' before names that look like formulas.
    """
    data = completion.data
    texts = _texts(path, spreadsheet_safe, data.items, data.workers, data.classes, ORIGINS)

    def tables() -> Iterator[Any]:
        import pyarrow as pa

        step = max(1, CELLS_AT_ONCE // data.n_workers)
        for at, own in _observed(completion, step):
            cell, label, filled, probability = _rows(completion, at, step, own)
            item, worker = np.divmod(cell, data.n_workers)
            columns = [
                pa.DictionaryArray.from_arrays(item.astype(np.int32), texts[0].slice(at, step)),
                pa.DictionaryArray.from_arrays(worker.astype(np.int32), texts[1]),
                pa.DictionaryArray.from_arrays(label, texts[2]),
                pa.DictionaryArray.from_arrays(filled.astype(np.int32), texts[3]),
                pa.array(probability, mask=~filled),
            ]
            yield pa.Table.from_arrays(columns, names=LONG)

    _write(path, tables())


def write_wide(completion: Completion, path: str | Path, *, spreadsheet_safe: bool = True) -> None:
    """Write one row an item and one column a worker.

    The column origin has a letter for each worker, in the order of the columns: o for observed,
    f for filled, a dot for an empty cell. Of a pair that was labelled more than once, the last
    label counts.
    """
    data = completion.data
    texts = _texts(path, spreadsheet_safe, data.items, data.workers, data.classes)
    names = _distinct(["item", "origin", *texts[1].to_pylist()])

    def tables() -> Iterator[Any]:
        import pyarrow as pa

        step = max(FEWEST_ITEMS, CELLS_AT_ONCE // data.n_workers)
        for at, own in _observed(completion, step):
            cells = completion.label[at : at + step].T.astype(np.int32)  # [W, items]
            seen = data.worker[own], data.item[own] - at
            letters = _letters(completion.label[at : at + step], seen)
            cells[seen] = data.label[own]
            columns = [
                pa.DictionaryArray.from_arrays(pa.array(one, mask=one == UNKNOWN), texts[2])
                for one in cells
            ]
            rows = [texts[0].slice(at, step), pa.array(letters, pa.string()), *columns]
            yield pa.Table.from_arrays(rows, names=names)

    _write(path, tables())


def _letters(
    filled: NDArray[Any], observed: tuple[NDArray[Any], NDArray[Any]]
) -> NDArray[np.bytes_]:
    """What each cell of some items [n] came from, a letter a worker.

    `filled` [n, W] are the filled labels, `observed` the workers and items of the others.
    """
    letters = np.where(filled >= 0, FILLED, EMPTY)
    worker, item = observed
    letters[item, worker] = OBSERVED
    return letters.view(f"S{letters.shape[1]}").reshape(-1)


def _texts(path: str | Path, spreadsheet_safe: bool, *names: Sequence[str]) -> list[Any]:
    """Names as pyarrow's texts; those for a spreadsheet are made harmless once, not in each row."""
    import pyarrow as pa

    texts = [pa.array(one, pa.string()) for one in names]
    safe = spreadsheet_safe and _suffix(path) == ".csv"
    return [defuse(one) for one in texts] if safe else texts


def _observed(completion: Completion, step: int) -> Iterator[tuple[int, NDArray[Any]]]:
    """For some items at a time: the first item, and places of their labels by item and worker."""
    data = completion.data
    order = np.lexsort((data.worker, data.item))
    starts = range(0, data.n_items, step)
    ends = np.searchsorted(data.item[order], [*starts, data.n_items])
    for number, at in enumerate(starts):
        yield at, order[ends[number] : ends[number + 1]]


def _rows(
    completion: Completion, at: int, step: int, own: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Of some items: cells by item and worker, labels, which are filled in, and how surely."""
    data, part = completion.data, slice(at, at + step)
    cells, sure = (one[part].reshape(-1) for one in (completion.label, completion.probability))
    filled = np.flatnonzero(cells >= 0)
    seen = (data.item[own].astype(np.int64) - at) * data.n_workers + data.worker[own]
    places = np.searchsorted(filled, seen)
    return (
        np.insert(filled, places, seen),
        np.insert(cells[filled].astype(np.int32), places, data.label[own]),
        np.insert(np.ones(len(filled), bool), places, values=False),
        np.insert(sure[filled].astype(np.float32), places, 0),
    )


def _distinct(names: list[str]) -> list[str]:
    """Column names with a number behind those that came before."""
    taken: set[str] = set()
    for place, name in enumerate(names):
        number, new = 2, name
        while new in taken:
            number, new = number + 1, f"{name} ({number})"
        names[place] = new
        taken.add(new)
    return names


def _suffix(path: str | Path) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise DataError(f"A completion is written as .parquet or .csv, not as {Path(path).name!r}")
    return suffix


def _write(path: str | Path, tables: Iterator[Any]) -> None:
    """Write tables one after another into a file that is either whole or not there."""
    write = _csv if _suffix(path) == ".csv" else _parquet
    with atomic(path) as temporary:
        write(temporary, tables)


def _csv(path: Path, tables: Iterator[Any]) -> None:
    import pyarrow as pa
    import pyarrow.csv

    options = pyarrow.csv.WriteOptions(include_header=False)
    with path.open("wb") as file:
        for number, table in enumerate(tables):
            if not number:
                file.write(csv_header(table.column_names))
            plain = [
                column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
                for column in table.itercolumns()
            ]
            places = [str(place) for place in range(len(plain))]
            pyarrow.csv.write_csv(pa.Table.from_arrays(plain, names=places), file, options)


def _parquet(path: Path, tables: Iterator[Any]) -> None:
    import pyarrow.parquet as pq

    first = next(tables)
    # Without pyarrow's own schema the columns are read as plain texts.
    with pq.ParquetWriter(path, first.schema, compression="zstd", store_schema=False) as writer:
        writer.write_table(first)
        for table in tables:
            writer.write_table(table)
