"""Lines above the header of a delimited text, and headers that lack the name of a column."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence

_MAX_LINES = 20
_MOST = 0.6
_NEARLY_ALL = 0.95
_OWN_FORMAT = "#FORMAT="
"""How texts with annotations of WebAnno begin, which are no table."""


def lines_above(text: str, delimiter: str, rows: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Count the lines above the table: a title, a date, remarks.

    Parameters
    ----------
    text
        The beginning of the file.
    delimiter
        What stands between cells.
    rows
        Its first rows, cut so.

    Returns
    -------
    lines, rows : int
        How many lines, blank ones included, and how many of the rows; both 0 where the first row
        belongs to the table.
    """
    width = Counter(map(len, rows)).most_common(1)[0][0] if rows else 0
    if text.startswith(_OWN_FORMAT):
        return 0, 0
    if width < 2 or sum(len(row) == width for row in rows) < _MOST * len(rows):  # noqa: PLR2004
        return 0, 0
    above = next((at for at, row in enumerate(rows) if len(row) >= width), 0)
    if not above or above > _MAX_LINES:
        return 0, 0
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    seen = n_lines = 0
    for row in reader:
        if row and seen == above:
            return n_lines, above
        seen += bool(row)
        n_lines = reader.line_num
    return 0, 0


def lacks_row_names(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether the header lacks the name of the first column, as R writes row names.

    Parameters
    ----------
    rows
        The first rows, the header first.

    Returns
    -------
    bool
    """
    width, body = len(rows[0]), rows[1:]
    if width < 2 or len(body) < 3 or len(set(rows[0])) < width:  # noqa: PLR2004
        return False
    longer = [row for row in body if len(row) == width + 1]
    names = [row[0] for row in longer]
    return len(longer) >= _NEARLY_ALL * len(body) and len(set(names)) == len(names)
