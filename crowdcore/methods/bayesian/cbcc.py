"""Community-based Bayesian classifier combination (2014): workers come in kinds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.method import GoldConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.labels import Labels
    from crowdcore.run import Run


class CommunityConfig(GoldConfig):
    """Settings of community-based Bayesian classifier combination."""

    communities: int = Field(3, ge=1, le=20, description="Kinds of workers.")
    closeness: float = Field(
        10.0,
        gt=0,
        le=1000,
        description="How near workers stay to their community: the labels, in each class, that "
        "its matrix is worth against their own.",
    )
    max_iter: int = Field(500, ge=1, le=10_000, description="Most sweeps.")
    tol: float = Field(
        1e-3, ge=0, le=1, description="Stop when no probability of any item moves by more."
    )


BEST = 0.9
"""How often the best community is right at the start; the last one guesses."""

PRIOR = 1.0
"""Labels' worth, in each row, that holds a community's matrix to its start."""


@method(
    title="Community-based BCC (CBCC)",
    year=2014,
    paper="Venanzi et al., doi:10.1145/2566486.2567989",
    config=CommunityConfig,
)
def cbcc(labels: Labels, cfg: CommunityConfig, run: Run) -> Estimate:
    """Learn a few kinds of workers, and each worker's own matrix around that of their kind."""
    import torch

    from crowdcore.engine import dirichlet, em

    start = _start(labels, cfg.communities)  # [C, true, given]
    kinds = _Kinds(centre=start, share=start.new_full((cfg.communities,), 1 / cfg.communities))
    posterior, total = em.start(labels, "votes"), None
    tally = em.Tally(labels)
    if labels.warm is not None:
        kinds = _recalled(em.given_counts(labels, posterior).double(), kinds, start, cfg)
    for _ in run.loop(cfg.max_iter, "Mean field"):
        counts, classes = tally.count(posterior, total)
        counts = counts.double()  # [W, true, given]
        seen = _meet(counts, kinds, cfg.closeness)
        log_prior = dirichlet.expected_log(1.0 + classes)
        before = posterior
        posterior, total = em.e_step_of_logs(labels, log_prior, seen.log_confusion)
        total = total + torch.logsumexp(seen.fit, 1).sum() - (counts * seen.log_confusion).sum()
        total += dirichlet.slack(classes.new_ones(()), classes, log_prior)
        total += PRIOR * (start * kinds.centre.log()).sum() + kinds.share.log().sum()
        run.log(elbo=total / labels.n_labels)
        if run.settled(em.largest_move(before, posterior), cfg.tol) and not tally.leapt:
            break
        kinds = _learn(seen, start)
    own = torch.einsum("wc,ckl->wkl", seen.member, cfg.closeness * kinds.centre) + counts
    return Estimate(
        posterior=posterior,
        confusion=own / own.sum(2, keepdim=True),
        worker_scores={"community": seen.member.argmax(1)},
        artefacts={
            "communities": {
                "share": kinds.share,
                "confusion": kinds.centre,
                "membership": seen.member,
            },
        },
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Kinds:
    """The matrices of the communities [C, true, given], and their shares of the workers [C]."""

    centre: Tensor
    share: Tensor


@dataclass(frozen=True, kw_only=True, eq=False)
class _Seen:
    """What the workers' counts say: of their communities, and of their own matrices."""

    fit: Tensor  # [W, C]
    member: Tensor  # [W, C]
    log_confusion: Tensor  # [W, true, given]
    drawn: Tensor  # [C, true, given] labels that were drawn from the centres themselves


def _meet(counts: Tensor, kinds: _Kinds, closeness: float) -> _Seen:
    """Place workers with these counts [W, true, given] among the communities."""
    import torch

    from crowdcore.engine import dirichlet

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
    return _Seen(fit=fit, member=member, log_confusion=log_confusion, drawn=torch.stack(drawn))


def _learn(seen: _Seen, start: Tensor) -> _Kinds:
    centre = PRIOR * start + seen.drawn
    return _Kinds(
        centre=centre / centre.sum(2, keepdim=True),
        share=(1 + seen.member.sum(0)) / (len(seen.member) + len(start)),
    )


def _recalled(counts: Tensor, kinds: _Kinds, start: Tensor, cfg: CommunityConfig) -> _Kinds:
    """The communities that an earlier posterior had; no look at the labels is needed."""
    for _ in range(cfg.max_iter):
        before, kinds = kinds, _learn(_meet(counts, kinds, cfg.closeness), start)
        if float((kinds.centre - before.centre).abs().amax()) < cfg.tol:
            break
    return kinds


def _start(labels: Labels, n: int) -> Tensor:
    """Matrices from good to guessing, alike for all classes, so that names play no part."""
    import torch

    from crowdcore.engine import em

    worst = 1 / labels.n_classes
    best, device = max(BEST, worst), labels.device
    accuracy = torch.linspace(best, worst, n, dtype=torch.float64, device=device)
    matrices = em.one_coin(accuracy, labels.n_classes)
    return matrices / matrices.sum(2, keepdim=True)
