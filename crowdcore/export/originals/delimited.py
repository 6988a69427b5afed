"""Delimited text: cells are put before the end of each row, all other bytes stay."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from pathlib import Path

from crowdcore.data import DataError
from crowdcore.export.originals import AddedColumns, misfit, spelled
from crowdcore.reading.parsing.original import Original, TextLayout

_PARTS_PER_BLOCK = 400_000
_UTF16_MARKS = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}

_Row = tuple[bytes, bytes]
"""A row without its line end, and that end; a blank line is an empty row."""


def write(original: Original, layout: TextLayout, added: AddedColumns, path: Path) -> None:
    """Write the file with further columns, in its own delimiter, encoding and quoting.

    Parameters
    ----------
    original
        The file.
    layout
        How it is cut into rows and cells.
    added
        What is put behind its columns.
    path
        Where to write.

    Raises
    ------
    DataError
        If the file is not cut into as many rows as were read from it, or if a cell cannot be
        written in its encoding.
    """
    text, encoding, mark = _as_bytes(original.content().all(), layout.encoding)
    skipped, rows = _cut(text, layout, len(added))
    n_found = sum(bool(body) for body, _ in rows) - layout.header
    if n_found != len(added):
        raise misfit(original.name, n_found, len(added))
    delimiter = layout.delimiter.encode()
    first = next((body for body, _ in rows if body), b"").removeprefix(codecs.BOM_UTF8)
    quote_all = first.startswith(b'"') and first.endswith(b'"')
    behind_rows = [
        delimiter + _row([spelled(cell) for cell in record], delimiter, quote_all=quote_all)
        for record in added.records
    ]
    behind = [behind_rows[code] for code in added.code.tolist()]
    if layout.header:
        behind.insert(0, delimiter + _row(added.names, delimiter, quote_all=quote_all))
    remaining = iter(behind)
    with path.open("wb") as file:
        parts = [mark, *skipped]
        for body, end in rows:
            if not body:
                parts.append(end)
                continue
            n_missing = layout.n_columns - _count_cells(body, delimiter)
            parts += [body, delimiter * max(0, n_missing), next(remaining), end]
            if len(parts) > _PARTS_PER_BLOCK:
                file.write(_encoded(b"".join(parts), encoding, original.name))
                parts = []
        file.write(_encoded(b"".join(parts), encoding, original.name))


def _as_bytes(content: bytes, encoding: str) -> tuple[bytes, str | None, bytes]:
    """Return bytes in which delimiters are single bytes, how to encode them again, and a mark.

    UTF-8 stays as it is; of everything else the mark of UTF-16 is kept, as UTF-8.
    """
    if encoding.startswith("utf-8"):
        return content, None, b""
    for name, mark in _UTF16_MARKS.items():
        if encoding == "utf-16" and content.startswith(mark):
            return content[len(mark) :].decode(name).encode("utf-8"), name, codecs.BOM_UTF8
    return content.decode(encoding).encode("utf-8"), encoding, b""


def _encoded(text: bytes, encoding: str | None, file: str) -> bytes:
    if encoding is None:
        return text
    try:
        return text.decode("utf-8").encode(encoding)
    except UnicodeEncodeError as error:
        raise DataError(
            f"The text {error.object[error.start]!r} cannot be written in the encoding of the file",
            file=file,
            fix="Export the long table instead.",
        ) from None


def _cut(text: bytes, layout: TextLayout, n_rows: int) -> tuple[list[bytes], list[_Row]]:
    """Cut a text into the lines before the first row, and rows with their line ends."""
    skipped = []
    for _ in range(layout.n_skipped_lines):
        line = re.match(rb"[^\r\n]*(?:\r\n|\n|\r)", text)
        if line is None:
            break
        skipped.append(line[0])
        text = text[line.end() :]
    rows = _cut_by_lines(text)
    if sum(bool(body) for body, _ in rows) != n_rows + layout.header:
        rows = _cut_by_cells(text, layout.delimiter.encode())
    return skipped, rows


def _cut_by_lines(text: bytes) -> list[_Row]:
    """Cut at line ends outside of quotes; quick, and wrong where a cell has a quote inside."""
    rows: list[_Row] = []
    unfinished: list[bytes] = []
    is_open = False
    for line in text.splitlines(keepends=True):
        if b'"' in line:
            is_open ^= bool(line.count(b'"') % 2)
        elif not is_open:
            rows.append(_without_end(line))
            continue
        unfinished.append(line)
        if not is_open:
            rows.append(_without_end(b"".join(unfinished)))
            unfinished = []
    return [*rows, _without_end(b"".join(unfinished))] if unfinished else rows


def _cut_by_cells(text: bytes, delimiter: bytes) -> list[_Row]:
    """Cut cell by cell: only a cell that begins with a quote is a quoted one."""
    cell = _cell_pattern(delimiter)
    row = re.compile(rb"(%b(?:%b%b)*+)(\r\n|\n|\r|\Z)" % (cell, re.escape(delimiter), cell))
    rows: list[_Row] = []
    at = 0
    while at < len(text):
        match = row.match(text, at)
        if match is None:
            return [*rows, (text[at:], b"")]
        rows.append((match[1], match[2]))
        at = match.end()
    return rows


def _without_end(line: bytes) -> _Row:
    for end in (b"\r\n", b"\n", b"\r"):
        if line.endswith(end):
            return line[: -len(end)], end
    return line, b""


def _cell_pattern(delimiter: bytes) -> bytes:
    other = rb"[^%b\r\n]*+" % re.escape(delimiter)
    return rb'(?:"(?:[^"]++|"")*+"%b|%b)' % (other, other)


def _count_cells(body: bytes, delimiter: bytes) -> int:
    if b'"' not in body:
        return body.count(delimiter) + 1
    return len(re.findall(rb"(?:\A|%b)%b" % (re.escape(delimiter), _cell_pattern(delimiter)), body))


def _row(cells: Sequence[str], delimiter: bytes, *, quote_all: bool) -> bytes:
    encoded = [cell.encode("utf-8") for cell in cells]
    special = re.compile(rb'["\r\n]|%b' % re.escape(delimiter))
    return delimiter.join(
        b'"' + cell.replace(b'"', b'""') + b'"' if quote_all or special.search(cell) else cell
        for cell in encoded
    )
