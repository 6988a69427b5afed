"""The truths and the workers' precisions of DL-EM, given what a net says of the items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.learning.item_regressor import ItemRegressor
    from crowdcore.engine.learning.networks import Net

PRIOR_RATINGS = 2.0
"""Ratings of the usual precision that each worker is credited with, against infinite weights."""


class PrecisionEM:
    """Ratings are N(z, 1 / l_w), truths N(mu, s²) with mu from a net; z and l_w by turns.

    The variance s² of truths around the net decides how far truths follow it. Taken from the
    items that the net learns, it collapses: the net fits the truths, the truths move to the net,
    and s² goes to 0. So it is measured on held-out items, whose truths never move to the net, and
    is never below what a ridge regression leaves. A second training, with nothing held out, takes
    what the first one measured after as many epochs.

    Parameters
    ----------
    regressor : ItemRegressor
        The items, their ratings, and what a ridge regression leaves.
    held_out : Tensor
        The items that the first training does not learn from; may be none.
    """

    def __init__(self, regressor: ItemRegressor, held_out: Tensor) -> None:
        self.regressor, self.ratings = regressor, regressor.ratings
        self._held_out = held_out
        self._least = regressor.linear.truth_variance
        self._measured: list[Tensor] = []  # s² before each epoch of the first training
        self._trainings = 0

    def begin(self) -> None:
        """Forget all but the measured variances: a training begins."""
        self._epoch, self._trainings = 0, self._trainings + 1
        self.precision = torch.ones_like(self.ratings.worker_counts)
        self.truth = self.from_ratings = self.ratings.mean
        self.variance = torch.ones_like(self.ratings.mean)

    def step(self, net: Net, train_items: Tensor) -> None:
        """E step with the net as it is, then the workers' part of the M step."""
        ratings = self.ratings
        information = ratings.sum_over_items(self.precision)[0]  # [N]
        given = ratings.weigh_over_items(self.precision)
        self.from_ratings = given / information.clamp(min=1e-12)
        if self._epoch:
            told = self.regressor.predict(net)
            left = self._left_variance(told, information)
            self.variance = 1 / (information + 1 / left)
            self.truth = self.variance * (given + told / left)
        else:  # an untrained net has nothing to say
            self.variance = 1 / information.clamp(min=1e-12)
            self.truth = self.from_ratings
        self._epoch += 1
        in_training = torch.zeros_like(ratings.mean).index_fill(0, train_items, 1.0)
        used = ratings.of_item(in_training)
        residual = (ratings.values - ratings.of_item(self.truth)) ** 2
        error = ratings.sum_by_worker(used * (residual + ratings.of_item(self.variance)))
        n = ratings.sum_by_worker(used)
        usual = error.sum() / n.sum().clamp(min=1)
        self.precision = (n + PRIOR_RATINGS) / (error + PRIOR_RATINGS * usual).clamp(min=1e-12)

    def _left_variance(self, told: Tensor, information: Tensor) -> Tensor:
        """The variance s² of truths around what the net tells."""
        if self._trainings > 1 and self._measured:
            return self._measured[min(self._epoch, len(self._measured)) - 1]
        if not len(self._held_out):
            return torch.full((), self._least, dtype=told.dtype, device=told.device)
        of = self._held_out
        squares = (self.from_ratings - told).index_select(0, of) ** 2
        left = (squares - 1 / information.index_select(0, of)).mean().clamp(min=self._least)
        self._measured.append(left)
        return left
