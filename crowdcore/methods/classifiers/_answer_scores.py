"""Scores of the true classes for every answer of every worker, shared by Max-MIG and UnionNet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

from crowdcore.engine import em

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.labels import Labels

MIN_FREQUENCY = 0.01
"""Added to how often a class was given, before the logarithm is taken (Cao et al. 2019)."""


class AnswerScores(nn.Module):
    """Scores of the true classes by worker and class given; begins with trust in all workers."""

    def __init__(self, labels: Labels) -> None:
        super().__init__()
        self.labels = labels
        eye = torch.eye(labels.n_classes, device=labels.device)
        self.table = nn.Parameter(eye.repeat(labels.n_workers, 1, 1))  # [W, given, true]
        self.initialised = False

    def initialise(self, items: Tensor) -> None:
        """Begin, once, with log confusion matrices by the vote shares on some items.

        What is held out must have no part in it.
        """
        if self.initialised:
            return
        self.initialised = True
        labels = self.labels
        weight = torch.zeros_like(labels.counts).index_fill(0, items, 1.0).unsqueeze(1)
        shares = em.initial_posterior(labels, "votes") * weight
        confusion = em.normalise_rows(em.given_counts(labels, shares), 0.0)
        start = (confusion + MIN_FREQUENCY).log().transpose(1, 2)
        self.table.data = start.to(self.table.dtype).contiguous()

    @property
    def by_key(self) -> Tensor:
        """The scores by key [W * given, true]."""
        return self.table.flatten(0, 1)
