"""Quantiles of a stream of draws, from as many of them as memory allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

MOST_KEPT = 64_000_000
"""Most numbers kept: 256 MB in float32."""

FEWEST = 50
"""Draws below which a 95 % quantile would be the extreme draw itself."""

AT_ONCE = 4_000_000
"""Numbers that are sorted together."""


class Thinned:
    """Keeps every so-many-th of `total` draws of a table, in float32."""

    def __init__(self, total: int, shape: torch.Size, device: torch.device) -> None:
        self.shape = shape
        size = max(1, shape.numel())
        fit = min(total, MOST_KEPT // size)
        self.stride = 0 if fit < min(FEWEST, total) else -(-total // fit)
        kept = -(-total // self.stride) if self.stride else 0
        self._kept = torch.empty((kept, size), dtype=torch.float32, device=device)

    @property
    def kept(self) -> int:
        """How many draws are kept; 0 where too few would fit."""
        return len(self._kept)

    def add(self, step: int, draw: Tensor) -> None:
        """Take in draw number `step`, counted from 0."""
        if self.stride and step % self.stride == 0:
            place = torch.full((1,), step // self.stride, device=draw.device)
            self._kept.index_copy_(0, place, draw.reshape(1, -1).to(torch.float32))

    def quantile(self, level: float) -> Tensor:
        """The quantile of each cell, between the two draws next to it. Call it at the end."""
        place = level * (self.kept - 1)
        below, share = int(place), place - int(place)
        above = min(below + 1, self.kept - 1)
        parts = []
        for part in torch.split(self._kept, max(1, AT_ONCE // max(1, self.kept)), dim=1):
            ordered = part.sort(dim=0).values
            parts.append(torch.lerp(ordered.select(0, below), ordered.select(0, above), share))
        return torch.cat(parts).reshape(self.shape)
