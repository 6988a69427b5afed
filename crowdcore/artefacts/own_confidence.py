"""OwnConfidence: how sure a method was before its probabilities were mapped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crowdcore.artefacts.artefact import Array, Artefact


@dataclass(frozen=True, kw_only=True, eq=False)
class OwnConfidence(Artefact):
    """The method's own probability of each truth, and what other crowds make of it."""

    name: ClassVar[str] = "own_confidence"
    confidence: Array  # [N]
    mapped: Array  # [N] before known answers moved it
