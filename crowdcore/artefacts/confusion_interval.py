"""ConfusionInterval: how sure a method is of workers' confusion matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crowdcore.artefacts.artefact import Array, Artefact


@dataclass(frozen=True, kw_only=True, eq=False)
class ConfusionInterval(Artefact):
    """The ends of an interval for every cell of every worker's confusion matrix."""

    name: ClassVar[str] = "confusion_interval"
    low: Array  # [W, true, given]
    high: Array  # [W, true, given]
