"""Exports of labelling platforms, recognised by their headers; one file a platform.

A file here holds PLATFORMS, a tuple of Platform; that is all it takes to add one.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crowdcore.io.glance import Glance
    from crowdcore.io.roles import Guess


@dataclass(frozen=True, kw_only=True)
class Platform:
    """What a platform's export looks like, and which of its columns say what."""

    title: str  # as in "The headers are those of …"
    headers: tuple[str, ...]  # all of them must be there
    roles: Callable[[Glance], Guess] | None = None
    refusal: str = ""  # what to do instead, where such a file cannot be read
    rejected: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # column -> values
    unwrap: Callable[[str], str] | None = None  # the label inside a cell
    wrapped: str = ""  # the column whose cells are unwrapped


@cache
def platforms() -> tuple[Platform, ...]:
    """Every platform, found by walking this folder."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    found = [import_module(f"{__name__}.{name}").PLATFORMS for name in names]
    return tuple(platform for group in found for platform in group)


def find_platform(columns: Sequence[str]) -> Platform | None:
    """The platform that these headers belong to, if any."""
    there = set(columns)
    return next((one for one in platforms() if there.issuperset(one.headers)), None)
