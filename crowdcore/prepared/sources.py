"""The files that are prepared, as batches of text: large Parquet files a few row groups at a time.

Other formats are read one file at a time, as `crowdcore run` reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from crowdcore.data import DataError, Kind
from crowdcore.reading.candidates.choose import choose_reading
from crowdcore.reading.columns.platforms import find_platform
from crowdcore.reading.columns.roles import Guess
from crowdcore.reading.labels.coded_labels import extract
from crowdcore.reading.labels.ratings import looks_rated, parse_numbers
from crowdcore.reading.parsing.open import open_table
from crowdcore.reading.parsing.table import Table

ROWS_PER_TASK = 4_000_000
"""Rows of a Parquet file that are split in one go; a restart repeats no more."""

ROWS_PER_BATCH = 500_000
GUESSED_ROWS = 200_000
"""Rows of the first file from which it is guessed what the columns are."""

BYTES_PER_ROW = 30
"""Of a text file, to guess its rows before it is read."""


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which columns hold what; found once, in the first file."""

    item: str
    worker: str
    label: str
    gold: str | None
    kind: Kind
    rejected: Mapping[str, tuple[str, ...]]

    @property
    def texts(self) -> dict[str, str]:
        """The columns that are read as text, by their role."""
        names = {"item": self.item, "worker": self.worker, "label": self.label}
        return names if self.gold is None else {**names, "gold": self.gold}

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            **asdict(self),
            "rejected": {name: list(values) for name, values in self.rejected.items()},
        }


@dataclass(frozen=True, kw_only=True)
class Task:
    """Rows of a file that are split together.

    Parameters
    ----------
    path
        The file.
    row_groups
        The first row group and the one after the last, of a Parquet file; None for all of a file
        of another format.
    """

    path: Path
    row_groups: tuple[int, int] | None = None


def is_parquet(path: Path) -> bool:
    """Tell whether a file is Parquet, by its first bytes."""
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def list_tasks(paths: Sequence[Path]) -> tuple[list[Task], int]:
    """Cut files into tasks, and count their rows.

    Parameters
    ----------
    paths
        The files.

    Returns
    -------
    tasks
        In the order of the rows.
    n_rows
        Exact for Parquet, else guessed from the size.
    """
    tasks, n_rows = [], 0
    for path in paths:
        if not is_parquet(path):
            tasks.append(Task(path=path))
            n_rows += path.stat().st_size // BYTES_PER_ROW
            continue
        metadata = _metadata(path)
        n_rows += metadata.num_rows
        first, rows = 0, 0
        for group in range(metadata.num_row_groups):
            rows += metadata.row_group(group).num_rows
            if rows >= ROWS_PER_TASK or group == metadata.num_row_groups - 1:
                tasks.append(Task(path=path, row_groups=(first, group + 1)))
                first, rows = group + 1, 0
    return tasks, n_rows


def _metadata(path: Path) -> Any:
    try:
        return pq.read_metadata(path)
    except (pa.ArrowException, OSError) as error:
        raise DataError(
            f"The Parquet file is damaged: {str(error).splitlines()[0]}",
            file=path.name,
            fix="Write the file again.",
        ) from None


def find_columns(
    path: Path, *, command: str, roles: Mapping[str, Any], kind: str
) -> tuple[Columns, Guess]:
    """Find out what the columns of the first file are.

    Parameters
    ----------
    path
        The first file.
    command
        The command line, for messages.
    roles
        Roles by name that somebody gave.
    kind
        "classes", "ratings", or "auto" to go by the labels of the first rows.

    Returns
    -------
    columns
        For all files.
    guess
        With the reasons, for the health report.

    Raises
    ------
    DataError
        If the file is no long table of classes or ratings, or its columns are in doubt.
    """
    table, guess = choose_reading(_head(path), command=command, roles=roles)
    found = guess.roles
    plain = found.layout == "long" and guess.kind in ("classes", "ratings") and not found.rows
    if not plain or None in (found.item, found.worker, found.label):
        raise DataError(
            f"Only long tables of classes or ratings can be prepared; this one holds {guess.kind} "
            f"in a {found.layout} table",
            file=path.name,
            fix="Give one row per label, with an item, a worker and a label; or use "
            "`crowdcore run`, which reads it in memory.",
        )
    columns = set(_head(path).columns)
    if not {found.item, found.worker, found.label} <= columns:
        raise DataError(
            "The item, the worker or the label would have to be put together from several columns",
            file=path.name,
            fix="Name one column each with --item, --worker and --label.",
        )
    labels = extract(table, found)
    is_rated = kind == "ratings"
    if kind == "auto":
        is_rated = looks_rated(labels, parse_numbers(labels.classes))[0]
    platform = find_platform(table.columns)
    return Columns(
        item=str(found.item),
        worker=str(found.worker),
        label=str(found.label),
        gold=found.gold,
        kind="ratings" if is_rated else "classes",
        rejected={} if platform is None else dict(platform.rejected),
    ), guess


def _head(path: Path) -> Table:
    if not is_parquet(path):
        return open_table(path).first_rows(GUESSED_ROWS)
    batches = pq.ParquetFile(path).iter_batches(batch_size=GUESSED_ROWS)
    data = pa.Table.from_batches([next(batches)])
    return Table(name=path.name, data=data, description="Read as Parquet.")


def batches(task: Task, columns: Columns) -> Iterator[Table]:
    """Read the rows of a task, some at a time, with the columns that are needed.

    Parameters
    ----------
    task
        Which rows.
    columns
        Which columns hold what.

    Yields
    ------
    Table
        With the file's own names of columns.

    Raises
    ------
    DataError
        If the file lacks a column, or is damaged.
    """
    wanted = [*columns.texts.values(), *columns.rejected]
    if task.row_groups is None:
        table = open_table(task.path)
        _check_columns(table.columns, columns, task.path)
        for start in range(0, table.n_rows, ROWS_PER_BATCH):
            yield Table(name=table.name, data=table.data.slice(start, ROWS_PER_BATCH))
        return
    file = pq.ParquetFile(task.path)
    _check_columns(file.schema_arrow.names, columns, task.path)
    here = [name for name in dict.fromkeys(wanted) if name in file.schema_arrow.names]
    groups = list(range(*task.row_groups))
    try:
        for batch in file.iter_batches(ROWS_PER_BATCH, row_groups=groups, columns=here):
            batch.validate(full=True)  # text that is not UTF-8 would only fail much later
            yield Table(name=task.path.name, data=pa.Table.from_batches([batch]))
    except (pa.ArrowException, OSError) as error:
        raise DataError(
            f"The Parquet file is damaged: {str(error).splitlines()[0]}",
            file=task.path.name,
            fix="Write the file again.",
        ) from None


def _check_columns(names: Sequence[str], columns: Columns, path: Path) -> None:
    missing = [name for name in columns.texts.values() if name not in names]
    if missing:
        raise DataError(
            f"There is no column {missing[0]!r}, which the first file has",
            file=path.name,
            fix="Give files with the same columns, or prepare them apart.",
        )
