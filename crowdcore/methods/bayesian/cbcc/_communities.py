"""Workers who come in kinds: communities with a matrix each, which their workers stay near."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from crowdcore.engine import dirichlet, em

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.labels import Labels

BEST_ACCURACY = 0.9
"""How often the best community is right at the start; the last one guesses."""

PRIOR_LABELS = 1.0
"""Labels' worth, in each row, that holds a community's matrix to its start."""


@dataclass(frozen=True, kw_only=True, eq=False)
class WorkerKinds:
    """The communities."""

    confusion: Tensor  # [C, true, given]
    share: Tensor  # [C] of the workers


@dataclass(frozen=True, kw_only=True, eq=False)
class Memberships:
    """What the workers' counts say about their communities, and about their own matrices."""

    log_fit: Tensor  # [W, C]
    membership: Tensor  # [W, C]
    log_confusion: Tensor  # [W, true, given]
    fresh_draws: Tensor  # [C, true, given] labels drawn from the communities' own matrices


def start(labels: Labels, n: int) -> WorkerKinds:
    """Matrices from good to guessing, alike for all classes, so that names play no part."""
    worst = 1 / labels.n_classes
    best, device = max(BEST_ACCURACY, worst), labels.device
    accuracy = torch.linspace(best, worst, n, dtype=torch.float64, device=device)
    confusion = em.one_coin_confusion(accuracy, labels.n_classes)
    confusion = confusion / confusion.sum(2, keepdim=True)
    return WorkerKinds(confusion=confusion, share=confusion.new_full((n,), 1 / n))


def assign(counts: Tensor, kinds: WorkerKinds, closeness: float) -> Memberships:
    """Assign workers with these counts [W, true, given] to the communities."""
    pulls = (closeness * kinds.confusion).unbind(0)  # one community at a time saves memory
    log_fits = [dirichlet.log_evidence(pull, counts).sum(1) for pull in pulls]
    log_fit = torch.stack(log_fits, 1) + kinds.share.log()
    membership = torch.softmax(log_fit, 1)
    log_confusion, fresh_draws = torch.zeros_like(counts), []
    for pull, weight in zip(pulls, membership.unbind(1), strict=True):
        rows = weight.reshape(-1, 1, 1)
        log_confusion += rows * dirichlet.expected_log(pull + counts)
        # Expected draws from the matrix itself, not repeats of the worker's own (Minka 2000).
        fresh = torch.digamma(pull + counts).sub_(torch.digamma(pull))
        fresh_draws.append(pull * (rows * fresh).sum(0))
    return Memberships(
        log_fit=log_fit,
        membership=membership,
        log_confusion=log_confusion,
        fresh_draws=torch.stack(fresh_draws),
    )


def m_step(members: Memberships, begun: WorkerKinds) -> WorkerKinds:
    """The communities that fit their members, held to those with which it began."""
    confusion = PRIOR_LABELS * begun.confusion + members.fresh_draws
    n_workers, n_kinds = members.membership.shape
    share = (1 + members.membership.sum(0)) / (n_workers + n_kinds)
    return WorkerKinds(confusion=confusion / confusion.sum(2, keepdim=True), share=share)


def warm_start(
    counts: Tensor, begun: WorkerKinds, closeness: float, *, steps: int, tol: float
) -> WorkerKinds:
    """The communities that an earlier posterior had; no look at the labels is needed."""
    kinds = begun
    for _ in range(steps):
        before, kinds = kinds, m_step(assign(counts, kinds, closeness), begun)
        if float((kinds.confusion - before.confusion).abs().amax()) < tol:
            break
    return kinds
