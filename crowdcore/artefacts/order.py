"""Order: how sure the order of compared items is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from crowdcore.artefacts.artefact import Array, Artefact

if TYPE_CHECKING:
    from crowdcore.data import Floats

N_DRAWS = 2000
"""Orders that are drawn to see where an item may rank."""

MAX_DRAWN_NUMBERS = 1_000_000
"""Numbers drawn at most: with many items there are fewer orders."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Order(Artefact):
    """Where items may rank, 1 being the best, and how scores hang together."""

    name: ClassVar[str] = "order"
    rank_low: Array  # [N] the best rank within the 95 % interval
    rank_high: Array  # [N] the worst one
    best: Array  # [N] the probability of being the best of all
    covariance: Array  # [N, N] of the scores
    tie: float  # the weight of ties beside wins between equals

    @classmethod
    def from_normal(
        cls, scores: Floats, covariance: Floats, tie: float, rng: np.random.Generator
    ) -> Order:
        """Draw orders from normally distributed scores.

        Parameters
        ----------
        scores, covariance
            Their means [N] and covariance [N, N], which need not have full rank.
        tie
            The weight of ties.
        rng
            From which draws come.

        Returns
        -------
        Order
        """
        values, vectors = np.linalg.eigh(covariance)
        root = vectors * np.sqrt(np.maximum(values, 0))
        draws = max(200, min(N_DRAWS, MAX_DRAWN_NUMBERS // len(scores)))
        drawn = scores + rng.standard_normal((draws, len(scores))) @ root.T
        ranks = drawn.shape[1] - drawn.argsort(1).argsort(1)
        low, high = np.quantile(ranks, [0.025, 0.975], axis=0, method="inverted_cdf")
        return cls(
            rank_low=low.astype(np.int32),
            rank_high=high.astype(np.int32),
            best=(ranks == 1).mean(0),
            covariance=covariance.astype(np.float32),
            tie=float(tie),
        )
