"""Excel workbooks: opened so that texts stay texts, and written cell by cell."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

MAX_ROWS = 1_048_575
"""Rows of a sheet below its header; Excel has no more."""

MAX_CELL = 32_767
"""Letters of a cell; Excel has no more."""

_CUT = " … (cut)"


def new_workbook(path: Path) -> Any:
    """Open a workbook for writing, row by row; no formula, link or number is made of a text.

    Parameters
    ----------
    path
        Where to write.

    Returns
    -------
    xlsxwriter.Workbook
        To be used in a `with` statement.
    """
    import xlsxwriter

    options = {
        "constant_memory": True,
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
    }
    return xlsxwriter.Workbook(str(path), options)


def write_cell(sheet: Any, row: int, at: int, value: Any, share: Any = None) -> None:
    """Write a cell by the type of its value; None, NaN and an empty text stay empty.

    Parameters
    ----------
    sheet
        The sheet.
    row, at
        The row and the column, counted from 0.
    value
        What to write; a text that is too long for a cell is cut, and ends by saying so.
    share
        The format of numbers with decimals.
    """
    if isinstance(value, bool):
        sheet.write_boolean(row, at, value)
    elif isinstance(value, int):
        sheet.write_number(row, at, value)
    elif isinstance(value, float):
        if math.isfinite(value):
            sheet.write_number(row, at, value, share)
    elif value is not None and (text := str(value)):
        cut = text if len(text) <= MAX_CELL else text[: MAX_CELL - len(_CUT)] + _CUT
        sheet.write_string(row, at, cut)
