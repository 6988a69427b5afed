"""Formats of annotated texts; one module per format.

A module here holds ``FORMAT``, a `TextFormat`; that is all it takes to add one.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from crowdcore.reading.labels.cleaning import Cleaning
from crowdcore.reading.sequences.annotated import AnnotatedText, Tally
from crowdcore.reading.sequences.files import TextFile


@dataclass(frozen=True, kw_only=True)
class TextFormat:
    """A way to write down who marked which spans.

    Parameters
    ----------
    title
        The name of the format, for people.
    matches
        How surely files are of this format: 1 by signs that no other has, 0 not at all. The
        surest format reads them.
    read
        Makes annotated texts of the files, or raises a `DataError`.
    """

    title: str
    matches: Callable[[Sequence[TextFile]], float]
    read: Callable[[Sequence[TextFile], Cleaning, Tally], list[AnnotatedText]]


@cache
def text_formats() -> tuple[TextFormat, ...]:
    """List every format, found by walking this folder.

    Returns
    -------
    tuple of TextFormat
    """
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return tuple(import_module(f"{__name__}.{name}").FORMAT for name in names)


def find_text_format(files: Sequence[TextFile]) -> TextFormat | None:
    """Find the format that files most surely are of.

    Parameters
    ----------
    files
        The files.

    Returns
    -------
    TextFormat or None
        None where they are no annotated texts.
    """
    scores = [(text_format.matches(files), text_format) for text_format in text_formats()]
    best_score, best = max(scores, key=lambda scored: scored[0])
    return best if best_score > 0 else None
