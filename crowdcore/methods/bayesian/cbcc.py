"""Community-based Bayesian classifier combination (2014): workers come in kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.method import GoldConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
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


@method(
    title="Community-based BCC (CBCC)",
    year=2014,
    paper="Venanzi et al., doi:10.1145/2566486.2567989",
    config=CommunityConfig,
)
def cbcc(labels: Labels, cfg: CommunityConfig, run: Run) -> Estimate:
    """Learn a few kinds of workers, and each worker's own matrix around that of their kind."""
    import torch

    from crowdcore.engine import communities, dirichlet, em

    kinds = start = communities.start(labels, cfg.communities)
    posterior, total = em.start(labels, "votes"), None
    tally = em.Tally(labels)
    if labels.warm is not None:
        counts = em.given_counts(labels, posterior).double()
        kinds = communities.recalled(counts, start, cfg.closeness, steps=cfg.max_iter, tol=cfg.tol)
    for _ in run.loop(cfg.max_iter, "Mean field"):
        counts, classes = tally.count(posterior, total)
        counts = counts.double()  # [W, true, given]
        seen = communities.meet(counts, kinds, cfg.closeness)
        log_prior = dirichlet.expected_log(1.0 + classes)
        before = posterior
        posterior, total = em.e_step_of_logs(labels, log_prior, seen.log_confusion)
        total = total + torch.logsumexp(seen.fit, 1).sum() - (counts * seen.log_confusion).sum()
        total += dirichlet.slack(classes.new_ones(()), classes, log_prior)
        total += communities.PRIOR * (start.centre * kinds.centre.log()).sum()
        total += kinds.share.log().sum()
        run.log(elbo=total / labels.n_labels)
        if run.settled(em.largest_move(before, posterior), cfg.tol) and not tally.leapt:
            break
        kinds = communities.learn(seen, start)
    own = torch.einsum("wc,ckl->wkl", seen.member, cfg.closeness * kinds.centre) + counts
    order = kinds.share.argsort(descending=True, stable=True)  # the commonest first
    member = seen.member.index_select(1, order)
    return Estimate(
        posterior=posterior,
        confusion=own / own.sum(2, keepdim=True),
        worker_scores={"community": member.argmax(1) + 1},
        artefacts={
            "communities": {
                "share": kinds.share.index_select(0, order),
                "confusion": kinds.centre.index_select(0, order),
                "membership": member,
            },
        },
    )
