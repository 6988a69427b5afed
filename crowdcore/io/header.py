"""Whether the first row of a file names the columns or is already data."""

from __future__ import annotations

import re
from collections.abc import Sequence

from crowdcore.io.roles import is_numbered_worker, is_role_name

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
_FEWEST_SEQUENCE = 3


def is_number(text: str) -> bool:
    """Whether a text is a plain number."""
    return _NUMBER.fullmatch(text) is not None


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Tell a header by usual names; data by cells that come back or are numbers among numbers."""
    first, rest = rows[0], rows[1:]
    if not rest or not first[0].strip():
        return True
    columns = [{row[place] for row in rest if place < len(row)} for place in range(len(first))]
    again = [bool(cell) and cell in column for cell, column in zip(first, columns, strict=True)]
    fresh = [cell for cell, back in zip(first, again, strict=True) if not back]
    if any(is_role_name(cell) for cell in fresh):
        return True
    if sum(is_numbered_worker(cell) for cell in fresh) > 1:
        return True
    if any(again):
        return _counts_up([cell for cell, back in zip(first, again, strict=True) if back])
    return not any(
        is_number(cell) and all(is_number(other) for other in column if other.strip())
        for cell, column in zip(first, columns, strict=True)
    )


def _counts_up(cells: Sequence[str]) -> bool:
    """Whether numbered workers head the columns (1, 2, 3), although labels look the same."""
    if len(cells) < _FEWEST_SEQUENCE or not all(cell.strip().isdecimal() for cell in cells):
        return False
    numbers = [int(cell) for cell in cells]
    return numbers == list(range(numbers[0], numbers[0] + len(numbers))) and numbers[0] in (0, 1)
