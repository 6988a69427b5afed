"""Nested JSON that holds labels: one module per shape, chosen by structure.

A module here holds ``SHAPE``, a `Shape`; that is all it takes to add one. What no module knows
is laid out by `annotators`, which looks for people among lists and objects.
"""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

Record = Mapping[str, Any]
Row = dict[str, Any]
Rows = list[tuple[int, Row]]
"""Rows of a table, each with the number of the record that it comes from."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """How a platform nests labels in JSON.

    Parameters
    ----------
    title
        The name of the platform, as in "Laid out as …".
    matches
        Whether records are of this shape, told by some of them.
    rows
        Lays all records out as flat rows.
    order
        Shapes are asked in this order; a general one comes last.
    """

    title: str
    matches: Callable[[Sequence[Record]], bool]
    rows: Callable[[Sequence[Record]], Rows]
    order: int = 0


@cache
def shapes() -> tuple[Shape, ...]:
    """List every shape, found by walking this folder."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    found = [import_module(f"{__name__}.{name}").SHAPE for name in names]
    return tuple(sorted(found, key=lambda shape: shape.order))


def find_shape(records: Sequence[Record]) -> Shape | None:
    """Find the shape of records; None where they are flat or of no known shape."""
    some = records[:20]
    return next((shape for shape in shapes() if some and shape.matches(some)), None)


def flat(value: Mapping[str, Any], prefix: str = "", depth: int = 3) -> Row:
    """Lay a nested object out: {"a": {"b": 1}} becomes {"a.b": 1}."""
    row: Row = {}
    for key, inner in value.items():
        name = f"{prefix}{key}"
        if isinstance(inner, dict) and inner and depth > 1:
            row |= flat(inner, f"{name}.", depth - 1)
        else:
            row[name] = inner
    return row


def several(values: Sequence[Any]) -> str:
    """Write several answers into one cell."""
    return "\n".join(v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for v in values)
