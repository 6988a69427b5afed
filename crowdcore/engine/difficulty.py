"""A label is right with a logistic of worker and item: E step and goal of the M step.

A point [W + N] holds the abilities of the workers, then a number an item. `Times` multiplies
ability with easiness, whose log the number is (GLAD); `Less` takes the number, a difficulty,
away from ability (Rasch's model, also called 1PL).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch.nn.functional import softplus

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.cells import Cells

MEAN = 1.0
"""The prior mean of an ability and of a log easiness; both have unit variance."""

STEEPEST = 20.0
"""Log easiness beyond which nothing changes any more, and exp would overflow."""


class Times:
    """The logit is ability times easiness."""

    @staticmethod
    def of_item(number: Tensor) -> Tensor:
        """Easiness, from its log."""
        return number.clamp(-STEEPEST, STEEPEST).exp()

    @staticmethod
    def logit(ability: Tensor, item: Tensor, n: Tensor | float = 1.0) -> Tensor:
        """The sum of the logits of n labels on an item, from the sum of their abilities."""
        return ability * item

    @staticmethod
    def slopes(logit: Tensor, item: Tensor) -> tuple[Tensor, Tensor]:
        """How a logit changes with ability, and with the item's number."""
        return item, logit


class Less:
    """The logit is ability less difficulty."""

    @staticmethod
    def of_item(number: Tensor) -> Tensor:
        """Difficulty, as it is."""
        return number

    @staticmethod
    def logit(ability: Tensor, item: Tensor, n: Tensor | float = 1.0) -> Tensor:
        """The sum of the logits of n labels on an item, from the sum of their abilities."""
        return ability - n * item

    @staticmethod
    def slopes(logit: Tensor, item: Tensor) -> tuple[Tensor, Tensor]:
        """How a logit changes with ability, and with the item's number."""
        one = torch.ones_like(logit)
        return one, -one


Model = type[Times] | type[Less]


def split(cells: Cells, point: Tensor, model: Model = Times) -> tuple[Tensor, Tensor]:
    """Abilities [W], and easiness or difficulty [N]."""
    labels = cells.labels
    ability, number = torch.split(point, [labels.n_workers, labels.n_items])
    return ability, model.of_item(number)


def e_step(cells: Cells, point: Tensor, model: Model = Times) -> tuple[Tensor, Tensor]:
    """The probabilities of the cells [C, 1], and of a class that nobody gave [N, 1]."""
    ability, item = split(cells, point, model)
    others = math.log(max(1, cells.labels.n_classes - 1))
    table = ability.repeat_interleave(cells.labels.n_classes).unsqueeze(1)
    counts = cells.counts.unsqueeze(1)
    item = item.index_select(0, cells.item).unsqueeze(1)
    scores = model.logit(cells.add_keys(table), item, counts) + others * counts
    cell, rest, _ = cells.normalise(scores)
    return cell, rest


class Goal:
    """Minus the expected log-likelihood, given the cells' probabilities [C, 1], and its slope.

    `hold` is the strength of the prior. One pass over the labels gives both.
    """

    def __init__(
        self, cells: Cells, cell: Tensor, hold: float, *, model: Model = Times, mean: float = MEAN
    ) -> None:
        self.cells, self.hold, self.model = cells, hold, model
        abilities = torch.full_like(cells.labels.worker_counts, MEAN)
        self.mean = torch.cat([abilities, torch.full_like(cells.labels.counts, mean)])
        self.right = cell.squeeze(1).index_select(0, cells.label_cell)  # [L]
        others = math.log(max(1, cells.labels.n_classes - 1))
        self.constant = others * (1 - self.right).sum(dtype=torch.float64)

    def __call__(self, point: Tensor) -> tuple[Tensor, Tensor]:
        """The value and the gradient [W + N]."""
        logit, by_ability, by_item = self._logits(point)
        value = softplus(logit).sub_(self.right * logit).sum(dtype=torch.float64) + self.constant
        missed = logit.sigmoid().sub_(self.right)
        slope = self._add(missed * by_ability, missed * by_item).to(point.dtype)
        away = point - self.mean
        return value + 0.5 * self.hold * (away @ away), slope + self.hold * away

    def curvature(self, point: Tensor) -> Tensor:
        """A guess of the second derivatives [W + N]: those of a least-squares fit, and the prior's.

        It counts the prior even where that does not hold, against endless steps.
        """
        logit, by_ability, by_item = self._logits(point)
        unsure = logit.sigmoid()
        unsure = unsure * (1 - unsure)
        squares = self._add(unsure * by_ability.square(), unsure * by_item.square())
        return 1 + squares.to(point.dtype)

    def _logits(self, point: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Every label's logit [L], and how it changes with the worker's and the item's number."""
        ability, item = split(self.cells, point, self.model)
        item = item.index_select(0, self.cells.label_item)
        logit = self.model.logit(ability.index_select(0, self.cells.label_worker), item)
        return logit, *self.model.slopes(logit, item)

    def _add(self, for_worker: Tensor, for_item: Tensor) -> Tensor:
        """Add numbers of labels [L] up by worker, and others by item -> [W + N], in float64."""
        labels, cells = self.cells.labels, self.cells
        total = torch.zeros(labels.n_workers, dtype=torch.float64, device=labels.device)
        total.index_add_(0, cells.label_worker, for_worker.double())
        items = torch.zeros(labels.n_items, dtype=torch.float64, device=labels.device)
        return torch.cat([total, items.index_add_(0, cells.label_item, for_item.double())])
