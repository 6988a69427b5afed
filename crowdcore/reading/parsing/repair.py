"""Rows of a delimited text that are not cut as they were meant: open quotes, missing cells."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field, replace

from crowdcore.data import DataError
from crowdcore.reading.findings import Finding, make_finding
from crowdcore.wording import count

_TO_CLOSING_QUOTE = re.compile(r'(?:[^"]++|"")*+"')
_LINE_ENDS = "\r\n"
_CLOSE = "Close the quotation mark in the file, or double it where it is part of the text."


@dataclass(frozen=True, kw_only=True)
class RepairedText:
    """A delimited text in which every row can be cut.

    Parameters
    ----------
    text
        The text.
    open_quotes
        The lines on which a quotation mark was opened that nothing closes, and how many lines it
        would have swallowed.
    short_rows
        The lines of rows that end before the last column, and how many cells they lacked.
    rows_in_cells
        The lines on which a cell begins whose lines all look like rows of the file, and how many
        lines it has.
    """

    text: str
    open_quotes: dict[int, int] = field(default_factory=dict)
    short_rows: dict[int, int] = field(default_factory=dict)
    rows_in_cells: dict[int, int] = field(default_factory=dict)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was repaired, and what may have to be."""
        return (
            make_finding(
                "open_quotes",
                len(self.open_quotes),
                severity="warning",
                examples=(
                    f"line {line}: without the repair it would swallow {count(n, 'line')}"
                    for line, n in self.open_quotes.items()
                ),
                done="Each was taken to end on its own line, so that every line is a row.",
            ),
            make_finding(
                "missing_cells",
                len(self.short_rows),
                examples=(
                    f"line {line}: the last {count(n, 'cell')} missing"
                    for line, n in self.short_rows.items()
                ),
                done="The missing cells count as empty.",
            ),
            make_finding(
                "rows_in_cells",
                len(self.rows_in_cells),
                severity="warning",
                examples=(
                    f"line {line}: a quotation mark opens a cell of {count(n, 'line')}"
                    for line, n in self.rows_in_cells.items()
                ),
                done="Each was read as one cell.",
                option={"rows_in_cells": "split"},
            ),
        )


def repair(
    text: str, *, delimiter: str, width: int, first_line: int, file: str, split: bool = False
) -> RepairedText:
    """Close quotation marks that nothing closes, and fill up rows that end early.

    Parameters
    ----------
    text
        The text, from its first row on.
    delimiter
        What stands between cells.
    width
        The number of columns.
    first_line
        The number of the first line in the file.
    file
        The file's name, for messages.
    split
        Whether cells whose lines all look like rows are cut into rows, too.

    Returns
    -------
    RepairedText

    Raises
    ------
    DataError
        If a quotation mark that nothing closes cannot be closed so that its row fits.
    """
    cutter = _Cutter(delimiter=delimiter, width=width)
    lines = list(io.StringIO(text, newline=""))
    repaired: list[str] = []
    open_quotes: dict[int, int] = {}
    short_rows: dict[int, int] = {}
    rows_in_cells: dict[int, int] = {}
    at = 0
    while at < len(lines):
        span = cutter.row_at(lines, at)
        row, end = "".join(lines[at : span.end]), span.end
        if span.opened is not None:
            line, position = span.opened
            looks_like_rows = span.closing is not None and cutter.all_rows(lines[at : span.end])
            if looks_like_rows:
                rows_in_cells[line + first_line] = span.end - line
            if span.closing is None or (looks_like_rows and split):
                before = "".join(lines[at:line])
                closed = cutter.closed_row(before, lines[line], position)
                if closed is None:
                    raise DataError(
                        "A quotation mark opens on this line and nothing closes it",
                        file=file,
                        row=line + first_line,
                        fix=_CLOSE,
                    )
                row, end = closed, line + 1
                if span.closing is None:
                    open_quotes[line + first_line] = span.end - line - 1
                else:  # both quotation marks go
                    last, place = span.closing
                    lines[last] = lines[last][:place] + lines[last][place + 1 :]
        n_missing = cutter.width - cutter.n_cells(row)
        if n_missing > 0 and row.strip(_LINE_ENDS):
            short_rows[at + first_line] = n_missing
            body = row.rstrip(_LINE_ENDS)
            row = body + delimiter * n_missing + row[len(body) :]
        repaired.append(row)
        at = end
    return RepairedText(
        text="".join(repaired),
        open_quotes=open_quotes,
        short_rows=short_rows,
        rows_in_cells=rows_in_cells,
    )


@dataclass(frozen=True, kw_only=True)
class _Span:
    """Where a row ends, and the first cell in it that goes over a line end."""

    end: int  # the line after the row
    opened: tuple[int, int] | None = None  # line and position of the cell's first quotation mark
    closing: tuple[int, int] | None = None  # those of its last one; None if there is none


@dataclass(frozen=True, kw_only=True)
class _Cutter:
    delimiter: str
    width: int

    def n_cells(self, row: str) -> int:
        """The number of cells of a row."""
        if '"' not in row:
            return row.count(self.delimiter) + 1
        try:
            cells = next(csv.reader(io.StringIO(row, newline=""), delimiter=self.delimiter), [])
        except csv.Error:  # a cell beyond Python's limit
            return self.width
        return len(cells)

    def row_at(self, lines: list[str], at: int) -> _Span:
        """Walk over a row; stops at the first cell over several lines that nothing closes."""
        line, position = at, 0
        over_lines = _Span(end=at + 1)
        if '"' not in lines[at]:
            return over_lines
        while True:
            if lines[line].startswith('"', position):
                opened = (line, position)
                position += 1
                while (cell := _TO_CLOSING_QUOTE.match(lines[line], position)) is None:
                    line, position = line + 1, 0
                    if line == len(lines):
                        return _Span(end=line, opened=opened)
                position = cell.end()
                if line > opened[0]:
                    after = lines[line][position : position + 1]
                    if after not in ("", self.delimiter, *_LINE_ENDS):
                        return _Span(end=line + 1, opened=opened)
                    if over_lines.opened is None:
                        closing = (line, position - 1)
                        over_lines = _Span(end=line + 1, opened=opened, closing=closing)
            following = lines[line].find(self.delimiter, position)
            if following < 0:
                return replace(over_lines, end=line + 1)
            position = following + 1

    def all_rows(self, lines: list[str]) -> bool:
        """Whether every line would be a row by itself."""
        return all(line.replace('"', "").count(self.delimiter) + 1 == self.width for line in lines)

    def closed_row(self, before: str, line: str, position: int) -> str | None:
        """A row whose quotation mark ends on its own line; None where the row does not fit."""
        body = line.rstrip(_LINE_ENDS)
        end = line[len(body) :]
        without = f"{before}{body[:position]}{body[position + 1 :]}{end}"
        quoted = f'{before}{body}"{end}'
        for row in (without, quoted):
            if self.n_cells(row) == self.width:
                return row
        return without if self.n_cells(without) < self.width else None
