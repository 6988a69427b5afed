"""Glance: quick facts about the columns of a table, from its first rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.io.table import Coded, Table

ROWS = 20_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Glance:
    """The first rows of a table, as codes."""

    table: Table
    _values: dict[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, table: Table, rows: int = ROWS) -> Glance:
        """Take the first rows."""
        return cls(table=table.top(rows))

    def top(self, rows: int) -> Glance:
        """Fewer of the rows."""
        return self if rows >= self.n_rows else Glance(table=self.table.top(rows))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.table.columns

    @property
    def n_rows(self) -> int:
        """How many rows were looked at."""
        return self.table.n_rows

    def coded(self, column: str) -> Coded:
        """A column as codes and names."""
        return self.table.coded(column)

    def values(self, column: str) -> tuple[str, ...]:
        """The distinct texts of a column that are not blank."""
        if column not in self._values:
            names = self.coded(column).names
            self._values[column] = tuple(name for name in names if name.strip())
        found: tuple[str, ...] = self._values[column]
        return found

    def distinct(self, column: str) -> int:
        """How many distinct texts there are, blanks apart."""
        return len(self.values(column))

    def filled(self, column: str) -> NDArray[np.bool_]:
        """Which rows have a text in the column."""
        coded = self.coded(column)
        return np.array([bool(name.strip()) for name in coded.names], bool)[coded.codes]

    def longest(self, column: str) -> int:
        """The length of the longest text."""
        return max(map(len, self.values(column)), default=0)

    def repeats(self, column: str) -> bool:
        """Whether any text comes twice."""
        codes = self.coded(column).codes
        return len(codes) > len(self.coded(column).names)

    def varies_within(self, column: str, group: str) -> float:
        """In which share of the groups of two or more rows a column takes several values."""
        rows = self.filled(column) & self.filled(group)
        groups, values = self.coded(group).codes[rows], self.coded(column).codes[rows]
        if not len(groups):
            return 0.0
        sizes = np.bincount(groups)
        pairs = np.unique(groups.astype(np.int64) << 32 | values)
        kinds = np.bincount(pairs >> 32, minlength=len(sizes))
        several = sizes > 1
        return float((kinds[several] > 1).mean()) if several.any() else 0.0

    def unique_pairs(self, one: str, other: str) -> float:
        """The number of distinct pairs of two columns, as a share of the rows."""
        first, second = self.coded(one).codes, self.coded(other).codes
        return len(np.unique(first.astype(np.int64) << 32 | second)) / max(1, self.n_rows)
