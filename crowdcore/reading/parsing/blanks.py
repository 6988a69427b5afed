"""Columns with blanks between them: such a file is brought to tabs before it is cut."""

from __future__ import annotations

import re
from collections import Counter

import pyarrow as pa

from crowdcore.reading.parsing.source import Content

_SAMPLE_LINES = 200
_MIN_COLUMNS = 3
_MOST = 0.98
_MANY_WORDS = 100
_FEW_DISTINCT = 0.1
_SIGNS = (",", "\t", ";", "|")


def with_tabs(content: Content, text: str, encoding: str) -> Content:
    """Put tabs where a file has blanks between its columns.

    Parameters
    ----------
    content
        The file.
    text
        Its beginning.
    encoding
        Its encoding.

    Returns
    -------
    Content
        The same where another sign stands between columns. Where the header alone has blanks and
        the rows have tabs, only the header is changed.
    """
    if encoding.startswith("utf-16"):
        return content
    lines = [line for line in text.splitlines()[:_SAMPLE_LINES] if line.strip()]
    if len(lines) < _MIN_COLUMNS:
        return content
    first, rows = lines[0], lines[1 : -1 if len(lines) > _MIN_COLUMNS else None]
    width = len(first.split())
    if width < _MIN_COLUMNS or any(sign in first for sign in _SIGNS):
        return content
    n_tabs = Counter(line.count("\t") for line in rows).most_common(1)[0][0]
    if n_tabs == width - 1:
        data = content.all()
        head, sign, rest = data.partition(b"\n")
        return _changed(content, b"\t".join(head.split()) + sign + rest)
    plain = [line for line in rows if not any(sign in line for sign in _SIGNS)]
    even = sum(len(line.split()) == width for line in plain)
    if even < _MOST * len(rows) or not _is_code_like(lines):
        return content
    return _changed(content, re.sub(rb"[ \t]+(?=[^\r\n])", b"\t", content.all()))


def _is_code_like(lines: list[str]) -> bool:
    """Whether lines are columns of ids and numbers, not prose of the same number of words."""
    words = [word for line in lines[1:] for word in line.split()]
    few = len(words) >= _MANY_WORDS and len(set(words)) <= _FEW_DISTINCT * len(words)
    return few or sum(any(sign.isdigit() for sign in word) for word in words) >= 0.3 * len(words)


def _changed(content: Content, data: bytes) -> Content:
    return Content(name=content.name, buffer=pa.py_buffer(data))
