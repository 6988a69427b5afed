"""Tables of published papers, made again: ours beside theirs, one module per paper.

A module has a function `tables(folder, on_done)`. One that can do less work, or other work, than
usual takes the `OPTIONS` it names as further arguments.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

OnDone = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table to print, with what a reader must know to trust it."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = field(default_factory=tuple)
    figure: Any = None  # Plotly's, where a picture tells more

    def to_json(self) -> dict[str, Any]:
        """Turn the table into plain JSON values."""
        return {
            "title": self.title,
            "header": list(self.header),
            "rows": [list(row) for row in self.rows],
            "notes": list(self.notes),
        }


def names() -> list[str]:
    """List the papers whose tables can be made again.

    Returns
    -------
    list of str
        Names, as `crowdcore bench paper` takes them.
    """
    return sorted(info.name.replace("_", "-") for info in pkgutil.iter_modules(__path__))


def reproduce(name: str, folder: Path, on_done: OnDone, **options: Any) -> list[Table]:
    """Make a paper's tables again from the data sets in a folder.

    Parameters
    ----------
    name : str
        One of `names()`.
    folder : Path
        The folder with the paper's data sets.
    on_done : OnDone
        Called with a short text after each finished piece.
    **options
        Options of the paper's module; those of None are not set.

    Returns
    -------
    list of Table
        The tables, ours beside the paper's.

    Raises
    ------
    DataError
        There is no such paper, or its tables do not depend on an option.
    """
    from crowdcore.data import DataError

    if name not in names():
        raise DataError(f"There is no paper {name!r}", fix=f"There are: {', '.join(names())}.")
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    given = {option: value for option, value in options.items() if value is not None}
    if useless := sorted(given.keys() - set(getattr(module, "OPTIONS", ()))):
        raise DataError(f"The tables of {name} do not depend on {' and '.join(useless)}")
    tables: list[Table] = module.tables(folder, on_done, **given)
    return tables


def write_charts(tables: Sequence[Table], path: Path) -> None:
    """Write the figures of tables into one HTML page that loads nothing from elsewhere.

    Parameters
    ----------
    tables : sequence of Table
        Tables, some of them with a figure.
    path : Path
        Where to write the page.

    Raises
    ------
    DataError
        No table has a figure.
    """
    from crowdcore.atomic import atomic
    from crowdcore.data import DataError

    figures = [table.figure for table in tables if table.figure is not None]
    if not figures:
        raise DataError("These tables come without charts", fix="Leave --chart out.")
    fragments = [
        figure.to_html(full_html=False, include_plotlyjs=not number)
        for number, figure in enumerate(figures)
    ]
    page = '<!doctype html><meta charset="utf-8">' + "".join(fragments)
    with atomic(path) as temporary:
        temporary.write_text(page, encoding="utf-8")
