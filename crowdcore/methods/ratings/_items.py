"""Sums and intervals per item that several methods for ratings share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.ratings import Ratings
    from crowdcore.results.numbers import NumberEstimate


@dataclass(frozen=True, kw_only=True, eq=False)
class SortedItems:
    """The ratings of each item from the least to the greatest.

    Attributes
    ----------
    values
        Standardised ratings [L], by item and then by value.
    starts, counts
        Where each item's begin, and how many they are [N].
    """

    values: Tensor
    starts: Tensor
    counts: Tensor

    @classmethod
    def from_values(cls, ratings: Ratings, values: Tensor) -> SortedItems:
        """Sort numbers [L], one per row of the ratings, within their items."""
        by_value = values.argsort(stable=True)
        order = by_value.index_select(
            0, ratings.rows.item.index_select(0, by_value).argsort(stable=True)
        )
        counts = ratings.counts.long()
        return cls(
            values=values.index_select(0, order), starts=counts.cumsum(0) - counts, counts=counts
        )

    def at(self, rank: Tensor) -> Tensor:
        """The rating of this rank, from 0, of each item [N]; anything where there is none."""
        index = (self.starts + rank).clamp(max=len(self.values) - 1)
        return self.values.index_select(0, index)

    def median(self) -> Tensor:
        """The median of each item [N]."""
        rank = (self.counts - 1).clamp(min=0)
        return (self.at(rank // 2) + self.at((rank + 1) // 2)) / 2

    def owner(self) -> Tensor:
        """The item of each value [L]."""
        items = torch.arange(len(self.counts), device=self.values.device)
        return items.repeat_interleave(self.counts, output_size=len(self.values))


def deviation(ratings: Ratings, values: Tensor, centre: Tensor) -> Tensor:
    """The standard deviation of numbers [L] around their item's centre [N]; NaN below two."""
    squares = ratings.sum_by_item((values - ratings.of_item(centre)) ** 2)
    nan = torch.full_like(squares, torch.nan)
    return torch.where(ratings.counts > 1, (squares / (ratings.counts - 1)).sqrt(), nan)


def weighted_mean(ratings: Ratings, truth: Tensor, weight: Tensor) -> NumberEstimate:
    """Make the estimate of a method that weighs workers [W], with spreads from the residuals."""
    n = ratings.counts
    rated = ratings.of_worker(weight)
    total = ratings.sum_by_item(rated).clamp(min=1e-12)
    squares = ratings.sum_by_item((rated * (ratings.values - ratings.of_item(truth))) ** 2)
    spread = squares.sqrt() / total * (n / (n - 1).clamp(min=1)).sqrt()
    return ratings.estimate(
        unknown_where_unrated(ratings, truth),
        torch.where(n > 1, spread, torch.full_like(spread, torch.nan)),
        quantile=student_quantile(ratings),
        worker_scores={"weight": weight},
    )


def unknown_where_unrated(ratings: Ratings, truth: Tensor) -> Tensor:
    """Put NaN where nobody rated the item."""
    return torch.where(ratings.counts > 0, truth, torch.full_like(truth, torch.nan))


def student_quantile(ratings: Ratings, lost: int = 1) -> Tensor:
    """How many standard errors lie on either side of a 95 % interval of each item [N].

    Student's distribution with as many degrees of freedom as ratings, less `lost`.
    """
    from scipy.special import stdtrit

    freedom = np.maximum(ratings.data.labels_per_item - lost, 1)
    return ratings.tensor(stdtrit(freedom, 0.975), ratings.dtype)
