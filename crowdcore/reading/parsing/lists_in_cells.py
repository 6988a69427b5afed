"""Tables with several answers in a row: lists of people, and lists of what each of them said."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from crowdcore.reading.columns.names import worker_strength
from crowdcore.reading.parsing.formats.json import columns_of
from crowdcore.reading.parsing.nested import find_shape
from crowdcore.reading.parsing.table import Table

_LOOKED_AT = 200
_OFTEN = 0.3
_MIN_LISTS = 3
_MOST = 0.8
_MAX_LIST_CHARACTERS = 10_000
_SEPARATORS = (",", ";", "|")
_ARRAY = re.compile(r"\[([^\[\],]*)\]")


def with_row_per_answer(table: Table) -> Table:
    """Give each answer a row of its own where rows hold lists of people and of answers.

    Parameters
    ----------
    table
        A table as it was parsed.

    Returns
    -------
    Table
        The same where no column holds lists of people, or nothing goes along with them.
    """
    nested = [n for n in table.columns if pa.types.is_nested(table.raw(n).type)]
    records: list[dict[str, Any]]
    if nested:
        records = table.data.to_pylist()
    else:
        lists = _columns_of_lists(table)
        if not lists:
            return table
        records = _records(table, lists)
    shape = find_shape(records)
    if shape is None:
        return table
    numbered = shape.rows(records)
    if not numbered:
        return table
    columns = columns_of([row for _, row in numbered])
    return replace(
        table,
        data=pa.table({name: pa.array(texts, pa.string()) for name, texts in columns.items()}),
        description=f"{table.description} Lists of answers were laid out, a row for each.",
        source_row=np.array([number for number, _ in numbered], np.int64),
        n_source_rows=table.n_rows,
        source_columns=table.columns,
        _coded={},
    )


def as_list(cell: str) -> list[Any]:
    """Read a cell as a list: JSON, as Python or NumPy print one, or with signs between parts.

    Parameters
    ----------
    cell
        The cell.

    Returns
    -------
    list
        With one member where the cell is no list.
    """
    text = cell.strip()
    if text.startswith(("[", "(")) and len(text) <= _MAX_LIST_CHARACTERS:
        for load in (json.loads, ast.literal_eval):
            try:
                value = load(text)
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
            if isinstance(value, list | tuple):
                return list(value)
        if match := _ARRAY.fullmatch(text):
            return [part.strip("'\"") for part in match[1].split()]
    sign = next((sign for sign in _SEPARATORS if sign in text), None)
    return [text] if sign is None else [part.strip() for part in text.split(sign)]


def _columns_of_lists(table: Table) -> set[str]:
    """The columns of people that are lists, and those that are as long in nearly every row."""
    people = [
        column
        for column in table.columns
        if worker_strength(column.rpartition(".")[2]) > 1 and _has_lists(table, column)
    ]
    found: set[str] = set()
    sample = table.first_rows(_LOOKED_AT)
    for column in people:
        lengths = [len(as_list(cell)) for cell in sample.text(column).to_pylist()]
        along = [other for other in table.columns if other != column
                 and _go_along(lengths, sample.text(other).to_pylist())]  # fmt: skip
        if along:
            found |= {column, *along}
    return found


def _has_lists(table: Table, column: str) -> bool:
    cells = table.first_rows(_LOOKED_AT).text(column).to_pylist()
    lists = [parts for parts in map(as_list, cells) if len(parts) > 1]
    named = all(str(part).strip() for parts in lists for part in parts)
    return named and len(lists) >= max(_MIN_LISTS, _OFTEN * len(cells))


def _go_along(lengths: Sequence[int], cells: Sequence[str]) -> bool:
    same = [len(as_list(cell)) == n for n, cell in zip(lengths, cells, strict=True) if cell]
    return len(same) >= len(lengths) / 2 and sum(same) >= _MOST * len(same)


def _records(table: Table, lists: set[str]) -> list[dict[str, Any]]:
    columns = {
        name: [as_list(cell) for cell in texts] if name in lists else texts
        for name in table.columns
        for texts in (table.text(name).to_pylist(),)
    }
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
