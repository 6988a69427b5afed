"""Quantiles of a stream of draws, from as many of them as memory allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

MAX_KEPT_NUMBERS = 64_000_000
"""Numbers that are kept: 256 MB in float32."""

MIN_DRAWS = 50
"""Draws below which a 95 % quantile would be the extreme draw itself."""

NUMBERS_PER_CHUNK = 4_000_000
"""Numbers that are sorted together."""


class ThinnedDraws:
    """Keeps every so-many-th of `total` draws of a table, in float32."""

    def __init__(self, total: int, shape: torch.Size, device: torch.device) -> None:
        self.shape = shape
        size = max(1, shape.numel())
        n_fitting = min(total, MAX_KEPT_NUMBERS // size)
        self.stride = 0 if n_fitting < min(MIN_DRAWS, total) else -(-total // n_fitting)
        n_kept = -(-total // self.stride) if self.stride else 0
        self._kept = torch.empty((n_kept, size), dtype=torch.float32, device=device)

    @property
    def kept(self) -> int:
        """How many draws are kept; 0 where too few would fit."""
        return len(self._kept)

    def add(self, step: int, draw: Tensor) -> None:
        """Take in draw number `step`, counted from 0."""
        if self.stride and step % self.stride == 0:
            row = torch.full((1,), step // self.stride, device=draw.device)
            self._kept.index_copy_(0, row, draw.reshape(1, -1).to(torch.float32))

    def quantile(self, level: float) -> Tensor:
        """The quantile of each cell, between the two draws next to it. Call it at the end."""
        rank = level * (self.kept - 1)
        below, share = int(rank), rank - int(rank)
        above = min(below + 1, self.kept - 1)
        quantiles = []
        cells_per_chunk = max(1, NUMBERS_PER_CHUNK // max(1, self.kept))
        for cells in torch.split(self._kept, cells_per_chunk, dim=1):
            ordered = cells.sort(dim=0).values
            quantiles.append(torch.lerp(ordered.select(0, below), ordered.select(0, above), share))
        return torch.cat(quantiles).reshape(self.shape)
