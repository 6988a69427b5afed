"""Candidates: methods that known answers choose among."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from crowdcore.artefacts.artefact import Array, Artefact


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidates(Artefact):
    """What C methods say of N items, and how A known answers weigh the methods."""

    name: ClassVar[str] = "candidates"
    names: Sequence[str]  # ids of the methods, the default first
    titles: Sequence[str]
    truths: Array  # [C, N] class codes
    weights: Array  # [C]
    answered: Array  # [A] codes of the items whose answers are known; none if too few to choose
    right: Array  # [A] whether the truth chosen by all other answers agrees with this one
    pooled: Array  # [A, K] what the methods say of these items, pooled by all other answers
    changed: Array  # [N] whether the answers changed the truth
    left_out: Sequence[str] = ()  # sentences on methods that could not be candidates
