"""Mixtures of experts: small nets side by side, of which every worker is a blend."""

from __future__ import annotations

from itertools import pairwise
from math import log
from typing import TYPE_CHECKING

import torch
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor


class Parallel(nn.Module):
    """Linear layers side by side, each with an input of its own: [P, n, in] -> [P, n, out]."""

    def __init__(self, layers: int, before: int, after: int) -> None:
        super().__init__()
        bound = before**-0.5  # as torch begins a linear layer
        self.weight = nn.Parameter(torch.empty(layers, before, after).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(layers, 1, after).uniform_(-bound, bound))

    def forward(self, x: Tensor) -> Tensor:
        """Apply every layer to its own input."""
        return torch.baddbmm(self.bias, x, self.weight)


class Mixture(nn.Module):
    """M models of E experts each; a gate [M * E] says how much of each expert is in an answer.

    As the head of a net it answers for the one gate that it keeps. The members' probabilities
    are averaged.
    """

    gate: Tensor

    def __init__(
        self,
        in_features: int,
        outputs: int,
        *,
        members: int,
        experts: int,
        hidden: Sequence[int],
        tower: Sequence[int],
        dropout: float,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.members, self.size = members, experts
        self.width = hidden[-1]  # of an expert's opinion
        count = members * experts
        self.widest = count * max(hidden)
        # All experts read the same input, so that their first layers are one.
        self.first = nn.Linear(in_features, count * hidden[0])
        self.dropout = nn.Dropout(dropout)
        self.experts = nn.Sequential(*_layers(count, hidden, dropout))
        self.tower = nn.Sequential(
            *_layers(members, (hidden[-1], *tower), dropout),
            Parallel(members, (hidden[-1], *tower)[-1], outputs),
        )
        self.register_buffer("gate", torch.full((count,), 1 / experts))

    def opinions(self, x: Tensor) -> Tensor:
        """What each expert makes of items with features x [n, D] -> [M, E, n, H]."""
        first = self.dropout(self.first(x).relu()).reshape(len(x), self.members * self.size, -1)
        opinions: Tensor = self.experts(first.transpose(0, 1))
        return opinions.reshape(self.members, self.size, len(x), self.width)

    def answers(self, x: Tensor, gates: Tensor) -> Tensor:
        """Each member's logits for items x [n, D] with a gate each [n, M * E] -> [M, n, K]."""
        gates = gates.reshape(-1, self.members, self.size)
        logits: Tensor = self.tower(torch.einsum("nme,menh->mnh", gates, self.opinions(x)))
        return logits

    def joint(self, x: Tensor, gates: Tensor) -> Tensor:
        """Logarithms of probabilities for all items under all gates [G, M * E] -> [n, G, K]."""
        gates = gates.reshape(-1, self.members, self.size)
        blends = torch.einsum("gme,menh->mngh", gates, self.opinions(x))  # eq. 5
        logits = self.tower(blends.flatten(1, 2)).reshape(*blends.shape[:3], -1)
        return average(logits)

    def forward(self, x: Tensor) -> Tensor:
        """Logarithms of probabilities [n, K] for the gate that is kept."""
        return self.joint(x, self.gate.unsqueeze(0)).squeeze(1)


def average(logits: Tensor) -> Tensor:
    """The logarithm of the members' mean probabilities [M, ..., K] -> [..., K]."""
    return logits.log_softmax(-1).logsumexp(0) - log(len(logits))


def _layers(count: int, widths: Sequence[int], dropout: float) -> list[nn.Module]:
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layers += [Parallel(count, before, after), nn.ReLU(), nn.Dropout(dropout)]
    return layers
