"""Workers who come in kinds: communities with a matrix each, which their workers stay near."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from crowdcore.engine import dirichlet, em

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.labels import Labels

BEST = 0.9
"""How often the best community is right at the start; the last one guesses."""

PRIOR = 1.0
"""Labels' worth, in each row, that holds a community's matrix to its start."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Kinds:
    """The matrices of the communities [C, true, given], and their shares of the workers [C]."""

    centre: Tensor
    share: Tensor


@dataclass(frozen=True, kw_only=True, eq=False)
class Seen:
    """What the workers' counts say: of their communities, and of their own matrices."""

    fit: Tensor  # [W, C]
    member: Tensor  # [W, C]
    log_confusion: Tensor  # [W, true, given]
    drawn: Tensor  # [C, true, given] labels that were drawn from the centres themselves


def start(labels: Labels, n: int) -> Kinds:
    """Matrices from good to guessing, alike for all classes, so that names play no part."""
    worst = 1 / labels.n_classes
    best, device = max(BEST, worst), labels.device
    accuracy = torch.linspace(best, worst, n, dtype=torch.float64, device=device)
    matrices = em.one_coin(accuracy, labels.n_classes)
    centre = matrices / matrices.sum(2, keepdim=True)
    return Kinds(centre=centre, share=centre.new_full((n,), 1 / n))


def meet(counts: Tensor, kinds: Kinds, closeness: float) -> Seen:
    """Place workers with these counts [W, true, given] among the communities."""
    pulls = (closeness * kinds.centre).unbind(0)  # one community at a time saves memory
    fits = [dirichlet.log_evidence(pull, counts).sum(1) for pull in pulls]
    fit = torch.stack(fits, 1) + kinds.share.log()
    member = torch.softmax(fit, 1)
    log_confusion, drawn = torch.zeros_like(counts), []
    for pull, weight in zip(pulls, member.unbind(1), strict=True):
        rows = weight.reshape(-1, 1, 1)
        log_confusion += rows * dirichlet.expected_log(pull + counts)
        # Expected draws from the centre itself, not repeats of the worker's own (Minka 2000).
        fresh = torch.digamma(pull + counts).sub_(torch.digamma(pull))
        drawn.append(pull * (rows * fresh).sum(0))
    return Seen(fit=fit, member=member, log_confusion=log_confusion, drawn=torch.stack(drawn))


def learn(seen: Seen, begun: Kinds) -> Kinds:
    """The communities that their members speak for, held to those with which it began."""
    centre = PRIOR * begun.centre + seen.drawn
    share = (1 + seen.member.sum(0)) / (len(seen.member) + len(begun.share))
    return Kinds(centre=centre / centre.sum(2, keepdim=True), share=share)


def recalled(counts: Tensor, begun: Kinds, closeness: float, *, steps: int, tol: float) -> Kinds:
    """The communities that an earlier posterior had; no look at the labels is needed."""
    kinds = begun
    for _ in range(steps):
        before, kinds = kinds, learn(meet(counts, kinds, closeness), begun)
        if float((kinds.centre - before.centre).abs().amax()) < tol:
            break
    return kinds
