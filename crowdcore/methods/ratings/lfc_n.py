"""LFC-N (2010): Gaussian ratings with a precision per worker."""

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

MIN_VARIANCE = 1e-6
"""The least variance of a worker, of all ratings' variance: the likelihood has no bound at a
worker whose ratings are the truths."""


class GaussianPrecisionConfig(RatingConfig):
    """Settings of LFC-N."""

    max_iter: int = Field(
        100, ge=1, le=10_000, description="Most alternations between truths and precisions."
    )


@method(
    title="LFC-N",
    year=2010,
    paper="Raykar et al., JMLR 11; as LFC_N in Zheng et al., doi:10.14778/3055540.3055547",
    config=GaussianPrecisionConfig,
    needs=Needs(kinds=frozenset({"ratings"})),
)
def lfc_n(ratings: Ratings, cfg: GaussianPrecisionConfig, run: Run) -> NumberEstimate:
    """Weigh workers by the inverse of their squared distance from the truths."""
    import torch

    from crowdcore.methods.ratings import _items

    _, squares = ratings.worker_sums
    n = ratings.worker_counts.clamp(min=1)
    truth, precision = ratings.mean, torch.ones_like(n)
    information = ratings.counts.clamp(min=1)
    for _ in run.loop(cfg.max_iter, "Rounds"):
        product = ratings.weigh_over_workers(truth)
        error = squares - 2 * product + ratings.sum_over_workers(truth**2)[0]
        precision = 1 / (error / n).clamp(min=MIN_VARIANCE)
        information = ratings.sum_over_items(precision)[0].clamp(min=1e-12)
        weighted = ratings.weigh_over_items(precision)
        before, truth = truth, weighted / information
        if run.settled((truth - before).abs().max(), 1e-10):
            break
    return ratings.estimate(
        _items.unknown_where_unrated(ratings, truth),
        torch.where(ratings.counts > 0, information**-0.5, torch.nan),
        worker_scores={"noise": ratings.unit * precision**-0.5},
        notes=("Its intervals take the workers' precisions for known, and are too narrow.",),
    )
