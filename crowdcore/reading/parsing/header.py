"""Whether the first row of a file names the columns or is already data."""

from __future__ import annotations

import re
from collections.abc import Sequence

from crowdcore.reading.columns.roles import is_numbered_worker, is_role_name
from crowdcore.reading.parsing.extra_rows import is_import_row

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
_MIN_NUMBERED_COLUMNS = 3


def is_number(text: str) -> bool:
    """Tell whether a text is a plain number."""
    return _NUMBER.fullmatch(text) is not None


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first row names the columns.

    A header is told by usual names; data by cells that come back further down, or that are
    numbers among numbers.

    Parameters
    ----------
    rows
        The first rows of a file, as cells.

    Returns
    -------
    bool
    """
    first, later_rows = rows[0], rows[1:]
    if not later_rows or not first[0].strip():
        return True
    if any(is_import_row(row) for row in later_rows[:2]) or _comes_again(first, later_rows):
        return True
    columns = [{row[at] for row in later_rows if at < len(row)} for at in range(len(first))]
    recurs = [bool(cell) and cell in column for cell, column in zip(first, columns, strict=True)]
    unique = [cell for cell, again in zip(first, recurs, strict=True) if not again]
    if any(is_role_name(cell) for cell in unique):
        return True
    if sum(is_numbered_worker(cell) for cell in unique) > 1:
        return True
    if any(recurs):
        return _counts_up([cell for cell, again in zip(first, recurs, strict=True) if again])
    return not any(
        is_number(cell) and all(is_number(value) for value in column if value.strip())
        for cell, column in zip(first, columns, strict=True)
    )


def _comes_again(first: Sequence[str], later_rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first row comes again as a whole, its cells never else.

    So it is where files were put below each other, each with its header.
    """
    if not any(list(row) == list(first) for row in later_rows):
        return False
    others = [row for row in later_rows if list(row) != list(first)]
    again = any(set(row) & set(first) for row in others)
    return not again and not any(is_number(cell) for cell in first)


def _counts_up(cells: Sequence[str]) -> bool:
    """Tell whether numbered workers head the columns (1, 2, 3), although labels look the same."""
    if len(cells) < _MIN_NUMBERED_COLUMNS or not all(cell.strip().isdecimal() for cell in cells):
        return False
    numbers = [int(cell) for cell in cells]
    return numbers == list(range(numbers[0], numbers[0] + len(numbers))) and numbers[0] in (0, 1)
