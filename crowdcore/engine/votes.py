"""Weighted votes, shared by the methods that give every worker one weight."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.labels import Labels

NOTHING = 1e-12
"""Weights that add up to less than this say nothing about an item."""


def winners(labels: Labels, votes: Tensor) -> Tensor:
    """Rows [N, K] with everything on the winning class, or in equal parts on tied ones.

    No tied class is favoured by its name, and float noise does not decide. Gold, where it
    is used, wins on its items.
    """
    top = votes.amax(1, keepdim=True)
    noise = 64 * torch.finfo(votes.dtype).eps * top.abs()
    best = (votes >= top - noise).to(votes.dtype)
    return labels.clamp(best / best.sum(1, keepdim=True), other=0.0)


def first(labels: Labels) -> Tensor:
    """What to believe before anything is known of the workers [N, K]: the majority.

    An earlier result, where the run was given one, takes its place.
    """
    return winners(labels, labels.votes) if labels.warm is None else labels.warm


def shares(labels: Labels, votes: Tensor) -> Tensor:
    """Each class's share of an item's votes [N, K]; plain shares where no vote has a weight."""
    total = votes.sum(1, keepdim=True)
    weighted = torch.where(total > NOTHING, votes / total.clamp(min=NOTHING), labels.shares())
    return labels.clamp(weighted, other=0.0)


def agreement(labels: Labels, truth: Tensor) -> Tensor:
    """The share of each worker's labels [W] that agree with the truth [N, K]."""
    return labels.hits(truth) / labels.worker_counts.clamp(min=1)


def ballots(labels: Labels) -> tuple[Tensor, Tensor]:
    """Workers ordered by (item, given class) [L], and where each such cell starts [N * K].

    One `embedding_bag` over them adds many weights a worker at once: K times less work than
    a table over keys, because a worker's weight goes to one class only.
    """
    data = labels.data
    cell = data.item.astype(np.int64) * labels.n_classes + data.label
    packed = np.sort(cell * labels.n_workers + data.worker)
    sizes = np.bincount(cell, minlength=labels.n_items * labels.n_classes)
    starts = np.cumsum(sizes) - sizes
    return labels.tensor(packed % labels.n_workers), labels.tensor(starts)
