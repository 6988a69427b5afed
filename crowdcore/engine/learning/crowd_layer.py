"""The crowd layer: from a net's class probabilities to the labels of each worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import torch
from torch import nn

if TYPE_CHECKING:
    from torch import Tensor

Kind = Literal["vw", "vb", "vw+b", "mw"]


class CrowdLayer(nn.Module):
    """One map for each worker, from class probabilities [n, K] to logits of the label [n, K].

    All begin as the identity. The weights hold the change from it, so that weight decay draws
    workers back to it. A common gain spares each worker from learning alone that logits must be
    larger than probabilities; being a single number, it cannot mix up the classes.
    """

    def __init__(
        self, kind: Kind, workers: int, classes: int, *, pace: float = 1.0, gain: bool = True
    ) -> None:
        super().__init__()
        self.pace = pace
        self.gain = nn.Parameter(torch.zeros(())) if gain else None
        shape = (workers, classes, classes) if kind == "mw" else (workers, classes)
        self.matrix = nn.Parameter(torch.zeros(shape)) if kind == "mw" else None  # [W, true, given]
        self.scale = nn.Parameter(torch.zeros(shape)) if kind in ("vw", "vw+b") else None
        self.shift = nn.Parameter(torch.zeros(shape)) if kind in ("vb", "vw+b") else None

    def forward(self, shares: Tensor, worker: Tensor) -> Tensor:
        """Logits of what `worker` [n] gives to items with these class probabilities [n, K]."""
        scaled = self.pace * shares
        logits = shares if self.gain is None else shares + scaled * self.gain
        if self.matrix is not None:
            matrix = self.matrix.index_select(0, worker)
            logits = logits + torch.einsum("nk,nkl->nl", scaled, matrix)
        if self.scale is not None:
            logits = logits + scaled * self.scale.index_select(0, worker)
        if self.shift is not None:
            logits = logits + self.pace * self.shift.index_select(0, worker)
        return logits
