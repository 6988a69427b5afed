"""Tables of published papers, made again: ours beside theirs, one module a paper."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crowdcore.data import DataError

Told = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table to print, with what a reader must know to trust it."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = field(default_factory=tuple)

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


def reproduce(name: str, folder: Path, told: Told) -> list[Table]:
    """Make a paper's tables again from the data sets in a folder."""
    if name not in names():
        raise DataError(f"There is no paper {name!r}", fix=f"There are: {', '.join(names())}.")
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    tables: list[Table] = module.tables(folder, told)
    return tables
