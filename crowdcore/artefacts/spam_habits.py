"""SpamHabits: how often workers spam, and what they give then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crowdcore.artefacts.artefact import Array, Artefact


@dataclass(frozen=True, kw_only=True, eq=False)
class SpamHabits(Artefact):
    """How often a worker labels without looking at the item, and what they give then."""

    name: ClassVar[str] = "spamming"
    share: Array  # [W] of a worker's labels that are spam
    habit: Array  # [W, K] distribution of these labels
