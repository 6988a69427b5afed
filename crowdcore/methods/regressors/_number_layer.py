"""The crowd layer for numbers: what each worker makes of the number that a net tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch
from torch import nn

if TYPE_CHECKING:
    from torch import Tensor

Kind = Literal["s", "b", "s+b"]


class NumberLayer(nn.Module):
    """One slope, one bias, or both for each worker; all begin as 1 and 0.

    The weights hold the change from there, so that weight decay draws workers back.
    """

    def __init__(self, kind: Kind, workers: int, *, pace: float) -> None:
        super().__init__()
        self.pace = pace
        self.scale = nn.Parameter(torch.zeros(workers)) if "s" in kind else None
        self.shift = nn.Parameter(torch.zeros(workers)) if "b" in kind else None

    def forward(self, numbers: Tensor, worker: Tensor) -> Tensor:
        """What `worker` [n] gives to items of these numbers [n]."""
        rating = numbers
        if self.scale is not None:
            rating = rating + self.pace * numbers * self.scale.index_select(0, worker)
        if self.shift is not None:
            rating = rating + self.pace * self.shift.index_select(0, worker)
        return rating

    def habits(self, unit: float) -> dict[str, Tensor]:
        """Each worker's slope, and bias in units of the ratings [W], as far as they are learnt."""
        habits = {}
        if self.shift is not None:
            habits["bias"] = unit * self.pace * self.shift.detach()
        if self.scale is not None:
            habits["slope"] = 1 + self.pace * self.scale.detach()
        return habits
