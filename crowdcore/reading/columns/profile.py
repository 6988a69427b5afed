"""TableProfile: quick facts about the columns of a table, from a sample of all of its rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crowdcore.reading.parsing.table import CodedColumn, Table

PROFILE_ROWS = 200_000
"""How many rows a profile looks at; of a longer table blocks that are spread over all of it."""

_N_BLOCKS = 50


@dataclass(frozen=True, kw_only=True, eq=False)
class TableProfile:
    """Facts about the columns of a table.

    Parameters
    ----------
    table
        The rows that are looked at.
    """

    table: Table
    _values: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)

    @classmethod
    def from_table(cls, table: Table, n_rows: int = PROFILE_ROWS) -> TableProfile:
        """Profile a table.

        Parameters
        ----------
        table
            The whole table.
        n_rows
            How many rows to look at; of a longer table blocks that are spread over all of it, so
            that a file in which one worker comes first is not taken for that worker's.

        Returns
        -------
        TableProfile
        """
        if table.n_rows <= n_rows:
            return cls(table=table)
        size = n_rows // _N_BLOCKS
        starts = np.linspace(0, table.n_rows - size, _N_BLOCKS).astype(int)
        blocks = [table.data.slice(int(start), size) for start in starts]
        return cls(table=replace(table, data=pa.concat_tables(blocks), _coded={}))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.table.columns

    @property
    def n_rows(self) -> int:
        """How many rows were looked at."""
        return self.table.n_rows

    def coded(self, column: str) -> CodedColumn:
        """Return a column as codes and names."""
        return self.table.coded(column)

    def values(self, column: str) -> tuple[str, ...]:
        """Return the distinct texts of a column that are not blank."""
        if column not in self._values:
            names = self.coded(column).names
            self._values[column] = tuple(name for name in names if name.strip())
        return self._values[column]

    def n_distinct(self, column: str) -> int:
        """Return how many distinct texts there are, blanks apart."""
        return len(self.values(column))

    def filled(self, column: str) -> NDArray[np.bool_]:
        """Tell which rows [rows] have a text in the column."""
        coded = self.coded(column)
        return np.array([bool(name.strip()) for name in coded.names], bool)[coded.codes]

    def max_length(self, column: str) -> int:
        """Return the number of characters of the longest text."""
        return max(map(len, self.values(column)), default=0)
