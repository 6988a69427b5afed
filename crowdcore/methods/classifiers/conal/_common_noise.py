"""Noise that is common to all workers or a worker's own, by a gate on item and worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn.functional import normalize

if TYPE_CHECKING:
    from torch import Tensor

INITIAL_DIAGONAL = 2.0
"""Where the matrices of common and individual noise begin, so that classes keep their identity."""

HIDDEN_UNITS = 128
"""Units between an item's features and its side of the gate."""


class CommonNoise(nn.Module):
    """Logits of labels by a matrix that all workers share or by the worker's own, through a gate.

    The gate sees the item and the worker.
    """

    def __init__(self, inputs: int, workers: int, classes: int, directions: int) -> None:
        super().__init__()
        start = INITIAL_DIAGONAL * torch.eye(classes)
        self.common = nn.Parameter(start.clone())  # [true, given]
        self.individual = nn.Parameter(start.repeat(workers, 1, 1))
        self.item = nn.Sequential(
            nn.Linear(inputs, HIDDEN_UNITS), nn.Linear(HIDDEN_UNITS, directions)
        )
        self.worker = nn.Embedding(workers, directions)

    def gate(self, x: Tensor, worker: Tensor) -> Tensor:
        """How far the noise is common [n], for items with features x [n, ...]."""
        item = normalize(self.item(x.flatten(1)), dim=1)
        cosine: Tensor = (item * normalize(self.worker(worker), dim=1)).sum(1)
        return cosine.sigmoid()

    def forward(self, shares: Tensor, x: Tensor, worker: Tensor) -> Tensor:
        """Logits [n, K] of what `worker` [n] gives, from a net's class probabilities [n, K]."""
        gate = self.gate(x, worker).unsqueeze(1)
        matrices = self.individual.index_select(0, worker)
        individual = torch.einsum("nk,nkl->nl", shares, matrices)
        logits: Tensor = gate * (shares @ self.common) + (1 - gate) * individual
        return logits

    def distance(self) -> Tensor:
        """The summed distance of the workers' matrices from the common one."""
        difference = self.individual - self.common
        total: Tensor = torch.linalg.vector_norm(difference, dim=(1, 2)).sum()
        return total
