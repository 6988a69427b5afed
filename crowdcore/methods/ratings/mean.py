"""The mean rating of each item."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdcore.config import RatingConfig
from crowdcore.method import method
from crowdcore.needs import Needs

if TYPE_CHECKING:
    from crowdcore.engine.ratings import Ratings
    from crowdcore.results.numbers import NumberEstimate
    from crowdcore.run import Run


class MeanConfig(RatingConfig):
    """Settings of the mean."""


@method(
    title="Mean rating",
    year=1801,
    paper="Gauss and others; as MEAN in Zheng et al., doi:10.14778/3055540.3055547",
    config=MeanConfig,
    needs=Needs(kinds=frozenset({"ratings"})),
    spreads=True,
)
def mean(ratings: Ratings, cfg: MeanConfig, run: Run) -> NumberEstimate:
    """Average the ratings of each item; all workers count the same."""
    from crowdcore.methods.ratings import _items

    spread = _items.deviation(ratings, ratings.values, ratings.mean) / ratings.counts.sqrt()
    return ratings.estimate(
        _items.unknown_where_unrated(ratings, ratings.mean),
        spread,
        quantile=_items.student_quantile(ratings),
    )
