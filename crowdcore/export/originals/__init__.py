"""Files as they were given, with columns added behind theirs and nothing else changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import DataError

Cell = str | float | bool | None
"""A cell that is added; None stays empty."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AddedColumns:
    """Columns for the rows of a file.

    Parameters
    ----------
    names
        Their headings.
    records
        The distinct rows of cells.
    code
        Which of the records each row of the file gets [rows].
    """

    names: tuple[str, ...]
    records: Sequence[tuple[Cell, ...]]
    code: NDArray[np.int64]

    def column(self, at: int) -> list[Cell]:
        """Return the cells of one of the columns, one per row of the file."""
        cells = [record[at] for record in self.records]
        return [cells[code] for code in self.code.tolist()]

    def __len__(self) -> int:
        return len(self.code)


def spelled(cell: Cell) -> str:
    """Write a cell as text: shares with up to six digits, true or false."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return f"{cell:.6g}" if isinstance(cell, float) else cell


def misfit(file: str, n_found: int, n_expected: int) -> DataError:
    """Say that a file cannot be cut into the rows that were read from it."""
    return DataError(
        f"The file has {n_found:,} rows where {n_expected:,} were read, so that truths cannot be "
        "put beside them safely",
        file=file,
        fix="Export the long table instead.",
    )


def same_length(values: Sequence[Any], added: AddedColumns, file: str) -> None:
    """Refuse to put cells beside rows that are not as many."""
    if len(values) != len(added):
        raise misfit(file, len(values), len(added))
