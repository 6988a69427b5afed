"""EpochTruths: what a network said of the items while it was trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crowdcore.artefacts.artefact import Array, Artefact


@dataclass(frozen=True, kw_only=True, eq=False)
class EpochTruths(Artefact):
    """The truths after every epoch of a training."""

    name: ClassVar[str] = "epochs"
    truth: Array  # [epochs, N] class codes
