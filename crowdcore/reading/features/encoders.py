"""Columns of a table as features: numbers stay, few values become switches, texts are embedded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from crowdcore.codes import natural_order
from crowdcore.data import DataError
from crowdcore.reading.features.texts import TextSpace, learn_texts
from crowdcore.reading.findings import Finding, make_finding
from crowdcore.reading.parsing.table import Table
from crowdcore.wording import count, join_names

MAX_CATEGORIES = 20
"""A column of more different values is text."""

_MIN_VALUES = 2


@dataclass(frozen=True, kw_only=True)
class NumberColumn:
    """A column of numbers, or of lists of `width` numbers, taken as they are."""

    name: str
    width: int

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its features."""
        if self.width == 1:
            return (self.name,)
        return tuple(f"{self.name}[{at}]" for at in range(self.width))

    def encode(self, table: Table) -> NDArray[np.float32]:
        """Return the numbers [rows, width] of a table.

        Raises
        ------
        DataError
            If there are others than numbers, or more or fewer than were learnt from.
        """
        numbers = read_numbers(table, self.name)
        if numbers.shape[1] != self.width:
            raise DataError(
                f"There are {numbers.shape[1]} numbers where {self.width} were learnt from",
                file=table.name,
                column=self.name,
            )
        return numbers


@dataclass(frozen=True, kw_only=True)
class CategoryColumn:
    """A column of few values: for each a number that is 1 or 0; all are 0 for any other."""

    name: str
    values: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its features."""
        return tuple(f"{self.name}={value}" for value in self.values)

    def encode(self, table: Table) -> NDArray[np.float32]:
        """Return the switches [rows, values] of a table."""
        code = {value: number for number, value in enumerate(self.values)}
        coded = table.coded(self.name)
        unknown = len(self.values)
        codes = np.array([code.get(name.strip(), unknown) for name in coded.names])[coded.codes]
        switches = np.zeros((len(codes), len(self.values) + 1), np.float32)
        switches[np.arange(len(codes)), codes] = 1
        return switches[:, :-1]

    def new_values(self, table: Table) -> list[str]:
        """Return the values of a table that were not there to learn from, a blank aside."""
        return sorted({*_cells(table, self.name)} - {*self.values, ""})


@dataclass(frozen=True, kw_only=True, eq=False)
class TextColumn:
    """A column of texts, seen from the directions that were learnt from them."""

    name: str
    space: TextSpace

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its features."""
        return tuple(f"{self.name}[{at}]" for at in range(len(self.space.directions)))

    def encode(self, table: Table) -> NDArray[np.float32]:
        """Return the embedded texts [rows, d] of a table."""
        return self.space.embed(_cells(table, self.name))

    def describe(self) -> str:
        """Say what became of the texts."""
        words = count(len(self.space.vocabulary), "word")
        return f"{words} and pairs → {count(len(self.space.directions), 'number')}"


FeatureColumn = NumberColumn | CategoryColumn | TextColumn


def learn_columns(
    table: Table, names: Sequence[str], rows: NDArray[np.int64]
) -> tuple[tuple[FeatureColumn, ...], tuple[Finding, ...]]:
    """Decide what becomes of each column of a table.

    Parameters
    ----------
    table
        The table.
    names
        The columns.
    rows
        The rows to learn from.

    Returns
    -------
    tuple of FeatureColumn
        Those that can be features.
    tuple of Finding
        What was decided.

    Raises
    ------
    DataError
        If no column can be a feature, or one is nearly all numbers.
    """
    columns: list[FeatureColumn] = []
    left_out: dict[str, str] = {}
    blanks: dict[str, int] = {}
    for name in names:
        column = _learn(table, name, rows)
        if isinstance(column, str):
            left_out[name] = column
            continue
        columns.append(column)
        if not isinstance(column, NumberColumn):
            cells = _cells(table, name)
            blanks[name] = sum(not cells[row] for row in rows)
    if not columns:
        why = "; ".join(f"{name!r}: {reason}" for name, reason in left_out.items())
        raise DataError(
            f"No column can be used as features; {why}"
            if why
            else "There is no column of features",
            file=table.name,
            fix="Give an id column and columns of numbers, categories or texts.",
        )
    return tuple(columns), _findings(columns, left_out, blanks)


def _learn(table: Table, name: str, rows: NDArray[np.int64]) -> FeatureColumn | str:
    """Decide what a column is, or say why it is nothing."""
    if _is_numeric(table, name):
        return NumberColumn(name=name, width=read_numbers(table, name).shape[1])
    cells = _cells(table, name)
    filled = [cells[row] for row in rows if cells[row]]
    values = set(filled)
    if sum(map(_is_number, filled)) * 2 >= max(1, len(filled)) and filled:
        raise _not_a_number(table, name)
    if len(values) < _MIN_VALUES:
        return "the same for every item" if filled else "blank for every item"
    # Of ten sentences that all differ each one is a text, though there are but ten.
    if len(values) <= min(MAX_CATEGORIES, max(_MIN_VALUES, len(filled) // 2)):
        return CategoryColumn(name=name, values=natural_order(values))
    space = learn_texts(filled)
    return "no word occurs in two texts" if space is None else TextColumn(name=name, space=space)


def _findings(
    columns: Sequence[FeatureColumn], left_out: dict[str, str], blanks: dict[str, int]
) -> tuple[Finding, ...]:
    categories = [column for column in columns if isinstance(column, CategoryColumn)]
    texts = [column for column in columns if isinstance(column, TextColumn)]

    def example(column: CategoryColumn | TextColumn, meaning: str) -> str:
        n_blank = blanks[column.name]
        note = f"; {count(n_blank, 'blank cell')}" if n_blank else ""
        return f"{column.name!r}: {meaning}{note}"

    return (
        make_finding(
            "features_categories",
            len(categories),
            examples=(example(column, join_names(column.values)) for column in categories),
            done="Each value became a number that is 1 or 0; for a blank cell all are 0.",
        ),
        make_finding(
            "features_texts",
            len(texts),
            examples=(example(column, column.describe()) for column in texts),
            done="Texts were weighed by their words and pairs of words (TF-IDF) and reduced to "
            "the main directions; a blank text is all zeros.",
        ),
        make_finding(
            "features_left_out",
            len(left_out),
            examples=(f"{name!r}: {why}" for name, why in left_out.items()),
            done="They were left out.",
        ),
    )


def _cells(table: Table, column: str) -> list[str]:
    """Return the texts of a column without blanks around them."""
    coded = table.coded(column)
    names = np.array([name.strip() for name in coded.names], dtype=object)
    cells: list[str] = names[coded.codes].tolist()
    return cells


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_numeric(table: Table, column: str) -> bool:
    """Tell whether every cell of a column is a number, or a list."""
    if _is_list(table.raw(column).type) or _is_written_list(table, column):
        return True
    try:
        _cast(table, column)
    except MemoryError:
        raise
    except (pa.ArrowException, ValueError):
        return False
    return True


def read_numbers(table: Table, column: str) -> NDArray[np.float32]:
    """Read a column of numbers, or of lists of numbers.

    Parameters
    ----------
    table
        The table.
    column
        The column.

    Returns
    -------
    ndarray
        The numbers [rows, 1], or [rows, width] where cells are lists.

    Raises
    ------
    DataError
        If a cell is not a number, or lists differ in length.
    """
    if _is_list(table.raw(column).type):
        return _unnest(table, table.raw(column), column)
    if _is_written_list(table, column):
        return _unnest(table, _parsed(table, column), column)
    try:
        numbers = _cast(table, column)
    except MemoryError:
        raise
    except (pa.ArrowException, ValueError):
        raise _not_a_number(table, column) from None
    return _narrow(numbers)[:, None]


def _narrow(numbers: Any) -> NDArray[np.float32]:
    # What is beyond float32 becomes infinite, and is refused as not finite.
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(numbers, np.float32)


def _cast(table: Table, column: str) -> Any:
    raw = table.raw(column)
    texts = raw if not pa.types.is_string(raw.type) else pc.utf8_trim_whitespace(raw)
    return texts.cast(pa.float64()).fill_null(np.nan).to_numpy()


def _is_list(kind: Any) -> bool:
    types = pa.types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _is_written_list(table: Table, column: str) -> bool:
    """Tell whether the cells of a column are lists in writing, such as [0.5, 1]."""
    first = next(
        (cell for cell in table.first_rows(100).text(column).to_pylist() if cell.strip()), ""
    )
    return first.lstrip().startswith("[") and _as_list(first) is not None


def _as_list(text: str) -> list[float] | None:
    try:
        return [float(number) for number in json.loads(text)]
    except (ValueError, TypeError, RecursionError):
        return None


def _parsed(table: Table, column: str) -> Any:
    lists = []
    for row, text in enumerate(table.text(column).to_pylist()):
        lists.append(_as_list(text))
        if lists[-1] is None:
            raise DataError(
                f"{text[:50]!r} is not a list of numbers",
                file=table.name,
                column=column,
                row=table.row_number(row),
                fix="Write every list as [0.5, 1, 2].",
            )
    return pa.array(lists, pa.list_(pa.float64()))


def _unnest(table: Table, raw: Any, column: str) -> NDArray[np.float32]:
    sizes = np.unique(pc.list_value_length(raw).fill_null(-1).to_numpy())
    try:
        flat = pc.list_flatten(raw).cast(pa.float64()).fill_null(np.nan)
    except MemoryError:
        raise
    except (pa.ArrowException, ValueError):
        raise _not_a_number(table, column) from None
    if len(sizes) != 1 or sizes[0] <= 0:
        fix = "Give every item a list of the same length."
        raise DataError("The lists differ in length", file=table.name, column=column, fix=fix)
    return _narrow(flat.to_numpy(zero_copy_only=False)).reshape(table.n_rows, int(sizes[0]))


def _not_a_number(table: Table, column: str) -> DataError:
    """Find the first cell that is no number."""
    for row, text in enumerate(table.text(column).to_pylist()):
        if not _is_number(text):
            return DataError(
                f"The feature {text[:50]!r} is not a number",
                file=table.name,
                column=column,
                row=table.row_number(row),
                fix="Fill in a number, or leave the column out.",
            )
    return DataError("A feature is not a number", file=table.name, column=column)
