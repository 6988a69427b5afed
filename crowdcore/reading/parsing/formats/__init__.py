"""File formats that hold a table; one module per format.

A module here holds ``FORMAT``, a `Format`; that is all it takes to add one.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from crowdcore.reading.parsing.source import Content
from crowdcore.reading.parsing.table import Table


@dataclass(frozen=True, kw_only=True)
class ParseOptions:
    """What a user may say about a file.

    Parameters
    ----------
    header
        Whether the first line names the columns; None lets the reader decide.
    """

    header: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Format:
    """A kind of file that holds a table.

    Parameters
    ----------
    title
        The name of the format, for people.
    matches
        How surely a file is of this format: 1 by its magic bytes, about 0.5 by its looks, 0 not
        at all. The surest format reads the file.
    read
        Makes a table of the file, or raises a `DataError`.
    """

    title: str
    matches: Callable[[Content], float]
    read: Callable[[Content, ParseOptions], Table]


@cache
def formats() -> tuple[Format, ...]:
    """List every format, found by walking this folder.

    Returns
    -------
    tuple of Format
    """
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return tuple(import_module(f"{__name__}.{name}").FORMAT for name in names)


def find_format(content: Content) -> Format | None:
    """Find the format that a file most surely is of.

    Parameters
    ----------
    content
        The file.

    Returns
    -------
    Format or None
        None where no format matches, as for a picture.
    """
    scores = [(file_format.matches(content), file_format) for file_format in formats()]
    best_score, best = max(scores, key=lambda scored: scored[0])
    return best if best_score > 0 else None
