"""Items among their nearest neighbours: who they are, and how each is made up of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

AT_ONCE = 2_000_000
"""Distances, or numbers of neighbours' features, that are in memory together."""

STEPS = 300
"""Steps of projected gradient; a problem has as many unknowns as neighbours."""


def nearest(x: Tensor, k: int) -> Tensor:
    """The k nearest other items [N, k] of each item with features x [N, D]."""
    flat = x.reshape(len(x), -1)
    own = torch.arange(len(x), device=x.device).unsqueeze(1)
    step = max(1, AT_ONCE // len(x))
    parts = []
    for at in torch.split(own, step):
        distance = torch.cdist(flat.index_select(0, at.squeeze(1)), flat)  # [B, N]
        distance = distance.scatter(1, at, torch.inf)
        parts.append(distance.topk(k, largest=False).indices)
    return torch.cat(parts)


def reconstruct(x: Tensor, neighbours: Tensor) -> Tensor:
    """Shares [N, k] of its neighbours whose mixture comes nearest to each item."""
    flat = x.reshape(len(x), -1).double()
    k = neighbours.shape[1]
    step = max(1, AT_ONCE // (k * flat.shape[1]))
    parts = []
    for own, others in zip(torch.split(flat, step), torch.split(neighbours, step), strict=True):
        near = flat.index_select(0, others.reshape(-1)).reshape(*others.shape, -1)
        away = near - own.unsqueeze(1)  # [B, k, D]
        parts.append(_on_simplex(away @ away.transpose(1, 2)))
    return torch.cat(parts)


def _on_simplex(gram: Tensor) -> Tensor:
    """Minimise w' G w over shares w [B, k], by accelerated projected gradient."""
    k = gram.shape[1]
    # A little on the diagonal, as for locally linear embedding: doubles share alike.
    trace = gram.diagonal(dim1=1, dim2=2).sum(1)
    gram = gram + torch.diag_embed((1e-3 * trace / k + 1e-12).unsqueeze(1).expand(-1, k))
    rate = 1 / gram.diagonal(dim1=1, dim2=2).sum(1, keepdim=True)  # the trace bounds eigenvalues
    share = torch.full(gram.shape[:2], 1 / k, dtype=gram.dtype, device=gram.device)
    ahead, pace = share, 1.0
    for _ in range(STEPS):
        before = share
        share = _project(ahead - rate * (gram @ ahead.unsqueeze(2)).squeeze(2))
        faster = (1 + (1 + 4 * pace * pace) ** 0.5) / 2
        ahead = share + (pace - 1) / faster * (share - before)
        pace = faster
    return share


def _project(points: Tensor) -> Tensor:
    """The nearest shares [B, k] to points [B, k]."""
    k = points.shape[1]
    ordered = points.sort(1, descending=True).values
    sums = ordered.cumsum(1) - 1
    rank = torch.arange(1, k + 1, dtype=points.dtype, device=points.device)
    inside = (ordered - sums / rank > 0).sum(1, keepdim=True)
    level = sums.gather(1, inside - 1) / inside
    return (points - level).clamp(min=0)
