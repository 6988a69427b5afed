"""PM, also called CRH (2014), for ratings: weights from the logarithm of workers' losses."""

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


class ConflictResolutionConfig(RatingConfig):
    """Settings of PM for ratings."""

    max_iter: int = Field(
        100, ge=1, le=10_000, description="Most alternations between truths and weights."
    )


@method(
    title="Conflict resolution (PM, CRH)",
    year=2014,
    paper="Li et al., doi:10.1145/2588555.2610509",
    config=ConflictResolutionConfig,
    needs=Needs(kinds=frozenset({"ratings"})),
)
def pm(ratings: Ratings, cfg: ConflictResolutionConfig, run: Run) -> NumberEstimate:
    """Weigh each worker by minus the logarithm of their share of the largest loss."""
    import torch

    from crowdcore.methods.ratings import _items

    deviation = _items.deviation(ratings, ratings.values, ratings.mean)
    usual = torch.nan_to_num(deviation, nan=1.0).clamp(min=MIN_ERROR**0.5)
    truth, weight = ratings.mean, torch.ones_like(ratings.worker_counts)
    for _ in run.loop(cfg.max_iter, "Weights"):
        error = (ratings.values - ratings.of_item(truth)) ** 2 / ratings.of_item(usual)
        loss = ratings.sum_by_worker(error).clamp(min=MIN_ERROR)
        weight = 1e-7 - (loss / loss.max()).log()
        total = ratings.sum_over_items(weight)[0].clamp(min=1e-12)
        before, truth = truth, ratings.weigh_over_items(weight) / total
        if run.settled((truth - before).abs().max(), 1e-10):
            break
    return _items.weighted_mean(ratings, truth, weight)
