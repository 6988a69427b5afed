"""CATD (2014): weights that trust a worker the less, the fewer labels speak for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from crowdcore.config import GoldConfig
from crowdcore.method import method
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class ConfidenceAwareConfig(GoldConfig):
    """Settings of CATD."""

    max_iter: int = Field(
        100,
        ge=1,
        le=10_000,
        description="Maximum number of alternations between truths and weights.",
    )
    alpha: float = Field(
        0.05,
        gt=0,
        lt=1,
        description="Significance level of the interval whose lower end becomes the weight.",
    )
    cap: float = Field(
        3.0,
        ge=1,
        le=1000,
        description="Largest weight, as a multiple of the median weight of a label. Without it a "
        "worker without errors would outvote everybody.",
    )


MIN_ERRORS = 0.5
"""A worker counts as having made at least so many errors, or their weight would be infinite."""


@method(
    title="Confidence-aware truth discovery (CATD)",
    year=2014,
    paper="Li et al., doi:10.14778/2735496.2735505",
    config=ConfidenceAwareConfig,
    spreads=True,
)
def catd(labels: Labels, cfg: ConfidenceAwareConfig, run: Run) -> ClassEstimate:
    """Weigh workers by the lower end of a confidence interval of their reliability."""
    from scipy.special import gammaincinv

    from crowdcore.engine import votes

    # The lower quantile of the chi-square distribution with n_w degrees of freedom.
    freedom = np.maximum(labels.labels_per_worker, 1)
    evidence = labels.tensor(2 * gammaincinv(freedom / 2, cfg.alpha / 2), labels.dtype)
    truth, weight = votes.initial_truth(labels), evidence
    for _ in run.loop(cfg.max_iter, "Weights"):
        errors = labels.worker_counts - labels.hits(truth)
        before, weight = weight, evidence / errors.clamp(min=MIN_ERRORS)
        weight = weight.minimum(cfg.cap * _median_label_weight(labels, weight))
        truth = votes.winners(labels, labels.weighted_votes(weight))
        if run.settled((weight - before).abs().max(), 1e-9):
            break
    posterior = votes.weighted_shares(labels, labels.weighted_votes(weight))
    return ClassEstimate(posterior=posterior, worker_scores={"weight": weight})


def _median_label_weight(labels: Labels, weight: Tensor) -> Tensor:
    """The weight [1] that half of the labels reach."""
    order = weight.argsort()
    reached = labels.worker_counts.index_select(0, order).cumsum(0)
    middle = (reached < labels.n_labels / 2).sum().reshape(1)
    return weight.index_select(0, order.index_select(0, middle))
