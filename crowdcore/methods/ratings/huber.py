"""Huber's estimate of each item."""

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

MAD_TO_DEVIATION = 1.4826
"""The standard deviation of normal errors over their median distance from the middle."""

MIN_SCALE = 0.1
"""The least error scale, in standard deviations of all ratings: where most ratings of most items
agree the median distance is 0, and Huber's estimate would be the median."""


class HuberConfig(RatingConfig):
    """Settings of Huber's estimate."""

    tuning: float = Field(
        1.345,
        gt=0,
        le=10,
        description="Errors beyond so many error scales count less; a large value gives the mean.",
    )
    max_iter: int = Field(30, ge=1, le=1000, description="Most rounds of weighting.")


@method(
    title="Huber's estimate",
    year=1964,
    paper="doi:10.1214/aoms/1177703732",
    config=HuberConfig,
    needs=Needs(kinds=frozenset({"ratings"})),
)
def huber(ratings: Ratings, cfg: HuberConfig, run: Run) -> NumberEstimate:
    """Average the ratings of each item, with less weight on those far from the others."""
    import torch

    from crowdcore.methods.ratings import _items

    truth = _items.SortedItems.from_values(ratings, ratings.values).median()
    scale = MAD_TO_DEVIATION * (ratings.values - ratings.of_item(truth)).abs().median()
    bound = cfg.tuning * scale.clamp(min=MIN_SCALE)
    for _ in run.loop(cfg.max_iter, "Rounds"):
        weight = (bound / (ratings.values - ratings.of_item(truth)).abs().clamp(min=1e-12)).clamp(
            max=1
        )
        total = ratings.sum_by_item(weight).clamp(min=1e-12)
        before, truth = truth, ratings.sum_by_item(weight * ratings.values) / total
        if run.settled((truth - before).abs().max(), 1e-10):
            break
    error = ratings.values - ratings.of_item(truth)
    influence = torch.minimum(torch.maximum(error, -bound), bound)
    inside = ratings.sum_by_item((error.abs() <= bound).to(ratings.dtype))
    n = ratings.counts
    # The usual sandwich: variance of the influence over the squared share of full weights.
    variance = ratings.sum_by_item(influence**2) / (n - 1).clamp(min=1)
    spread = (variance * n).sqrt() / inside.clamp(min=1)
    return ratings.estimate(
        _items.unknown_where_unrated(ratings, truth),
        torch.where(n > 1, spread, torch.full_like(spread, torch.nan)),
        quantile=_items.student_quantile(ratings),
    )
