"""CATD (2014) for ratings: weights that trust a worker the less, the fewer ratings they gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.config import RatingConfig
from crowdcore.method import method
from crowdcore.needs import Needs

if TYPE_CHECKING:
    from crowdcore.engine.ratings import Ratings
    from crowdcore.results.numbers import NumberEstimate
    from crowdcore.run import Run

MIN_ERROR = 1e-6
"""The least squared error per rating, of all ratings' variance, or a weight would be infinite."""


class ConfidenceAwareConfig(RatingConfig):
    """Settings of CATD for ratings."""

    max_iter: int = Field(
        100, ge=1, le=10_000, description="Most alternations between truths and weights."
    )
    alpha: float = Field(
        0.05,
        gt=0,
        lt=1,
        description="Significance level of the interval whose lower end becomes the weight.",
    )


@method(
    title="Confidence-aware truth discovery (CATD)",
    year=2014,
    paper="Li et al., doi:10.14778/2735496.2735505",
    config=ConfidenceAwareConfig,
    needs=Needs(kinds=frozenset({"ratings"})),
)
def catd(ratings: Ratings, cfg: ConfidenceAwareConfig, run: Run) -> NumberEstimate:
    """Weigh workers by the lower end of a confidence interval of their precision."""
    import numpy as np
    import torch
    from scipy.special import gammaincinv

    from crowdcore.methods.ratings import _items

    n = np.maximum(ratings.data.labels_per_worker, 1)
    evidence = ratings.tensor(2 * gammaincinv(n / 2, cfg.alpha / 2), ratings.dtype)
    _, squares = ratings.worker_sums
    truth, weight = ratings.mean, torch.ones_like(evidence)
    for _ in run.loop(cfg.max_iter, "Weights"):
        product = ratings.weigh_over_workers(truth)
        error = squares - 2 * product + ratings.sum_over_workers(truth**2)[0]
        weight = evidence / torch.maximum(error, MIN_ERROR * ratings.worker_counts.clamp(min=1))
        total = ratings.sum_over_items(weight)[0].clamp(min=1e-12)
        before, truth = truth, ratings.weigh_over_items(weight) / total
        if run.settled((truth - before).abs().max(), 1e-10):
            break
    return _items.weighted_mean(ratings, truth, weight)
