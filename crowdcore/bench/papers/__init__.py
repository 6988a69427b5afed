"""Tables of published papers, made again: ours beside theirs, one module a paper.

A module has a function `tables(folder, told)`. One that can do less work, or other work, than
usual takes the `OPTIONS` it names as further arguments.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Told = Callable[[str], None]


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
    """The papers that can be made again."""
    return sorted(info.name.replace("_", "-") for info in pkgutil.iter_modules(__path__))


def reproduce(name: str, folder: Path, told: Told, **options: Any) -> list[Table]:
    """Make a paper's tables again from the data sets in a folder; options of None are not set."""
    from crowdcore.data import DataError

    if name not in names():
        raise DataError(f"There is no paper {name!r}", fix=f"There are: {', '.join(names())}.")
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    given = {option: value for option, value in options.items() if value is not None}
    if useless := sorted(given.keys() - set(getattr(module, "OPTIONS", ()))):
        raise DataError(f"The tables of {name} do not depend on {' and '.join(useless)}")
    tables: list[Table] = module.tables(folder, told, **given)
    return tables


def write_charts(tables: Sequence[Table], path: Path) -> None:
    """Write the figures of tables into one page that needs nothing from elsewhere."""
    from crowdcore.data import DataError
    from crowdcore.io.atomic import atomic

    figures = [table.figure for table in tables if table.figure is not None]
    if not figures:
        raise DataError("These tables come without charts", fix="Leave --chart out.")
    parts = [
        figure.to_html(full_html=False, include_plotlyjs=not place)
        for place, figure in enumerate(figures)
    ]
    page = '<!doctype html><meta charset="utf-8">' + "".join(parts)
    with atomic(path) as temporary:
        temporary.write_text(page, encoding="utf-8")
