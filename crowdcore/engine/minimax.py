"""Labels as a softmax of a worker's matrix plus an item's: goal of the M step, and E step.

A point [(W + N) * K * K] holds the workers' matrices [true, given], then the items'.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.cells import Cells

AT_ONCE = 8_000_000
"""Numbers of one block of labels; a label has a matrix of its own for a moment."""


class Minimax:
    """One pass over the labels, in blocks; `hold` is the strength of both priors (W, N)."""

    def __init__(self, cells: Cells, hold: tuple[float, float]) -> None:
        self.cells = cells
        self.n_classes = cells.labels.n_classes
        self.sizes = (cells.labels.n_workers, cells.labels.n_items)
        self.hold = hold
        self.given = cells.code.remainder(self.n_classes).index_select(0, cells.label_cell)

    def zeros(self) -> Tensor:
        """The point at which everybody guesses."""
        labels = self.cells.labels
        size = sum(self.sizes) * self.n_classes**2
        return torch.zeros(size, dtype=labels.dtype, device=labels.device)

    def e_step(self, point: Tensor) -> Tensor:
        """Log scores [N, K]: what each item's labels say for each class."""
        scores = point.new_zeros((self.sizes[1], self.n_classes))
        for _, item, given, logs in self._blocks(point):
            scores.index_add_(0, item, logs.gather(2, given).squeeze(2))
        return scores

    def goal(self, point: Tensor, posterior: Tensor) -> tuple[Tensor, Tensor]:
        """Minus the expected log-likelihood, held by the priors, and its gradient."""
        held = self._spread(point, self.hold)
        value = 0.5 * (point @ held).double()
        slopes = [torch.zeros_like(part) for part in self._matrices(point)]
        for worker, item, given, logs in self._blocks(point):
            weight = posterior.index_select(0, item).unsqueeze(2)  # [B, true, 1]
            value = value - (weight * logs.gather(2, given)).sum(dtype=torch.float64)
            residual = logs.exp_().mul_(weight).scatter_add_(2, given, -weight)
            residual = residual.reshape(len(item), -1)
            slopes[0].index_add_(0, worker, residual)
            slopes[1].index_add_(0, item, residual)
        return value, torch.cat([slope.reshape(-1) for slope in slopes]).add_(held)

    def curvature(self, posterior: Tensor) -> Tensor:
        """An upper bound of the second derivatives, where both matrices move together."""
        labels, by_class = self.cells.labels, self.n_classes
        seen = labels.sum_over_keys(posterior).reshape(-1, by_class, by_class).sum(1)  # [W, true]
        mine = posterior * labels.counts.unsqueeze(1)
        parts = [
            (hold + 0.5 * count).unsqueeze(2).expand(-1, -1, by_class).reshape(-1)
            for hold, count in zip(self.hold, (seen, mine), strict=True)
        ]
        return torch.cat(parts)

    def _blocks(self, point: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
        """Worker, item, given [B, true, 1] and log-probabilities [B, true, given] of labels."""
        of_worker, of_item = self._matrices(point)
        size = max(1, AT_ONCE // self.n_classes**2)
        parts = (self.cells.label_worker, self.cells.label_item, self.given)
        split = zip(*(torch.split(part, size) for part in parts), strict=True)
        for worker, item, given in split:
            sums = of_worker.index_select(0, worker).add_(of_item.index_select(0, item))
            logs = sums.reshape(-1, self.n_classes, self.n_classes).log_softmax(2)
            yield worker, item, given.reshape(-1, 1, 1).expand(-1, self.n_classes, 1), logs

    def _matrices(self, point: Tensor) -> tuple[Tensor, Tensor]:
        cells = self.n_classes**2
        of_worker, of_item = torch.split(point, [size * cells for size in self.sizes])
        return of_worker.reshape(-1, cells), of_item.reshape(-1, cells)

    def _spread(self, point: Tensor, hold: tuple[float, float]) -> Tensor:
        cells = self.n_classes**2
        parts = torch.split(point, [size * cells for size in self.sizes])
        return torch.cat([strength * part for strength, part in zip(hold, parts, strict=True)])
