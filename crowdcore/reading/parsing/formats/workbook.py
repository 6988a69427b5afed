"""Excel workbooks: sheets as tables, with the header wherever it stands."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from python_calamine import CalamineError, CalamineWorkbook

from crowdcore.data import DataError
from crowdcore.reading.parsing.combined import combine
from crowdcore.reading.parsing.formats import Format, ParseOptions
from crowdcore.reading.parsing.formats.archive import is_workbook
from crowdcore.reading.parsing.header import has_header
from crowdcore.reading.parsing.source import Content
from crowdcore.reading.parsing.table import Table
from crowdcore.wording import count

_OLD_WORKBOOK = b"\xd0\xcf\x11\xe0"
_HEADER_SHARE = 0.6
_TITLE_ROWS = 20
_SAMPLE_ROWS = 1000


def _matches(content: Content) -> float:
    return float(is_workbook(content) or content.head.startswith(_OLD_WORKBOOK))


def _read(content: Content, options: ParseOptions) -> Table:
    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(content.all()))
        sheets = [
            (name, workbook.get_sheet_by_name(name).to_python(skip_empty_area=True))
            for name in workbook.sheet_names
        ]
    except CalamineError as error:
        raise DataError(
            f"The workbook cannot be read: {error}", file=content.name, fix="Save the sheet as CSV."
        ) from None
    tables = []
    for name, rows in sheets:
        table = _sheet(rows, content.name, options)
        if table is not None:
            tables.append((name, table))
    return combine(tables, name=content.name, noun="sheet")


def _sheet(cells: Sequence[Sequence[Any]], file: str, options: ParseOptions) -> Table | None:
    rows = [[_text(cell) for cell in row] for row in cells]
    if not any(any(row) for row in rows):
        return None
    start = _header_row(rows)
    rows = [row for row in rows[start:] if any(row)]
    header = options.header
    if header is None:
        header = has_header(rows[:_SAMPLE_ROWS])
    width = max(len(row) for row in rows)
    first = rows[0] if header else []
    names = _unique([*first, *[""] * (width - len(first))])
    body = rows[1:] if header else rows
    columns = {
        name: pa.array([row[at] if at < len(row) else "" for row in body], pa.string())
        for at, name in enumerate(names)
    }
    kept = {n: c for at, (n, c) in enumerate(columns.items())
            if (header and at < len(first) and first[at]) or any(c.to_pylist())}  # fmt: skip
    if not kept or not body:
        return None
    skipped = f" {count(start, 'row')} above the header were left out." if start else ""
    names_it = "the first row names the columns" if header else "the columns are numbered"
    return Table(
        name=file,
        data=pa.table(kept),
        description=f"Read as an Excel workbook; {names_it}.{skipped}",
        header=header,
    )


def _header_row(rows: Sequence[Sequence[str]]) -> int:
    """Find the first row that is about as wide as the table: a title above it is not."""
    width = max(sum(map(bool, row)) for row in rows[: 10 * _TITLE_ROWS])
    for at, row in enumerate(rows[:_TITLE_ROWS]):
        if sum(map(bool, row)) >= _HEADER_SHARE * width:
            return at
    return 0


def _unique(names: Sequence[str]) -> list[str]:
    unique: list[str] = []
    for number, name in enumerate(names, 1):
        plain = name.strip() or f"column {number}"
        unique.append(plain if plain not in unique else f"{plain} ({number})")
    return unique


def _text(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:  # noqa: PLR2004
        return str(int(cell))
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if hasattr(cell, "isoformat"):
        return str(cell.isoformat())
    return str(cell).strip()


FORMAT = Format(title="Excel workbooks (XLSX, XLS)", matches=_matches, read=_read)
