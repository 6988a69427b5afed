"""Exports of labelling platforms, recognised by their headers; one module per platform.

A module here holds ``PLATFORMS``, a tuple of `Platform`; that is all it takes to add one.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module

from crowdcore.reading.parsing.table import Table


@dataclass(frozen=True, kw_only=True)
class Hints:
    """What a platform's headers say about its columns; what they leave open is found by values.

    Parameters
    ----------
    worker
        The column of workers.
    items
        What may name the items, the usual first: each a tuple of columns.
    answers
        The columns that hold answers; empty where any other column may.
    gold
        For answers the column of their known answers.
    time, started, duration
        When the answer was sent in, when work began, and how many seconds it took.
    details
        Columns that describe the item.
    """

    worker: str | None = None
    items: tuple[tuple[str, ...], ...] = ()
    answers: tuple[str, ...] = ()
    gold: Mapping[str, str] = field(default_factory=dict)
    time: str | None = None
    started: str | None = None
    duration: str | None = None
    details: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Platform:
    """What a platform's export looks like, and which of its columns say what.

    Parameters
    ----------
    title
        The name of the platform, as in "The headers are those of …".
    headers
        Columns that are all there in such an export; one that ends in a star stands for any
        column that begins so.
    without
        Columns that are not there.
    hints
        Says what the columns are; None where such a file cannot be read.
    seems, refusal
        What such a file is, and what to do instead, where it cannot be read.
    rejected
        For columns that mark refused work, the values that mean so.
    tests
        For columns that mark questions with known answers, the values that mean so; empty where
        any text does.
    derive
        Takes answers out of cells that wrap them, before anything else is looked at.
    """

    title: str
    headers: tuple[str, ...]
    without: tuple[str, ...] = ()
    hints: Callable[[Sequence[str]], Hints] | None = None
    seems: str = ""
    refusal: str = ""
    rejected: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tests: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    derive: Callable[[Table], Table] | None = None

    def matches(self, columns: Sequence[str]) -> bool:
        """Tell whether a table with these columns is such an export."""
        return all(_has(columns, header) for header in self.headers) and not any(
            _has(columns, header) for header in self.without
        )


def _has(columns: Sequence[str], header: str) -> bool:
    if header.endswith("*"):
        return any(column.startswith(header[:-1]) for column in columns)
    return header in columns


@cache
def platforms() -> tuple[Platform, ...]:
    """List every platform, found by walking this folder.

    Returns
    -------
    tuple of Platform
    """
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = [import_module(f"{__name__}.{name}") for name in names]
    return tuple(platform for module in modules for platform in module.PLATFORMS)


def find_platform(columns: Sequence[str]) -> Platform | None:
    """Find the platform that these headers belong to.

    Parameters
    ----------
    columns
        The names of a table's columns.

    Returns
    -------
    Platform or None
    """
    return next((platform for platform in platforms() if platform.matches(columns)), None)
