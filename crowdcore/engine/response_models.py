"""A label is right with a logistic of worker and item: E step and objective of the M step.

A point [W + N] holds the abilities of the workers, then one number per item. `GladResponse`
multiplies ability with easiness, whose log the number is; `RaschResponse` subtracts the number,
a difficulty, from ability (Rasch's model, also called 1PL).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch.nn.functional import softplus

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.given_classes import GivenClasses

PRIOR_MEAN = 1.0
"""The prior mean of an ability and of a log easiness; both have unit variance."""

MAX_LOG_EASINESS = 20.0
"""Log easiness beyond which nothing changes any more, and exp would overflow."""


class GladResponse:
    """The logit is ability times easiness."""

    @staticmethod
    def item_value(number: Tensor) -> Tensor:
        """Easiness, from its log."""
        return number.clamp(-MAX_LOG_EASINESS, MAX_LOG_EASINESS).exp()

    @staticmethod
    def logit(ability: Tensor, item: Tensor, n: Tensor | float = 1.0) -> Tensor:
        """The sum of the logits of n labels on an item, from the sum of their abilities."""
        return ability * item

    @staticmethod
    def derivatives(logit: Tensor, item: Tensor) -> tuple[Tensor, Tensor]:
        """Of a logit by ability, and by the item's number."""
        return item, logit


class RaschResponse:
    """The logit is ability minus difficulty."""

    @staticmethod
    def item_value(number: Tensor) -> Tensor:
        """Difficulty, as it is."""
        return number

    @staticmethod
    def logit(ability: Tensor, item: Tensor, n: Tensor | float = 1.0) -> Tensor:
        """The sum of the logits of n labels on an item, from the sum of their abilities."""
        return ability - n * item

    @staticmethod
    def derivatives(logit: Tensor, item: Tensor) -> tuple[Tensor, Tensor]:
        """Of a logit by ability, and by the item's number."""
        ones = torch.ones_like(logit)
        return ones, -ones


Model = type[GladResponse] | type[RaschResponse]


def split_point(
    cells: GivenClasses, point: Tensor, model: Model = GladResponse
) -> tuple[Tensor, Tensor]:
    """Split a point [W + N] into abilities [W], and easiness or difficulty [N]."""
    labels = cells.labels
    ability, number = torch.split(point, [labels.n_workers, labels.n_items])
    return ability, model.item_value(number)


def e_step(
    cells: GivenClasses, point: Tensor, model: Model = GladResponse
) -> tuple[Tensor, Tensor]:
    """Infer the items' classes from abilities, and easiness or difficulty.

    Parameters
    ----------
    cells : GivenClasses
        The classes that somebody gave.
    point : Tensor [W + N]
        Abilities, and the items' numbers.
    model : GladResponse or RaschResponse
        How the two make a logit.

    Returns
    -------
    given : Tensor [C, 1]
        Probabilities of the cells' classes.
    unseen : Tensor [N, 1]
        Probability of any one class that nobody gave.
    """
    ability, item = split_point(cells, point, model)
    log_wrong_classes = math.log(max(1, cells.labels.n_classes - 1))
    table = ability.repeat_interleave(cells.labels.n_classes).unsqueeze(1)
    counts = cells.counts.unsqueeze(1)
    item = item.index_select(0, cells.item).unsqueeze(1)
    scores = model.logit(cells.sum_by_cell(table), item, counts) + log_wrong_classes * counts
    given, unseen, _ = cells.normalise(scores)
    return given, unseen


class MStepObjective:
    """Minus the expected log-likelihood, given the cells' probabilities, and its gradient.

    One pass over the labels gives both.

    Parameters
    ----------
    cells : GivenClasses
        The classes that somebody gave.
    given : Tensor [C, 1]
        Probabilities of the cells' classes.
    prior_strength : float
        Weight of the normal prior; 0 for none.
    model : GladResponse or RaschResponse
        How ability and the item's number make a logit.
    item_mean : float
        Prior mean of the items' numbers.
    """

    def __init__(
        self,
        cells: GivenClasses,
        given: Tensor,
        prior_strength: float,
        *,
        model: Model = GladResponse,
        item_mean: float = PRIOR_MEAN,
    ) -> None:
        self.cells, self.prior_strength, self.model = cells, prior_strength, model
        abilities = torch.full_like(cells.labels.worker_counts, PRIOR_MEAN)
        self.mean = torch.cat([abilities, torch.full_like(cells.labels.counts, item_mean)])
        self.right = given.squeeze(1).index_select(0, cells.label_cell)  # [L]
        log_wrong_classes = math.log(max(1, cells.labels.n_classes - 1))
        self.constant = log_wrong_classes * (1 - self.right).sum(dtype=torch.float64)

    def dot(self, one: Tensor, other: Tensor) -> Tensor:
        """The inner product of two points; items of all parts count, and workers once."""
        parts, n_workers = self.cells.labels.parts, self.cells.labels.n_workers
        if parts.n == 1:
            return one @ other
        own = one[n_workers:] @ other[n_workers:]
        return one[:n_workers] @ other[:n_workers] + parts.sum(own).to(one.dtype)

    def __call__(self, point: Tensor) -> tuple[Tensor, Tensor]:
        """The value and the gradient [W + N] at a point [W + N]."""
        logit, by_ability, by_item = self._logits(point)
        value = softplus(logit).sub_(self.right * logit).sum(dtype=torch.float64) + self.constant
        value = self.cells.labels.parts.sum(value)
        residual = logit.sigmoid().sub_(self.right)
        gradient = self._sum_by_parameter(residual * by_ability, residual * by_item)
        deviation = point - self.mean
        value = value + 0.5 * self.prior_strength * self.dot(deviation, deviation)
        return value, gradient.to(point.dtype) + self.prior_strength * deviation

    def curvature(self, point: Tensor) -> Tensor:
        """A guess of the second derivatives [W + N]: those of a least-squares fit, and the prior's.

        It counts the prior even where that has no weight, against endless steps.
        """
        logit, by_ability, by_item = self._logits(point)
        variance = logit.sigmoid()
        variance = variance * (1 - variance)
        squares = self._sum_by_parameter(
            variance * by_ability.square(), variance * by_item.square()
        )
        return 1 + squares.to(point.dtype)

    def _logits(self, point: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Every label's logit [L], and its derivatives by the worker's and the item's number."""
        ability, item = split_point(self.cells, point, self.model)
        item = item.index_select(0, self.cells.label_item)
        logit = self.model.logit(ability.index_select(0, self.cells.label_worker), item)
        return logit, *self.model.derivatives(logit, item)

    def _sum_by_parameter(self, for_worker: Tensor, for_item: Tensor) -> Tensor:
        """Add numbers of labels [L] up by worker, and others by item -> [W + N], in float64."""
        labels, cells = self.cells.labels, self.cells
        workers = torch.zeros(labels.n_workers, dtype=torch.float64, device=labels.device)
        workers = labels.parts.sum(workers.index_add_(0, cells.label_worker, for_worker.double()))
        items = torch.zeros(labels.n_items, dtype=torch.float64, device=labels.device)
        return torch.cat([workers, items.index_add_(0, cells.label_item, for_item.double())])
