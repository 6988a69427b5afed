"""How likely a worker is right about an item: expertise against difficulty, class by class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

if TYPE_CHECKING:
    from torch import Tensor

HIDDEN_UNITS = 128
"""Units between an item's hidden state and its difficulty."""


class Reliability(nn.Module):
    """The logit of being right, from a worker's expertise and an item's difficulty per class."""

    def __init__(self, inputs: int, workers: int, classes: int) -> None:
        super().__init__()
        self.difficulty = nn.Sequential(
            nn.Linear(inputs, HIDDEN_UNITS),
            nn.Sigmoid(),
            nn.Linear(HIDDEN_UNITS, classes),
            nn.Sigmoid(),
        )
        self.expertise = nn.Embedding(workers, classes)
        nn.init.xavier_normal_(self.expertise.weight)
        self.weight = nn.Parameter(torch.ones(classes))
        self.bias = nn.Parameter(torch.zeros(()))

    def forward(self, hidden: Tensor, shares: Tensor, worker: Tensor) -> Tensor:
        """The logit [n] of being right; `hidden` [n, H] is the net's hidden state of the item."""
        with torch.no_grad():  # more expertise never makes less reliable
            self.weight.clamp_(min=0)
        margin = torch.sigmoid(self.expertise(worker)) - self.difficulty(hidden)
        logit: Tensor = (margin * shares) @ self.weight + self.bias
        return logit
