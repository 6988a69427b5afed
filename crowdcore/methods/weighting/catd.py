"""CATD (2014): weights that trust a worker the less, the fewer labels speak for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.method import GoldConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.run import Run


class ConfidenceAwareConfig(GoldConfig):
    """Settings of CATD."""

    max_iter: int = Field(100, ge=1, le=10_000, description="Most alternations.")
    alpha: float = Field(
        0.05,
        gt=0,
        lt=1,
        description="Significance level of the interval whose careful end becomes the weight.",
    )
    least_errors: float = Field(
        0.5,
        gt=0,
        le=10,
        description="A worker is taken to have made at least so many errors, which caps the "
        "weight: without it a single lucky label would outvote everybody.",
    )


@method(
    title="Confidence-aware truth discovery (CATD)",
    year=2014,
    paper="Li et al., doi:10.14778/2735496.2735505",
    config=ConfidenceAwareConfig,
)
def catd(labels: Labels, cfg: ConfidenceAwareConfig, run: Run) -> Estimate:
    """Weigh workers by the careful end of an interval around their error variance."""
    from scipy.special import gammaincinv

    from crowdcore.engine import votes

    # The lower quantile of the chi-square distribution with n_w degrees of freedom.
    quantile = 2 * gammaincinv(labels.data.labels_per_worker / 2, cfg.alpha / 2)
    evidence = labels.tensor(quantile, labels.dtype)
    truth, weight = votes.first(labels), evidence
    for _ in run.loop(cfg.max_iter, "Weights"):
        errors = labels.worker_counts - labels.hits(truth)
        before, weight = weight, evidence / errors.clamp(min=cfg.least_errors)
        truth = votes.winners(labels, labels.weighted_votes(weight))
        if run.settled((weight - before).abs().max(), 1e-9):
            break
    posterior = votes.shares(labels, labels.weighted_votes(weight))
    return Estimate(posterior=posterior, worker_scores={"weight": weight})
