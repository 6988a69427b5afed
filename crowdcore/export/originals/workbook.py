"""Workbooks and archives: their rows in one sheet, with columns put behind them."""

from __future__ import annotations

import re
from pathlib import Path

from crowdcore.export.originals import AddedColumns, misfit
from crowdcore.export.workbooks import MAX_ROWS, new_workbook, write_cell
from crowdcore.reading.parsing.formats import ParseOptions, find_format
from crowdcore.reading.parsing.original import Original
from crowdcore.reading.parsing.source import ZIP_MAGICS
from crowdcore.reading.parsing.table import Table

_PLAIN_NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{1,12})?")
"""Numbers that a spreadsheet shows as they stand: no zeros in front, not too long."""


def is_readable(original: Original) -> bool:
    """Tell whether a file is a workbook, or a zip of tables, whose rows fit into a sheet.

    Parameters
    ----------
    original
        The file.

    Returns
    -------
    bool
    """
    if original.item is None or len(original.item) > MAX_ROWS:
        return False
    return original.content().head.startswith(ZIP_MAGICS) and (
        _parse(original).n_rows == len(original.item)
    )


def _parse(original: Original) -> Table:
    content = original.content()
    file_format = find_format(content)
    if file_format is None:
        raise misfit(original.name, 0, 0 if original.item is None else len(original.item))
    return file_format.read(content, ParseOptions())


def write(original: Original, added: AddedColumns, path: Path) -> None:
    """Write the rows of the file with further columns, as a workbook with one sheet.

    Parameters
    ----------
    original
        The file.
    added
        What is put behind its columns.
    path
        Where to write.

    Raises
    ------
    DataError
        If the file does not hold as many rows as were read from it.
    """
    table = _parse(original)
    if table.n_rows != len(added):
        raise misfit(original.name, table.n_rows, len(added))
    columns = [table.text(name).to_pylist() for name in table.columns]
    with new_workbook(path) as book:
        sheet = book.add_worksheet("labels")
        bold = book.add_format({"bold": True})
        sheet.freeze_panes(1, 0)
        for at, name in enumerate((*table.columns, *added.names)):
            sheet.write_string(0, at, name, bold)
        for row, code in enumerate(added.code.tolist()):
            cells = [_number(column[row]) for column in columns]
            for at, cell in enumerate((*cells, *added.records[code])):
                write_cell(sheet, row + 1, at, cell)


def _number(text: str) -> str | float | int:
    """Turn a plain number into one again, as it stood in the sheet."""
    if not _PLAIN_NUMBER.fullmatch(text):
        return text
    return float(text) if "." in text else int(text)
