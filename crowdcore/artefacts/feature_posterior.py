"""FeaturePosterior: what a classifier says of labelled items without looking at their labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crowdcore.artefacts.artefact import Array, Artefact


@dataclass(frozen=True, kw_only=True, eq=False)
class FeaturePosterior(Artefact):
    """The classifier's own part in a posterior that joins features and labels."""

    name: ClassVar[str] = "classifier_alone"
    probabilities: Array  # [N, K]
