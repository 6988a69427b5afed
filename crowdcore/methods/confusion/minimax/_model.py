"""Labels as a softmax of a worker's matrix plus an item's: M step's objective, and E step.

A point [(W + N) * K * K] holds the workers' matrices [true, given], then the items'.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.given_classes import GivenClasses

NUMBERS_PER_CHUNK = 8_000_000
"""Numbers of one chunk of labels; a label has a matrix of its own for a moment."""


class Minimax:
    """One pass over the labels, in chunks; the strengths are those of the priors (W, N)."""

    def __init__(self, cells: GivenClasses, strengths: tuple[float, float]) -> None:
        self.cells = cells
        self.n_classes = cells.labels.n_classes
        self.sizes = (cells.labels.n_workers, cells.labels.n_items)
        self.strengths = strengths
        self.given = cells.code.remainder(self.n_classes).index_select(0, cells.label_cell)

    def zeros(self) -> Tensor:
        """The point at which everybody guesses."""
        labels = self.cells.labels
        size = sum(self.sizes) * self.n_classes**2
        return torch.zeros(size, dtype=labels.dtype, device=labels.device)

    def e_step(self, point: Tensor) -> Tensor:
        """Log-likelihood of each item's labels under each class [N, K]."""
        scores = point.new_zeros((self.sizes[1], self.n_classes))
        for _, item, given, logs in self._chunks(point):
            scores.index_add_(0, item, logs.gather(2, given).squeeze(2))
        return scores

    def objective(self, point: Tensor, posterior: Tensor) -> tuple[Tensor, Tensor]:
        """Minus the expected log-likelihood and the log priors, and its gradient."""
        prior_gradient = self._times_strength(point)
        value = 0.5 * (point @ prior_gradient).double()
        gradients = [torch.zeros_like(matrices) for matrices in self._matrices(point)]
        for worker, item, given, logs in self._chunks(point):
            weight = posterior.index_select(0, item).unsqueeze(2)  # [B, true, 1]
            value = value - (weight * logs.gather(2, given)).sum(dtype=torch.float64)
            residual = logs.exp_().mul_(weight).scatter_add_(2, given, -weight)
            residual = residual.reshape(len(item), -1)
            gradients[0].index_add_(0, worker, residual)
            gradients[1].index_add_(0, item, residual)
        gradient = torch.cat([each.reshape(-1) for each in gradients])
        return value, gradient.add_(prior_gradient)

    def curvature(self, posterior: Tensor) -> Tensor:
        """An upper bound of the second derivatives, where both matrices move together."""
        labels, k = self.cells.labels, self.n_classes
        worker_counts = labels.sum_over_keys(posterior).reshape(-1, k, k).sum(1)  # [W, true]
        item_counts = posterior * labels.counts.unsqueeze(1)  # [N, true]
        bounds = [
            (strength + 0.5 * counts).unsqueeze(2).expand(-1, -1, k).reshape(-1)
            for strength, counts in zip(self.strengths, (worker_counts, item_counts), strict=True)
        ]
        return torch.cat(bounds)

    def _chunks(self, point: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
        """Worker, item, given [B, true, 1] and log-probabilities [B, true, given] of labels."""
        of_worker, of_item = self._matrices(point)
        size = max(1, NUMBERS_PER_CHUNK // self.n_classes**2)
        columns = (self.cells.label_worker, self.cells.label_item, self.given)
        chunks = zip(*(torch.split(column, size) for column in columns), strict=True)
        for worker, item, given in chunks:
            sums = of_worker.index_select(0, worker).add_(of_item.index_select(0, item))
            logs = sums.reshape(-1, self.n_classes, self.n_classes).log_softmax(2)
            yield worker, item, given.reshape(-1, 1, 1).expand(-1, self.n_classes, 1), logs

    def _matrices(self, point: Tensor) -> tuple[Tensor, Tensor]:
        cells = self.n_classes**2
        of_worker, of_item = torch.split(point, [size * cells for size in self.sizes])
        return of_worker.reshape(-1, cells), of_item.reshape(-1, cells)

    def _times_strength(self, point: Tensor) -> Tensor:
        pairs = zip(self.strengths, self._matrices(point), strict=True)
        return torch.cat([(strength * matrices).reshape(-1) for strength, matrices in pairs])
