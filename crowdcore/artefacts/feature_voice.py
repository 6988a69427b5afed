"""FeatureVoice: how much features of the items told a pool beyond the labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from crowdcore.artefacts.artefact import Array, Artefact


@dataclass(frozen=True, kw_only=True, eq=False)
class FeatureVoice(Artefact):
    """What M learners foretold of H labels that were held out, and what became of it.

    Gains are in nats per label, against what the other votes of the item and the habits of the
    worker foretell.
    """

    name: ClassVar[str] = "feature_voice"
    names: Sequence[str]  # ids of the learners that were tried
    titles: Sequence[str]
    gains: Array  # [M]
    errors: Array  # [M] standard errors of the gains
    speaks: Array  # [M] which learners have a voice in the pool
    n_held_out: int  # H
    gain: float = 0.0  # of those that speak, together
    label_weight: float = 1.0  # the power of the pool's probabilities
    feature_weight: float = 0.0  # the power of what learners say
    truth: Array | None = None  # [N] of the pool with features; None where nothing speaks
    confidence: Array | None = None  # [N] of these truths, by mapped probabilities and features
    by_labels: Array | None = None  # [N] mapped confidence of the pool's truths without features
    changed: Array | None = None  # [N] whether features changed the truth
    left_out: Sequence[str] = ()  # a sentence on learners that there was no time for

    @property
    def is_heard(self) -> bool:
        """Whether any learner has a voice in the pool."""
        return self.truth is not None
