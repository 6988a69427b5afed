"""Nearest neighbours of items, and the shares in which they reconstruct each item."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

NUMBERS_PER_CHUNK = 2_000_000
"""Distances, or numbers of neighbours' features, that are in memory together."""

GRADIENT_STEPS = 300
"""Steps of projected gradient; a problem has as many unknowns as neighbours."""


def nearest(x: Tensor, k: int) -> Tensor:
    """The k nearest other items [N, k] of each item with features x [N, D]."""
    flat = x.reshape(len(x), -1)
    items = torch.arange(len(x), device=x.device).unsqueeze(1)
    step = max(1, NUMBERS_PER_CHUNK // len(x))
    neighbours = []
    for chunk in torch.split(items, step):
        distance = torch.cdist(flat.index_select(0, chunk.squeeze(1)), flat)  # [B, N]
        distance = distance.scatter(1, chunk, torch.inf)  # nobody is their own neighbour
        neighbours.append(distance.topk(k, largest=False).indices)
    return torch.cat(neighbours)


def reconstruct(x: Tensor, neighbours: Tensor) -> Tensor:
    """Shares [N, k] of the neighbours whose mixture is nearest to each item."""
    flat = x.reshape(len(x), -1).double()
    k = neighbours.shape[1]
    step = max(1, NUMBERS_PER_CHUNK // (k * flat.shape[1]))
    shares = []
    for x_chunk, index in zip(torch.split(flat, step), torch.split(neighbours, step), strict=True):
        x_neighbours = flat.index_select(0, index.reshape(-1)).reshape(*index.shape, -1)
        difference = x_neighbours - x_chunk.unsqueeze(1)  # [B, k, D]
        shares.append(_minimise_on_simplex(difference @ difference.transpose(1, 2)))
    return torch.cat(shares)


def _minimise_on_simplex(gram: Tensor) -> Tensor:
    """Minimise w' G w over shares w [B, k], by accelerated projected gradient."""
    k = gram.shape[1]
    # A little on the diagonal, as for locally linear embedding: duplicates get equal shares.
    trace = gram.diagonal(dim1=1, dim2=2).sum(1)
    gram = gram + torch.diag_embed((1e-3 * trace / k + 1e-12).unsqueeze(1).expand(-1, k))
    rate = 1 / gram.diagonal(dim1=1, dim2=2).sum(1, keepdim=True)  # the trace bounds eigenvalues
    share = torch.full(gram.shape[:2], 1 / k, dtype=gram.dtype, device=gram.device)
    extrapolated, momentum = share, 1.0
    for _ in range(GRADIENT_STEPS):
        before = share
        gradient = (gram @ extrapolated.unsqueeze(2)).squeeze(2)
        share = _project(extrapolated - rate * gradient)
        next_momentum = (1 + (1 + 4 * momentum * momentum) ** 0.5) / 2
        extrapolated = share + (momentum - 1) / next_momentum * (share - before)
        momentum = next_momentum
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
