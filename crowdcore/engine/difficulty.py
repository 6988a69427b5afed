"""A label is right with the logistic of ability times easiness: E step and goal of the M step.

A point [W + N] holds the abilities of the workers, then the log easiness of the items.
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


def split(cells: Cells, point: Tensor) -> tuple[Tensor, Tensor]:
    """Abilities [W] and easiness [N]."""
    labels = cells.labels
    ability, easiness = torch.split(point, [labels.n_workers, labels.n_items])
    return ability, easiness.clamp(-STEEPEST, STEEPEST).exp()


def e_step(cells: Cells, point: Tensor) -> tuple[Tensor, Tensor]:
    """The probabilities of the cells [C, 1], and of a class that nobody gave [N, 1]."""
    ability, easiness = split(cells, point)
    others = math.log(max(1, cells.labels.n_classes - 1))
    table = ability.repeat_interleave(cells.labels.n_classes).unsqueeze(1)
    scores = cells.add_keys(table) * easiness.index_select(0, cells.item).unsqueeze(1)
    scores += others * cells.counts.unsqueeze(1)
    cell, rest, _ = cells.normalise(scores)
    return cell, rest


class Goal:
    """Minus the expected log-likelihood, given the cells' probabilities [C, 1], and its slope.

    `hold` is the strength of the prior. One pass over the labels gives both.
    """

    def __init__(self, cells: Cells, cell: Tensor, hold: float) -> None:
        self.cells, self.hold = cells, hold
        self.right = cell.squeeze(1).index_select(0, cells.label_cell)  # [L]
        others = math.log(max(1, cells.labels.n_classes - 1))
        self.constant = others * (1 - self.right).sum(dtype=torch.float64)

    def __call__(self, point: Tensor) -> tuple[Tensor, Tensor]:
        """The value and the gradient [W + N]."""
        ability, easiness = split(self.cells, point)
        easy = easiness.index_select(0, self.cells.label_item)
        logit = easy * ability.index_select(0, self.cells.label_worker)
        value = softplus(logit).sub_(self.right * logit).sum(dtype=torch.float64) + self.constant
        missed = logit.sigmoid().sub_(self.right)
        slope = self._add(missed * easy, missed * logit).to(point.dtype)
        away = point - MEAN
        return value + 0.5 * self.hold * (away @ away), slope + self.hold * away

    def curvature(self, point: Tensor) -> Tensor:
        """A guess of the second derivatives [W + N]: those of a least-squares fit, and the prior's.

        It counts the prior even where that does not hold, against endless steps.
        """
        ability, easiness = split(self.cells, point)
        easy = easiness.index_select(0, self.cells.label_item)
        logit = easy * ability.index_select(0, self.cells.label_worker)
        unsure = logit.sigmoid()
        unsure = unsure * (1 - unsure)
        return 1 + self._add(unsure * easy * easy, unsure * logit * logit).to(point.dtype)

    def _add(self, for_worker: Tensor, for_item: Tensor) -> Tensor:
        """Add numbers of labels [L] up by worker, and others by item -> [W + N], in float64."""
        labels, cells = self.cells.labels, self.cells
        total = torch.zeros(labels.n_workers, dtype=torch.float64, device=labels.device)
        total.index_add_(0, cells.label_worker, for_worker.double())
        items = torch.zeros(labels.n_items, dtype=torch.float64, device=labels.device)
        return torch.cat([total, items.index_add_(0, cells.label_item, for_item.double())])
