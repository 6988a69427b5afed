"""Tables made from a table: keys joined, ticks gathered, columns stacked, rows chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from crowdcore.reading.parsing.table import Table

JOINT = " + "
"""What stands between the names of columns that are joined."""

_BETWEEN = " / "
_YES = frozenset(("1", "1.0", "true", "yes", "x", "on", "y", "t", "✓", "checked"))


def is_ticked(value: str, answer: str = "") -> bool:
    """Tell whether a cell of a tick box says yes: by a mark, or by the name of its answer."""
    plain = value.strip().lower()
    return plain in _YES or (bool(plain) and plain == answer.strip().lower())


def with_column(table: Table, name: str, texts: Sequence[str] | pa.ChunkedArray) -> Table:
    """Return a table with one more column, or with another in its place."""
    column = texts if isinstance(texts, pa.ChunkedArray) else pa.array(texts, pa.string())
    if name in table.columns:
        data = table.data.set_column(table.columns.index(name), name, column)
    else:
        data = table.data.append_column(name, column)
    return replace(
        table, data=data, source_columns=table.source_columns or table.columns, _coded={}
    )


def join_columns(table: Table, columns: Sequence[str]) -> tuple[Table, str]:
    """Join columns that name a thing together.

    Parameters
    ----------
    table
        The table.
    columns
        The columns; a single one stays as it is.

    Returns
    -------
    table : Table
        With the joined column.
    name : str
        Its name.
    """
    if len(columns) == 1:
        return table, columns[0]
    name = JOINT.join(columns)
    if name in table.columns:
        return table, name
    parts = [pc.utf8_trim_whitespace(table.text(column).combine_chunks()) for column in columns]
    joined = pc.binary_join_element_wise(*parts, _BETWEEN)
    empty = pc.equal(pc.utf8_trim(joined, _BETWEEN), "")
    return with_column(table, name, pa.chunked_array([pc.if_else(empty, "", joined)])), name


def find_columns(table: Table, name: str) -> tuple[str, ...] | None:
    """Return the columns that a name means: "a + b" where there is no such column, but a and b."""
    if name in table.columns:
        return (name,)
    parts = tuple(part.strip() for part in name.split("+"))
    return parts if len(parts) > 1 and all(part in table.columns for part in parts) else None


def choose_rows(table: Table, rows: NDArray[np.int64]) -> Table:
    """Return some rows of a table, which remember where in the file they stand."""
    return _from_rows(table, table.data.take(pa.array(rows)), rows)


def _from_rows(table: Table, data: pa.Table, rows: NDArray[np.int64]) -> Table:
    """Make the table of some rows, each of which comes from a row of a table."""
    source = rows if table.source_row is None else table.source_row[rows]
    n_rows = table.n_rows if table.source_row is None else table.n_source_rows
    return replace(
        table,
        data=data,
        source_row=source,
        n_source_rows=n_rows,
        source_columns=table.source_columns or table.columns,
        _coded={},
    )


def rows_where(table: Table, column: str, value: str) -> Table:
    """Return the rows of a table in which a column has a value."""
    coded = table.coded(column)
    wanted = np.array([name == value for name in coded.names], bool)
    return replace(choose_rows(table, np.flatnonzero(wanted[coded.codes])), is_chosen=True)


def gather_ticks(table: Table, name: str, members: Mapping[str, str]) -> Table:
    """Make one column of answers from a column of ticks per class.

    Parameters
    ----------
    table
        The table.
    name
        The name of the new column.
    members
        For each column of ticks the class that it stands for.

    Returns
    -------
    Table
        Several ticked classes of a row stand below each other in one cell, and none is blank.
    """
    rows: list[list[str]] = [[] for _ in range(table.n_rows)]
    for column, answer in members.items():
        coded = table.coded(column)
        ticked = np.array([is_ticked(value, answer) for value in coded.names], bool)[coded.codes]
        for row in np.flatnonzero(ticked).tolist():
            rows[row].append(answer)
    return with_column(table, name, ["\n".join(answers) for answers in rows])


def stack_columns(
    table: Table,
    groups: Mapping[str, Mapping[str, str]],
    *,
    member: str,
) -> Table:
    """Make a row per column: a wide table becomes a long one.

    Parameters
    ----------
    table
        The table.
    groups
        For each new column of answers, what each of its columns stands for -> the column.
    member
        The name of the new column that says what a row stands for.

    Returns
    -------
    Table
        With the other columns repeated, in the order of the file.
    """
    stacked = {column for group in groups.values() for column in group.values()}
    others = [column for column in table.columns if column not in stacked]
    members = list(dict.fromkeys(name for group in groups.values() for name in group))
    n_rows, n_members = table.n_rows, len(members)
    order = np.arange(n_rows * n_members).reshape(n_members, n_rows).T.ravel()
    rows = np.repeat(np.arange(n_rows), n_members)
    columns: dict[str, pa.Array] = {
        column: table.text(column).combine_chunks().take(pa.array(rows)) for column in others
    }
    columns[member] = pa.array(np.tile(np.array(members, object), n_rows), pa.string())
    blank = pa.array([""] * n_rows, pa.string())
    for name, group in groups.items():
        parts = [
            table.text(group[key]).combine_chunks() if key in group else blank for key in members
        ]
        columns[name] = pa.concat_arrays(parts).take(pa.array(order))
    return _from_rows(table, pa.table(columns), rows)
