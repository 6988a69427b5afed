"""Delimited text: finds the delimiter and the header, and reads everything as text."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from crowdcore.data import DataError
from crowdcore.reading.findings import Finding
from crowdcore.reading.parsing.blanks import with_tabs
from crowdcore.reading.parsing.encoding import decode, encoding_error, text_encoding, text_head
from crowdcore.reading.parsing.formats import Format, ParseOptions
from crowdcore.reading.parsing.header import has_header
from crowdcore.reading.parsing.original import TextLayout
from crowdcore.reading.parsing.preamble import lacks_row_names, lines_above
from crowdcore.reading.parsing.repair import RepairedText, repair
from crowdcore.reading.parsing.source import Content
from crowdcore.reading.parsing.table import Table
from crowdcore.wording import count

DELIMITERS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}

_QUOTE = "Quote cells that contain the delimiter, and close every quotation mark."
_SAMPLE_ROWS = 1000
_BYTES_PER_BLOCK = 1 << 20
_MAX_BYTES_PER_BLOCK = (1 << 31) - 1
_ANY_TEXT = 0.1


@dataclass(frozen=True, kw_only=True)
class _Dialect:
    """How the lines are to be cut, and the first rows cut so."""

    delimiter: str
    n_skipped_lines: int  # before the first row
    rows: list[list[str]]
    header: bool = True  # whether the first row names the columns
    n_lines_above: int = 0  # of a title or remarks

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.rows[0])


def _matches(content: Content) -> float:
    return 0 if text_encoding(content) is None else _ANY_TEXT


def _read(content: Content, options: ParseOptions) -> Table:
    encoding = text_encoding(content) or "utf-8"
    content = with_tabs(content, text_head(content, encoding), encoding)
    is_cut = content.buffer.size > len(content.head)
    dialect = _sniff(text_head(content, encoding), content.name, is_cut=is_cut)
    if lacks_row_names(dialect.rows) and not encoding.startswith("utf-16"):
        content = _with_row_names(content, dialect)
        dialect = _sniff(text_head(content, encoding), content.name, is_cut=is_cut)
    header = has_header(dialect.rows) if options.header is None else options.header
    dialect = replace(dialect, header=header)
    names = _column_names(dialect, content.name)
    if header and len(dialect.rows) == 1 and not is_cut:
        fix = "Check that the export is complete."
        raise DataError("There is no row below the header", file=content.name, fix=fix)
    is_wide = encoding.startswith("utf-16")  # half of its bytes are zero, but no character is
    if "\0" in decode(content, encoding)[0] if is_wide else content.scan.has_zeros:
        raise DataError("The file is binary, not text", file=content.name, fix="Give a text file.")
    parsed = _parse(content, encoding, dialect)
    first_line = dialect.n_skipped_lines + header + 1
    n_lines = -1 if encoding.startswith("utf-16") else content.scan.n_lines

    def table(rows: _Rows) -> Table:
        return Table(
            name=content.name,
            data=_without_ghosts(rows.data.rename_columns(list(names)), dialect),
            description=_describe(dialect, parsed.encoding),
            first_line=first_line if n_lines == rows.data.num_rows + first_line - 1 else None,
            header=header,
            content=rows.content,
            layout=TextLayout(
                encoding=rows.encoding,
                delimiter=dialect.delimiter,
                n_columns=dialect.width,
                n_skipped_lines=rows.n_skipped_lines,
                header=header,
            ),
            findings=parsed.findings,
        )

    split = None if parsed.split is None else table(parsed.split)
    return replace(table(parsed.rows), split=split)


def _sniff(head: str, file: str, *, is_cut: bool) -> _Dialect:
    """Choose the delimiter that gives the most even rows."""
    text = head.lstrip("\ufeff")
    n_skipped, forced = 0, None
    if match := re.match(r"sep=(.)\r?\n", text):  # Excel's own line
        text, n_skipped, forced = text[match.end() :], 1, match[1]
    if blank_lines := re.match(r"(?:[ \t]*(?:\r\n|\n|\r))*", text):
        n_skipped += len(re.findall(r"\r\n|\n|\r", blank_lines[0]))
        text = text[blank_lines.end() :]
    delimiters = [forced] if forced in DELIMITERS else _by_suffix(file)
    best = _most_even(text, delimiters, is_cut=is_cut)
    if best is None or (
        len(best.rows[0]) < _usual_width(best.rows) and not lacks_row_names(best.rows)
    ):
        # The first line is shorter than the rows: a title, or remarks, may stand above them.
        best = _most_even(text, delimiters, is_cut=is_cut, above=True) or best
    if best is None:
        raise DataError(
            "The file has one column only",
            file=file,
            fix="Separate the columns by commas, tabs, semicolons or bars (|).",
        )
    return replace(best, n_skipped_lines=best.n_skipped_lines + n_skipped)


def _most_even(
    text: str, delimiters: Sequence[str], *, is_cut: bool, above: bool = False
) -> _Dialect | None:
    """Choose the delimiter that gives the most even rows, below lines of remarks if asked for."""
    best, best_score = None, (0.0, 0)
    for delimiter in delimiters:
        rows = _sample_rows(text, delimiter, is_cut)
        n_lines, n_above = lines_above(text, delimiter, rows) if above else (0, 0)
        rows = rows[n_above:]
        score = _evenness(rows)
        if score > best_score:
            best = _Dialect(
                delimiter=delimiter, n_skipped_lines=n_lines, n_lines_above=n_lines, rows=rows
            )
            best_score = score
    return best


def _with_row_names(content: Content, dialect: _Dialect) -> Content:
    """Begin the header with a delimiter where it lacks the name of the first column."""
    data = content.all()
    lines = data.split(b"\n", dialect.n_skipped_lines)
    lines[-1] = dialect.delimiter.encode() + lines[-1].removeprefix(b"\xef\xbb\xbf")
    return Content(name=content.name, buffer=pa.py_buffer(b"\n".join(lines)))


def _by_suffix(file: str) -> list[str]:
    first = "\t" if PurePath(file).suffix.lower() in (".tsv", ".tab") else ","
    return [first, *(delimiter for delimiter in DELIMITERS if delimiter != first)]


def _sample_rows(text: str, delimiter: str, is_cut: bool) -> list[list[str]]:
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            if row:
                rows.append(row)
            if len(rows) > _SAMPLE_ROWS:
                break
        else:
            if is_cut and len(rows) > 1:
                rows.pop()  # the sample ends in the middle of it
    except csv.Error:
        pass  # a field beyond Python's limit; what came before is enough
    return rows


def _evenness(rows: Sequence[Sequence[str]]) -> tuple[float, int]:
    """Return which share of the rows is as long as the first one, and how long that is."""
    width = len(rows[0]) if rows else 0
    if width <= 1:
        return (0.0, 0)
    usual = _usual_width(rows)
    share = sum(len(row) == width for row in rows) / len(rows)
    return (share if usual == width else share / 2, width)


def _usual_width(rows: Sequence[Sequence[str]]) -> int:
    return Counter(map(len, rows)).most_common(1)[0][0]


def _column_names(dialect: _Dialect, file: str) -> tuple[str, ...]:
    first = dialect.rows[0] if dialect.header else [""] * dialect.width
    stripped = [cell.strip() for cell in first]
    names = tuple(name or f"column {number}" for number, name in enumerate(stripped, 1))
    if repeated := [name for name, times in Counter(names).items() if times > 1]:
        numbers = [str(number) for number, name in enumerate(names, 1) if name == repeated[0]]
        raise DataError(
            f"The columns {', '.join(numbers)} have the same name",
            file=file,
            column=repeated[0],
            row=dialect.n_skipped_lines + 1,
            fix="Give every column a name of its own.",
        )
    return names


def _without_ghosts(data: pa.Table, dialect: _Dialect) -> pa.Table:
    """Leave out columns with neither a name nor a cell, as a trailing delimiter makes them."""
    nameless = [at for at, cell in enumerate(dialect.rows[0]) if not cell.strip()]
    for at in reversed(nameless if dialect.header else []):
        if not pc.any(pc.not_equal(data.column(at), "")).as_py():
            data = data.remove_column(at)
    return data


def _describe(dialect: _Dialect, encoding: str) -> str:
    header = f"line {dialect.n_skipped_lines + 1} names the columns"
    if not dialect.header:
        header = "the first line is data, so the columns are numbered"
    titles = {"cp1252": "Windows-1252, because it is not UTF-8", "utf-8-sig": "UTF-8"}
    title = titles.get(encoding, encoding.upper())
    signs = DELIMITERS[dialect.delimiter]
    above = f"; {count(dialect.n_lines_above, 'line')} above it left out"
    above = above if dialect.n_lines_above else ""
    return f"Read as text with {signs} between columns ({title}); {header}{above}."


@dataclass(frozen=True, kw_only=True)
class _Rows:
    """Rows before the columns have their names, and the text that they were cut from."""

    data: pa.Table
    content: Content
    encoding: str
    n_skipped_lines: int


@dataclass(frozen=True, kw_only=True)
class _Parsed:
    rows: _Rows
    encoding: str  # of the file
    findings: tuple[Finding, ...] = ()
    split: _Rows | None = None  # with cells cut into rows that seem to hold rows


def _parse(content: Content, encoding: str, dialect: _Dialect) -> _Parsed:
    """Let pyarrow read; falls back to Windows-1252, and to repairing rows that cannot be cut."""
    data = None
    try:
        data = _read_arrow(content.buffer, encoding, dialect, content.scan.has_quotes)
    except UnicodeDecodeError:
        raise encoding_error(content, encoding) from None
    except MemoryError:
        raise
    except (pa.ArrowException, OSError) as error:
        if "UTF8" in str(error) and encoding == "utf-8":
            fault = encoding_error(content, encoding)
            if fault.row is not None:
                raise fault from None
            return _parse(content, "cp1252", dialect)
    if data is None or (content.scan.has_quotes and _has_cells_over_lines(data)):
        return _parse_repaired(content, encoding, dialect, data)
    return _Parsed(rows=_as_given(data, content, encoding, dialect), encoding=encoding)


def _as_given(data: pa.Table, content: Content, encoding: str, dialect: _Dialect) -> _Rows:
    n_skipped_lines = dialect.n_skipped_lines
    return _Rows(data=data, content=content, encoding=encoding, n_skipped_lines=n_skipped_lines)


def _parse_repaired(
    content: Content, encoding: str, dialect: _Dialect, data: pa.Table | None
) -> _Parsed:
    """Repair the rows one by one: slow, so only for files that seem to need it."""
    text, encoding = decode(content, encoding)
    stream = io.StringIO(text.lstrip("\ufeff"), newline="")
    for _ in range(dialect.n_skipped_lines):
        stream.readline()
    rest = stream.read()

    def repaired(*, split: bool) -> tuple[RepairedText, _Rows]:
        repaired = repair(
            rest,
            delimiter=dialect.delimiter,
            width=dialect.width,
            first_line=dialect.n_skipped_lines + 1,
            file=content.name,
            split=split,
        )
        if data is not None and repaired.text == rest:
            return repaired, _as_given(data, content, encoding, dialect)
        mended = Content(name=content.name, buffer=pa.py_buffer(repaired.text.encode()))
        mended_dialect = replace(dialect, n_skipped_lines=0)
        try:
            rows = _read_arrow(mended.buffer, "utf-8", mended_dialect, '"' in repaired.text)
        except MemoryError:
            raise
        except (pa.ArrowException, OSError) as error:
            raise _explain(content, encoding, dialect, str(error)) from None
        return repaired, _as_given(rows, mended, "utf-8", mended_dialect)

    found, rows = repaired(split=False)
    split = repaired(split=True)[1] if found.rows_in_cells else None
    return _Parsed(rows=rows, encoding=encoding, findings=found.findings, split=split)


def _has_cells_over_lines(data: pa.Table) -> bool:
    return any(
        pc.any(pc.match_substring_regex(column, "[\r\n]")).as_py() for column in data.columns
    )


def _read_arrow(buffer: pa.Buffer, encoding: str, dialect: _Dialect, has_quotes: bool) -> pa.Table:
    """Let pyarrow read everything as text, in larger blocks where rows are very long."""
    names = [str(number) for number in range(dialect.width)]
    block_size = _BYTES_PER_BLOCK
    while True:
        try:
            return pa.csv.read_csv(
                pa.BufferReader(buffer),
                read_options=pa.csv.ReadOptions(
                    column_names=names,
                    skip_rows=dialect.n_skipped_lines,
                    skip_rows_after_names=int(dialect.header),
                    encoding="utf8" if encoding.startswith("utf-8") else encoding,
                    block_size=block_size,
                ),
                parse_options=pa.csv.ParseOptions(
                    delimiter=dialect.delimiter,
                    newlines_in_values=has_quotes or encoding.startswith("utf-16"),
                ),
                convert_options=pa.csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()),
                    strings_can_be_null=False,
                    null_values=[],
                ),
            )
        except MemoryError:
            raise
        except (pa.ArrowException, OSError) as error:
            limit = min(_MAX_BYTES_PER_BLOCK, buffer.size * 2)
            if "straddl" not in str(error) or block_size >= limit:
                raise
            block_size = min(block_size * 16, _MAX_BYTES_PER_BLOCK)


def _explain(content: Content, encoding: str, dialect: _Dialect, message: str) -> DataError:
    """Find the first row of another length; pyarrow does not say on which line it is."""
    for line, n_cells in _row_lengths(content, encoding, dialect):
        if n_cells != dialect.width:
            return DataError(
                f"This line has {count(n_cells, 'cell')} and the first has {dialect.width}",
                file=content.name,
                row=line,
                fix=_QUOTE,
            )
    reason = message.splitlines()[0][:200] if message else "unknown reason"
    return DataError(
        f"The file cannot be cut into columns: {reason}",
        file=content.name,
        fix=_QUOTE,
    )


def _row_lengths(content: Content, encoding: str, dialect: _Dialect) -> Iterator[tuple[int, int]]:
    """Give the line and the number of cells of every row: slow, so only after a failure."""
    stream = io.TextIOWrapper(io.BytesIO(content.all()), encoding, errors="replace", newline="")
    for _ in range(dialect.n_skipped_lines):
        stream.readline()
    reader = csv.reader(stream, delimiter=dialect.delimiter)
    line = dialect.n_skipped_lines + 1
    try:
        for row in reader:
            if row:
                yield line, len(row)
            line = dialect.n_skipped_lines + reader.line_num + 1
    except csv.Error:
        return


FORMAT = Format(title="CSV, TSV and other delimited text", matches=_matches, read=_read)
