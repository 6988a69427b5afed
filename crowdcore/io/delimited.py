"""Delimited text: finds the delimiter and the header, and reads everything as text."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from crowdcore.data import DataError
from crowdcore.io.encoding import undecodable
from crowdcore.io.header import has_header
from crowdcore.io.health import counted
from crowdcore.io.source import Content
from crowdcore.io.table import Table

DELIMITERS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}

_QUOTE = "Quote cells that contain the delimiter, and close every quotation mark."
_SAMPLE_ROWS = 1000
_BLOCK = 1 << 20
_LARGEST_BLOCK = (1 << 31) - 1


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How the lines are to be cut, and what the first rows say."""

    delimiter: str
    skip: int  # lines before the first row
    rows: list[list[str]]
    named: bool = True  # whether the first row names the columns

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.rows[0])


def read_delimited(content: Content, encoding: str, head: str, header: bool | None) -> Table:
    """Read a delimited file; `head` is the beginning of its text."""
    cut = content.buffer.size > len(content.head)
    dialect = _sniff(head, content.name, cut=cut)
    named = has_header(dialect.rows) if header is None else header
    dialect = replace(dialect, named=named)
    names = _names(dialect, content.name)
    if named and len(dialect.rows) == 1 and not cut:
        fix = "Check that the export is complete."
        raise DataError("There is no row below the header", file=content.name, fix=fix)
    if content.scan.has_zeros and not encoding.startswith("utf-16"):
        raise DataError("The file is binary, not text", file=content.name, fix="Give a text file.")
    data, encoding = _parse(content, encoding, dialect)
    first_line = dialect.skip + named + 1
    lines = -1 if encoding.startswith("utf-16") else content.scan.lines
    return Table(
        name=content.name,
        data=_without_ghosts(data.rename_columns(list(names)), dialect),
        how=_describe(dialect, encoding),
        first_line=first_line if lines == data.num_rows + first_line - 1 else None,
        header=named,
    )


def _sniff(head: str, file: str, *, cut: bool) -> Dialect:
    """Choose the delimiter that gives the most even rows."""
    text = head.lstrip("\ufeff")
    skip, forced = 0, None
    if match := re.match(r"sep=(.)\r?\n", text):  # Excel's own line
        text, skip, forced = text[match.end() :], 1, match[1]
    blank = re.match(r"(?:[ \t]*(?:\r\n|\n|\r))*", text)
    if blank:
        skip += len(re.findall(r"\r\n|\n|\r", blank[0]))
        text = text[blank.end() :]
    best, best_score = None, (0.0, 0)
    for delimiter in [forced] if forced in DELIMITERS else _by_suffix(file):
        rows = _rows(text, delimiter, cut)
        score = _evenness(rows)
        if score > best_score:
            best, best_score = Dialect(delimiter=delimiter, skip=skip, rows=rows), score
    if best is None:
        raise DataError(
            "The file has one column only",
            file=file,
            fix="Separate the columns by commas, tabs, semicolons or bars (|).",
        )
    return best


def _by_suffix(file: str) -> list[str]:
    first = "\t" if PurePath(file).suffix.lower() in (".tsv", ".tab") else ","
    return [first, *(delimiter for delimiter in DELIMITERS if delimiter != first)]


def _rows(text: str, delimiter: str, cut: bool) -> list[list[str]]:
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            if row:
                rows.append(row)
            if len(rows) > _SAMPLE_ROWS:
                break
        else:
            if cut and len(rows) > 1:
                rows.pop()  # the sample ends in the middle of it
    except csv.Error:
        pass  # a field beyond Python's limit; what came before is enough
    return rows


def _evenness(rows: Sequence[Sequence[str]]) -> tuple[float, int]:
    """How many rows are as long as the first one, and how long that is."""
    width = len(rows[0]) if rows else 0
    if width <= 1:
        return (0.0, 0)
    usual = Counter(map(len, rows)).most_common(1)[0][0]
    share = sum(len(row) == width for row in rows) / len(rows)
    return (share if usual == width else share / 2, width)


def _names(dialect: Dialect, file: str) -> tuple[str, ...]:
    first = dialect.rows[0] if dialect.named else [""] * dialect.width
    stripped = [cell.strip() for cell in first]
    names = tuple(name or f"column {place}" for place, name in enumerate(stripped, 1))
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        places = [str(place) for place, name in enumerate(names, 1) if name == twice[0]]
        raise DataError(
            f"The columns {', '.join(places)} have the same name",
            file=file,
            column=twice[0],
            row=dialect.skip + 1,
            fix="Give every column a name of its own.",
        )
    return names


def _without_ghosts(data: Any, dialect: Dialect) -> Any:
    """Leave out columns with neither a name nor a cell, as a trailing delimiter makes them."""
    import pyarrow.compute as pc

    nameless = [at for at, cell in enumerate(dialect.rows[0]) if not cell.strip()]
    for place in reversed(nameless if dialect.named else []):
        if not pc.any(pc.not_equal(data.column(place), "")).as_py():
            data = data.remove_column(place)
    return data


def _describe(dialect: Dialect, encoding: str) -> str:
    header = f"line {dialect.skip + 1} names the columns"
    if not dialect.named:
        header = "the first line is data, so the columns are numbered"
    spelled = {"cp1252": "Windows-1252, because it is not UTF-8", "utf-8-sig": "UTF-8"}
    spoken = spelled.get(encoding, encoding.upper())
    signs = DELIMITERS[dialect.delimiter]
    return f"Read as text with {signs} between columns ({spoken}); {header}."


def _parse(content: Content, encoding: str, dialect: Dialect) -> tuple[Any, str]:
    """Let pyarrow read; fall back to Windows-1252, and to larger blocks for very long rows."""
    import pyarrow as pa

    block = _BLOCK
    while True:
        try:
            return _read_arrow(content, encoding, dialect, block), encoding
        except UnicodeDecodeError:
            raise undecodable(content, encoding) from None
        except (pa.ArrowException, OSError) as error:
            text = str(error)
            if "UTF8" in text and encoding == "utf-8":
                fault = undecodable(content, encoding)
                if fault.row is not None:
                    raise fault from None
                encoding = "cp1252"
            elif "straddl" in text and block < min(_LARGEST_BLOCK, content.buffer.size * 2):
                block = min(block * 16, _LARGEST_BLOCK)
            else:
                raise _explain(content, encoding, dialect, text) from None


def _read_arrow(content: Content, encoding: str, dialect: Dialect, block: int) -> Any:
    import pyarrow as pa
    import pyarrow.csv

    names = [str(place) for place in range(dialect.width)]
    quoted = content.scan.has_quotes or encoding.startswith("utf-16")
    return pa.csv.read_csv(
        pa.BufferReader(content.buffer),
        read_options=pa.csv.ReadOptions(
            column_names=names,
            skip_rows=dialect.skip,
            skip_rows_after_names=int(dialect.named),
            encoding="utf8" if encoding.startswith("utf-8") else encoding,
            block_size=block,
        ),
        parse_options=pa.csv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=quoted),
        convert_options=pa.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            strings_can_be_null=False,
            null_values=[],
        ),
    )


def _explain(content: Content, encoding: str, dialect: Dialect, text: str) -> DataError:
    """Find the first row of another length; pyarrow does not say on which line it is."""
    for line, cells in _lines(content, encoding, dialect):
        if cells != dialect.width:
            return DataError(
                f"This line has {counted(cells, 'cell')} and the first has {dialect.width}",
                file=content.name,
                row=line,
                fix=_QUOTE,
            )
    reason = text.splitlines()[0][:200] if text else "unknown reason"
    return DataError(
        f"The file cannot be cut into columns: {reason}",
        file=content.name,
        fix=_QUOTE,
    )


def _lines(content: Content, encoding: str, dialect: Dialect) -> Iterator[tuple[int, int]]:
    """Go through the rows in Python: slow, so only after a failure."""
    stream = io.TextIOWrapper(io.BytesIO(content.all()), encoding, errors="replace", newline="")
    for _ in range(dialect.skip):
        stream.readline()
    reader = csv.reader(stream, delimiter=dialect.delimiter)
    began = dialect.skip + 1
    try:
        for row in reader:
            if row:
                yield began, len(row)
            began = dialect.skip + reader.line_num + 1
    except csv.Error:
        return
