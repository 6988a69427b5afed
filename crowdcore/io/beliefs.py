"""What an earlier run believed, read back from the truths.csv that it wrote."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crowdcore.data import DataError
from crowdcore.io.table import open_table
from crowdcore.result import Beliefs

PREFIX = "p:"


def read_beliefs(folder: Path) -> Beliefs:
    """Read the beliefs that `crowdcore run --out FOLDER` left, for a later fit to begin from."""
    path = folder / "truths.csv"
    if not path.is_file():
        raise DataError(
            f"There is no truths.csv in {str(folder)!r}",
            fix="Give the folder that an earlier `crowdcore run --out` wrote.",
        )
    table = open_table(path)
    columns = [name for name in table.columns if _plain(name).startswith(PREFIX)]
    if "item" not in table.columns or not columns:
        raise DataError("It has no column item, or no p: columns", file=str(path))
    coded = table.coded("item")
    items = [_plain(coded.names[code]) for code in coded.codes.tolist()]
    try:
        rows = [
            np.array(table.coded(name).names, float)[table.coded(name).codes] for name in columns
        ]
    except ValueError:
        raise DataError("A probability is not a number", file=str(path)) from None
    classes = tuple(_plain(name).removeprefix(PREFIX) for name in columns)
    return Beliefs(items=tuple(items), classes=classes, posterior=np.stack(rows, axis=1))


def _plain(text: str) -> str:
    """Take off the mark that keeps a spreadsheet from computing a cell."""
    return text[1:] if text.startswith("'") and text[1:2] in set("=+-@＝＋－＠\t\r\n") else text
