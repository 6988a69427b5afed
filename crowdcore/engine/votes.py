"""Weighted votes, shared by the methods that give every worker one weight."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from crowdcore.engine.bags import bag_starts

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.labels import Labels

MIN_TOTAL_WEIGHT = 1e-12
"""Weights that add up to less than this say nothing about an item."""


def winners(labels: Labels, votes: Tensor) -> Tensor:
    """Decide each item by its votes.

    Parameters
    ----------
    labels : Labels
        Gold, where they use it, wins on its items.
    votes : Tensor [N, K]
        Weighted votes.

    Returns
    -------
    Tensor [N, K]
        Rows with everything on the winning class, or in equal parts on tied ones: no tied class
        is favoured by its name, and float noise does not decide.
    """
    top = votes.amax(1, keepdim=True)
    noise = 64 * torch.finfo(votes.dtype).eps * top.abs()
    best = (votes >= top - noise).to(votes.dtype)
    return labels.clamp(best / best.sum(1, keepdim=True), other=0.0)


def initial_truth(labels: Labels) -> Tensor:
    """Return what to believe before anything is known of the workers [N, K]: the majority.

    An earlier result, where the run was given one, takes its place.
    """
    return winners(labels, labels.votes) if labels.warm_start is None else labels.warm_start


def weighted_shares(labels: Labels, votes: Tensor) -> Tensor:
    """Return each class's share of an item's weighted votes.

    Parameters
    ----------
    labels : Labels
        Gold, where they use it, has all of its items.
    votes : Tensor [N, K]
        Weighted votes.

    Returns
    -------
    Tensor [N, K]
        Plain shares where no vote has a weight.
    """
    total = votes.sum(1, keepdim=True)
    shares = votes / total.clamp(min=MIN_TOTAL_WEIGHT)
    weighted = torch.where(total > MIN_TOTAL_WEIGHT, shares, labels.shares())
    return labels.clamp(weighted, other=0.0)


def agreement(labels: Labels, truth: Tensor) -> Tensor:
    """Return the share of each worker's labels [W] that agree with the truth [N, K]."""
    return labels.hits(truth) / labels.worker_counts.clamp(min=1)


def ballots(labels: Labels) -> tuple[Tensor, Tensor]:
    """Order the workers by what they gave, to add many weights per worker at once.

    One `embedding_bag` over them is K times less work than a table over keys, because a worker's
    weight goes to one class only.

    Parameters
    ----------
    labels : Labels
        The labels.

    Returns
    -------
    workers : Tensor [L]
        The workers, ordered by (item, given class).
    starts : Tensor [N * K]
        Where the workers of each (item, given class) start.
    """
    data = labels.data
    cell = data.item.astype(np.int64) * labels.n_classes + data.label
    packed = np.sort(cell * labels.n_workers + data.worker)
    sizes = np.bincount(cell, minlength=labels.n_items * labels.n_classes)
    return labels.tensor(packed % labels.n_workers), labels.tensor(bag_starts(sizes))
