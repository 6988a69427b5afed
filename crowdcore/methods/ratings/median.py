"""The median rating of each item."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdcore.config import RatingConfig
from crowdcore.method import method
from crowdcore.needs import Needs

if TYPE_CHECKING:
    from crowdcore.engine.ratings import Ratings
    from crowdcore.results.numbers import NumberEstimate
    from crowdcore.run import Run

NORMAL_EFFICIENCY = 1.2533141373155001
"""How much wider than a mean's the standard error of a median is, where errors are normal."""


class MedianConfig(RatingConfig):
    """Settings of the median."""


@method(
    title="Median rating",
    year=1818,
    paper="Laplace; as MEDIAN in Zheng et al., doi:10.14778/3055540.3055547",
    config=MedianConfig,
    needs=Needs(kinds=frozenset({"ratings"})),
)
def median(ratings: Ratings, cfg: MedianConfig, run: Run) -> NumberEstimate:
    """Take the middle rating of each item, which a single wild rating cannot move far."""
    from crowdcore.methods.ratings import _items

    middle = _items.SortedItems.from_values(ratings, ratings.values).median()
    deviation = _items.deviation(ratings, ratings.values, ratings.mean)
    return ratings.estimate(
        _items.unknown_where_unrated(ratings, middle),
        NORMAL_EFFICIENCY * deviation / ratings.counts.sqrt(),
        quantile=_items.student_quantile(ratings),
    )
