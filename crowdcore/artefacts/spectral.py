"""SpectralSpace: workers as mixtures of experts, and the oracle worker among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from crowdcore.artefacts.artefact import Array, Artefact

Origin = Literal["features", "labels"]


@dataclass(frozen=True, kw_only=True, eq=False)
class SpectralSpace(Artefact):
    """Every worker's weights on the experts, and what each way to find the oracle leads to."""

    name: ClassVar[str] = "spectral"
    workers: Array  # [W, E]
    centres: Sequence[str]  # ways to find the oracle, C of them
    used: str  # the one whose truths the result holds
    oracle: Array  # [C, E]
    truth: Array  # [C, N] class codes
    confidence: Array  # [C, N]
    origin: Origin  # whether items were known by features, or only by their labels
    bound: Array | None = None  # [E], the gate that fits the gold best
    bound_accuracy: float | None = None  # of that gate, on the gold it was fitted to: a ceiling
