"""Why a worker's label is not what a net thinks: common noise, hard items, confused classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn.functional import normalize

from crowdcore.engine import em

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.labels import Labels

DIAGONAL = 2.0
"""Where the matrices of common and individual noise begin, so that classes keep their identity."""

FLOOR = 0.01
"""Added to how often a class was said, before the logarithm is taken (Cao et al. 2019)."""

WIDTH = 128
"""Units between an item's features and what is learnt of its noise or its difficulty."""


class CommonNoise(nn.Module):
    """Logits of labels by a matrix that all workers share or by the worker's own, through a gate.

    The gate sees the item and the worker.
    """

    def __init__(self, inputs: int, workers: int, classes: int, directions: int) -> None:
        super().__init__()
        start = DIAGONAL * torch.eye(classes)
        self.common = nn.Parameter(start.clone())  # [true, given]
        self.own = nn.Parameter(start.repeat(workers, 1, 1))
        self.item = nn.Sequential(nn.Linear(inputs, WIDTH), nn.Linear(WIDTH, directions))
        self.worker = nn.Embedding(workers, directions)

    def gate(self, x: Tensor, worker: Tensor) -> Tensor:
        """How far the noise is common [n], for items with features x [n, ...]."""
        item = normalize(self.item(x.flatten(1)), dim=1)
        meeting: Tensor = (item * normalize(self.worker(worker), dim=1)).sum(1)
        return meeting.sigmoid()

    def forward(self, shares: Tensor, x: Tensor, worker: Tensor) -> Tensor:
        """Logits [n, K] of what `worker` [n] says, from a net's class probabilities [n, K]."""
        gate = self.gate(x, worker).unsqueeze(1)
        own = torch.einsum("nk,nkl->nl", shares, self.own.index_select(0, worker))
        logits: Tensor = gate * (shares @ self.common) + (1 - gate) * own
        return logits

    def distance(self) -> Tensor:
        """How far the workers' matrices are from the common one, added up."""
        total: Tensor = torch.linalg.vector_norm(self.own - self.common, dim=(1, 2)).sum()
        return total


class Reliability(nn.Module):
    """How likely a worker is right about an item: expertise against difficulty, class by class."""

    def __init__(self, inputs: int, workers: int, classes: int) -> None:
        super().__init__()
        self.difficulty = nn.Sequential(
            nn.Linear(inputs, WIDTH), nn.Sigmoid(), nn.Linear(WIDTH, classes), nn.Sigmoid()
        )
        self.expertise = nn.Embedding(workers, classes)
        nn.init.xavier_normal_(self.expertise.weight)
        self.weight = nn.Parameter(torch.ones(classes))
        self.bias = nn.Parameter(torch.zeros(()))

    def forward(self, hidden: Tensor, shares: Tensor, worker: Tensor) -> Tensor:
        """The logit [n] of being right; `hidden` [n, H] is what a net makes of the item."""
        with torch.no_grad():  # more expertise never makes less reliable
            self.weight.clamp_(min=0)
        ahead = torch.sigmoid(self.expertise(worker)) - self.difficulty(hidden)
        logit: Tensor = (ahead * shares) @ self.weight + self.bias
        return logit


class Answers(nn.Module):
    """Scores of the true classes for everything that a worker can say; begins with trust in all."""

    def __init__(self, labels: Labels) -> None:
        super().__init__()
        self.labels = labels
        eye = torch.eye(labels.n_classes, device=labels.device)
        self.table = nn.Parameter(eye.repeat(labels.n_workers, 1, 1))  # [W, given, true]
        self.begun = False

    def begin(self, items: Tensor) -> None:
        """Begin, once, with the logarithm of how often a class was said, as if votes were true.

        Only the votes on `items` count: what is held out has no part in it.
        """
        if self.begun:
            return
        self.begun = True
        labels = self.labels
        learnt = torch.zeros_like(labels.counts).index_fill(0, items, 1.0).unsqueeze(1)
        confusion = em.rows_of(em.given_counts(labels, em.start(labels, "votes") * learnt), 0.0)
        start = (confusion + FLOOR).log().transpose(1, 2)
        self.table.data = start.to(self.table.dtype).contiguous()

    @property
    def rows(self) -> Tensor:
        """The scores by key [W * given, true]."""
        return self.table.flatten(0, 1)
