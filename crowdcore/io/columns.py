"""Columns of a table as features: numbers stay, few values become switches, texts are embedded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import DataError, natural_order
from crowdcore.io.health import Finding, check, counted
from crowdcore.io.table import Table
from crowdcore.io.texts import TextSpace, learn_texts

MOST_CATEGORIES = 20
"""A column of more different values is text."""

_FEWEST_VALUES = 2


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """A column of numbers, or of lists of `width` numbers, taken as they are."""

    name: str
    width: int

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its features."""
        if self.width == 1:
            return (self.name,)
        return tuple(f"{self.name}[{place}]" for place in range(self.width))

    def encode(self, table: Table) -> NDArray[np.float32]:
        """The numbers [rows, width]."""
        found = numbers_of(table, self.name)
        if found.shape[1] != self.width:
            raise DataError(
                f"There are {found.shape[1]} numbers where {self.width} were learnt from",
                file=table.name,
                column=self.name,
            )
        return found


@dataclass(frozen=True, kw_only=True)
class Categories:
    """A column of few values: for each a number that is 1 or 0; all are 0 for any other."""

    name: str
    values: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its features."""
        return tuple(f"{self.name}={value}" for value in self.values)

    def encode(self, table: Table) -> NDArray[np.float32]:
        """The switches [rows, values]."""
        codes = self._codes(table)
        switches = np.zeros((len(codes), len(self.values) + 1), np.float32)
        switches[np.arange(len(codes)), codes] = 1
        return switches[:, :-1]

    def strange(self, table: Table) -> list[str]:
        """The values of a table that were not there to learn from, a blank aside."""
        return sorted({*_cells(table, self.name)} - {*self.values, ""})

    def _codes(self, table: Table) -> NDArray[np.int64]:
        code = {value: place for place, value in enumerate(self.values)}
        coded = table.coded(self.name)
        other = len(self.values)
        return np.array([code.get(name.strip(), other) for name in coded.names])[coded.codes]


@dataclass(frozen=True, kw_only=True, eq=False)
class Texts:
    """A column of texts, seen from the directions that were learnt from them."""

    name: str
    space: TextSpace

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its features."""
        return tuple(f"{self.name}[{place}]" for place in range(len(self.space.directions)))

    def encode(self, table: Table) -> NDArray[np.float32]:
        """The embedded texts [rows, d]."""
        return self.space.embed(_cells(table, self.name))

    def words(self) -> str:
        """What became of the texts."""
        known = f"{len(self.space.words):,} word{'' if len(self.space.words) == 1 else 's'}"
        return f"{known} and pairs → {counted(len(self.space.directions), 'number')}"


Column = Numbers | Categories | Texts


def learn_columns(
    table: Table, names: Sequence[str], rows: NDArray[np.int64]
) -> tuple[tuple[Column, ...], tuple[Finding, ...]]:
    """Decide what becomes of each column, from some rows of a table; each decision is told."""
    columns: list[Column] = []
    left_out: dict[str, str] = {}
    blanks: dict[str, int] = {}
    for name in names:
        column = _learn(table, name, rows)
        if isinstance(column, str):
            left_out[name] = column
            continue
        columns.append(column)
        if not isinstance(column, Numbers):
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


def _learn(table: Table, name: str, rows: NDArray[np.int64]) -> Column | str:
    """What a column is, or why it is nothing."""
    if _is_numeric(table, name):
        return Numbers(name=name, width=numbers_of(table, name).shape[1])
    cells = _cells(table, name)
    there = [cells[row] for row in rows if cells[row]]
    values = set(there)
    if sum(map(_is_number, there)) * 2 >= max(1, len(there)) and there:
        raise _not_a_number(table, name)
    if len(values) < _FEWEST_VALUES:
        return "the same for every item" if there else "blank for every item"
    # Of ten sentences that all differ each one is a text, though there are but ten.
    if len(values) <= min(MOST_CATEGORIES, max(_FEWEST_VALUES, len(there) // 2)):
        return Categories(name=name, values=natural_order(values))
    space = learn_texts(there)
    return "no word occurs in two texts" if space is None else Texts(name=name, space=space)


def _findings(
    columns: Sequence[Column], left_out: dict[str, str], blanks: dict[str, int]
) -> tuple[Finding, ...]:
    few = [column for column in columns if isinstance(column, Categories)]
    texts = [column for column in columns if isinstance(column, Texts)]

    def told(column: Categories | Texts, what: str) -> str:
        empty = blanks[column.name]
        return f"{column.name!r}: {what}" + (f"; {counted(empty, 'blank cell')}" if empty else "")

    return (
        check(
            "features_categories",
            "Columns of features with few values",
            len(few),
            examples=(told(one, f"{_listed(one.values)}") for one in few),
            done="Each value became a number that is 1 or 0; for a blank cell all are 0.",
        ),
        check(
            "features_texts",
            "Columns of features that are text",
            len(texts),
            examples=(told(one, one.words()) for one in texts),
            done="Texts were weighed by their words and pairs of words (TF-IDF) and reduced to "
            "the main directions; a blank text is all zeros.",
        ),
        check(
            "features_left_out",
            "Columns that cannot be features",
            len(left_out),
            examples=(f"{name!r}: {why}" for name, why in left_out.items()),
            done="They were left out.",
        ),
    )


def _listed(values: Sequence[str]) -> str:
    most = 6
    names = ", ".join(map(repr, values[:most]))
    return names if len(values) <= most else f"{names} and {len(values) - most} more"


def _cells(table: Table, column: str) -> list[str]:
    """The texts of a column without blanks around them."""
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
    """Whether every cell of a column is a number, or a list."""
    import pyarrow as pa

    if _is_list(table.raw(column).type) or _is_written_list(table, column):
        return True
    try:
        _cast(table, column)
    except (pa.ArrowException, ValueError):
        return False
    return True


def numbers_of(table: Table, column: str) -> NDArray[np.float32]:
    """A column of numbers [rows, 1], or of lists of numbers [rows, width]."""
    import pyarrow as pa

    if _is_list(table.raw(column).type):
        return _unnest(table, table.raw(column), column)
    if _is_written_list(table, column):
        return _unnest(table, _parsed(table, column), column)
    try:
        numbers = _cast(table, column)
    except (pa.ArrowException, ValueError):
        raise _not_a_number(table, column) from None
    return _narrow(numbers)[:, None]


def _narrow(numbers: Any) -> NDArray[np.float32]:
    # What is beyond float32 becomes infinite, and is refused as not finite.
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(numbers, np.float32)


def _cast(table: Table, column: str) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    raw = table.raw(column)
    texts = raw if not pa.types.is_string(raw.type) else pc.utf8_trim_whitespace(raw)
    return texts.cast(pa.float64()).fill_null(np.nan).to_numpy()


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    one = pa.types
    return bool(one.is_list(kind) or one.is_large_list(kind) or one.is_fixed_size_list(kind))


def _is_written_list(table: Table, column: str) -> bool:
    """Whether the cells of a column are lists in writing, such as [0.5, 1]."""
    first = next((cell for cell in table.top(100).text(column).to_pylist() if cell.strip()), "")
    return first.lstrip().startswith("[") and _as_list(first) is not None


def _as_list(text: str) -> list[float] | None:
    try:
        return [float(one) for one in json.loads(text)]
    except (ValueError, TypeError, RecursionError):
        return None


def _parsed(table: Table, column: str) -> Any:
    import pyarrow as pa

    lists = []
    for row, text in enumerate(table.text(column).to_pylist()):
        lists.append(_as_list(text))
        if lists[-1] is None:
            raise DataError(
                f"{text[:50]!r} is not a list of numbers",
                file=table.name,
                column=column,
                row=table.number(row),
                fix="Write every list as [0.5, 1, 2].",
            )
    return pa.array(lists, pa.list_(pa.float64()))


def _unnest(table: Table, raw: Any, column: str) -> NDArray[np.float32]:
    import pyarrow as pa
    import pyarrow.compute as pc

    sizes = np.unique(pc.list_value_length(raw).fill_null(-1).to_numpy())
    try:
        flat = pc.list_flatten(raw).cast(pa.float64()).fill_null(np.nan)
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
                row=table.number(row),
                fix="Fill in a number, or leave the column out.",
            )
    return DataError("A feature is not a number", file=table.name, column=column)
