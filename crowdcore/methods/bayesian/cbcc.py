"""Community-based Bayesian classifier combination (2014): workers come in kinds."""

from __future__ import annotations

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
    centre = start
    share = start.new_full((cfg.communities,), 1 / cfg.communities)
    posterior = em.start(labels, "votes")
    for _ in run.loop(cfg.max_iter, "Mean field"):
        counts = em.given_counts(labels, posterior).double()  # [W, true, given]
        pulls = (cfg.closeness * centre).unbind(0)  # one community at a time saves memory
        fits = [dirichlet.log_evidence(pull, counts).sum(1) for pull in pulls]
        fit = torch.stack(fits, 1) + share.log()  # [W, C]
        member = torch.softmax(fit, 1)
        log_confusion, drawn = torch.zeros_like(counts), []
        for pull, weight in zip(pulls, member.unbind(1), strict=True):
            rows = weight.reshape(-1, 1, 1)
            log_confusion += rows * dirichlet.expected_log(pull + counts)
            # Expected draws from the centre itself, not repeats of the worker's own (Minka 2000).
            fresh = torch.digamma(pull + counts).sub_(torch.digamma(pull))
            drawn.append(pull * (rows * fresh).sum(0))
        classes = em.class_totals(labels, posterior)
        log_prior = dirichlet.expected_log(1.0 + classes)
        before = posterior
        posterior, total = em.e_step_of_logs(labels, log_prior, log_confusion)
        total = total + torch.logsumexp(fit, 1).sum() - (counts * log_confusion).sum()
        total += dirichlet.slack(classes.new_ones(()), classes, log_prior)
        total += PRIOR * (start * centre.log()).sum() + share.log().sum()
        run.log(elbo=total / labels.n_labels)
        if run.settled(em.largest_move(before, posterior), cfg.tol):
            break
        centre = PRIOR * start + torch.stack(drawn)
        centre = centre / centre.sum(2, keepdim=True)
        share = (1 + member.sum(0)) / (labels.n_workers + cfg.communities)
    own = torch.einsum("wc,ckl->wkl", member, cfg.closeness * centre) + counts
    return Estimate(
        posterior=posterior,
        confusion=own / own.sum(2, keepdim=True),
        worker_scores={"community": member.argmax(1)},
        artefacts={
            "communities": {"share": share, "confusion": centre, "membership": member},
        },
    )


def _start(labels: Labels, n: int) -> Tensor:
    """Matrices from good to guessing, alike for all classes, so that names play no part."""
    import torch

    from crowdcore.engine import em

    worst = 1 / labels.n_classes
    best, device = max(BEST, worst), labels.device
    accuracy = torch.linspace(best, worst, n, dtype=torch.float64, device=device)
    matrices = em.one_coin(accuracy, labels.n_classes)
    return matrices / matrices.sum(2, keepdim=True)
