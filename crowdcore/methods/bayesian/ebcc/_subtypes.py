"""Mean field over classes that are mixtures of subtypes, for many starts side by side.

Tables have the axes S (starts), K (classes) and M (subtypes of a class); a posterior is
[N, S, K, M], a worker's counts are [W, given, S, K, M].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from crowdcore.engine import dirichlet

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run

SWEEPS_PER_CHECK = 4
"""Sweeps between two looks at what has moved; a look costs half a sweep."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Priors:
    """Pseudo-counts of everything that is drawn from a Dirichlet."""

    confusion: Tensor  # [true, given]
    subtype: float  # of each subtype within its class
    classes: Tensor  # [K]

    def of_given(self) -> Tensor:
        """The confusion prior along the axes [given, S, K, M]."""
        return self.confusion.t().unsqueeze(1).unsqueeze(3)


@dataclass(frozen=True, kw_only=True, eq=False)
class Factors:
    """Soft counts under a posterior, and the expected logs of the parameters."""

    given: Tensor  # [W, given, S, K, M]
    log_given: Tensor
    members: Tensor  # [S, K, M], in float64
    log_subtype: Tensor
    log_class: Tensor  # [S, K]


def count(labels: Labels, priors: Priors, posterior: Tensor) -> Factors:
    """Update everything but the items' posterior."""
    n_items, *axes = posterior.shape
    flat = posterior.reshape(n_items, -1)
    size = (labels.n_workers, labels.n_classes, *axes)
    given = labels.sum_over_keys(flat).reshape(size)
    # Summing in the table's own precision is ten times faster; torch adds pairwise.
    members = (flat.sum(0) - flat.index_select(0, labels.unlabelled).sum(0)).reshape(axes).double()
    prior = priors.of_given().to(given.dtype)
    return Factors(
        given=given,
        log_given=dirichlet.expected_log(prior + given, dim=1),
        members=members,
        log_subtype=dirichlet.expected_log(priors.subtype + members),
        log_class=dirichlet.expected_log(priors.classes + members.sum(2)),
    )


def scores(labels: Labels, factors: Factors) -> Tensor:
    """Unnormalised log posterior [N, S, K * M]; gold, where it is used, rules classes out."""
    _, _, n_starts, n_classes, n_subtypes = factors.log_given.shape
    table = factors.log_given.reshape(labels.n_workers * labels.n_classes, -1)
    total = labels.sum_over_items(table)
    prior = factors.log_subtype + factors.log_class.unsqueeze(2)
    total += prior.reshape(-1).to(total.dtype)
    total = total.reshape(-1, n_starts, n_classes, n_subtypes)
    if labels.use_gold:
        zeros = total.new_zeros((labels.n_items, n_classes))
        total += labels.clamp(zeros, other=-torch.inf).unsqueeze(1).unsqueeze(3)
    return total.reshape(-1, n_starts, n_classes * n_subtypes)


def bound(priors: Priors, factors: Factors, log_scores: Tensor) -> Tensor:
    """The evidence lower bound [S] of the posterior that the scores give."""
    total = torch.logsumexp(log_scores, 2).sum(0, dtype=torch.float64)
    given = factors.given.double()
    rows = dirichlet.log_evidence(priors.of_given(), given, dim=-4)
    total += rows.sum((0, 2, 3)) - (given * factors.log_given).sum((0, 1, 3, 4))
    members, classes = factors.members, factors.members.sum(2)
    subtype = members.new_full((), priors.subtype)
    total += dirichlet.log_evidence(subtype, members).sum(1)
    total -= (members * factors.log_subtype).sum((1, 2))
    total += dirichlet.log_evidence(priors.classes, classes)
    return total - (classes * factors.log_class).sum(1)


def confusion(priors: Priors, factors: Factors) -> Tensor:
    """Each worker's matrix [W, true, given] under the first start, averaged over subtypes."""
    given = factors.given.select(2, 0).double() + priors.of_given().squeeze(1)
    rows = given / given.sum(1, keepdim=True)  # [W, given, K, M]
    share = priors.subtype + factors.members.select(0, 0)
    share = share / share.sum(1, keepdim=True)  # [K, M]
    return (rows * share).sum(3).transpose(1, 2)


def fit_starts(
    labels: Labels, priors: Priors, posterior: Tensor, run: Run, *, max_iter: int, tol: float
) -> tuple[float, Tensor]:
    """Sweep until no start moves; return the highest evidence, and its posterior [N, 1, K, M]."""
    best, evidence = posterior.narrow(1, 0, 1), -torch.inf
    for step in run.loop(max_iter, "Random starts"):
        factors = count(labels, priors, posterior)
        log_scores = scores(labels, factors)
        before, posterior = posterior, torch.softmax(log_scores, 2).reshape(posterior.shape)
        last = step == max_iter - 1
        if step % SWEEPS_PER_CHECK and not last:
            continue
        moves = before.sub_(posterior).abs_().amax(0).amax((1, 2))  # [S]
        run.log(moving=float((moves > tol).sum()), change=moves.amax())
        moving = (moves > tol).nonzero().squeeze(1) if not last else moves.new_empty(0).long()
        if len(moving) == len(moves):
            continue
        bounds = bound(priors, factors, log_scores).index_fill(0, moving, -torch.inf)
        winner = int(bounds.argmax())
        if float(bounds.amax()) > evidence:
            best, evidence = posterior.narrow(1, winner, 1).clone(), float(bounds.amax())
        if not len(moving):
            break
        posterior = posterior.index_select(1, moving)  # those that have converged drop out
    return evidence, best
