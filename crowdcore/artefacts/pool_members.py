"""PoolMembers: the methods that a pool is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from crowdcore.artefacts.artefact import Array, Artefact


@dataclass(frozen=True, kw_only=True, eq=False)
class PoolMembers(Artefact):
    """The M methods of a pool, their weights, and how far they agree."""

    name: ClassVar[str] = "members"
    names: Sequence[str]  # ids of the methods
    titles: Sequence[str]
    weights: Array | None = None  # [M]; None in results of early versions
    votes: int | None = None  # weight of the votes themselves
    skipped: Sequence[str] = ()  # ids of methods for which there was no time
    agreement: Array  # [M, 1 + M] share of items with the same truth: the pool's, each member's
