"""Community-based Bayesian classifier combination (2014): workers come in kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.artefacts.communities import Communities
from crowdcore.config import GoldConfig
from crowdcore.method import method
from crowdcore.needs import CLASSES_OR_TOKENS, Needs
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class CommunityConfig(GoldConfig):
    """Settings of community-based Bayesian classifier combination."""

    communities: int = Field(3, ge=1, le=20, description="Number of kinds of workers.")
    closeness: float = Field(
        10.0,
        gt=0,
        le=1000,
        description="How near workers stay to their community: the number of labels per class "
        "that its matrix is worth in a worker's.",
    )
    max_iter: int = Field(500, ge=1, le=10_000, description="Maximum number of sweeps.")
    tol: float = Field(
        1e-3, ge=0, le=1, description="Stop when no item's probabilities move by more."
    )


@method(
    title="Community-based BCC (CBCC)",
    year=2014,
    paper="Venanzi et al., doi:10.1145/2566486.2567989",
    config=CommunityConfig,
    needs=Needs(kinds=CLASSES_OR_TOKENS),
    leaves=[Communities],
)
def cbcc(labels: Labels, cfg: CommunityConfig, run: Run) -> ClassEstimate:
    """Learn a few kinds of workers, and each worker's matrix around that of their kind."""
    import torch

    from crowdcore.engine import dirichlet, em
    from crowdcore.methods.bayesian.cbcc import _communities as communities

    kinds = start = communities.start(labels, cfg.communities)
    posterior, bound = em.initial_posterior(labels, "votes"), None
    tally = em.Tally(labels)
    if labels.warm_start is not None:
        counts = em.given_counts(labels, posterior).double()
        kinds = communities.warm_start(
            counts, start, cfg.closeness, steps=cfg.max_iter, tol=cfg.tol
        )
    for _ in run.loop(cfg.max_iter, "Mean field"):
        counts, totals = tally.count(posterior, bound)
        counts = counts.double()  # [W, true, given]
        members = communities.assign(counts, kinds, cfg.closeness)
        log_prior = dirichlet.expected_log(1.0 + totals)
        before = posterior
        posterior, bound = em.e_step_from_logs(labels, log_prior, members.log_confusion)
        bound = bound + torch.logsumexp(members.log_fit, 1).sum()
        bound -= (counts * members.log_confusion).sum()
        bound += dirichlet.elbo_term(totals.new_ones(()), totals, log_prior)
        bound += communities.PRIOR_LABELS * (start.confusion * kinds.confusion.log()).sum()
        bound += kinds.share.log().sum()
        run.log(elbo=bound / labels.n_labels)
        if (
            run.settled(em.max_change(labels, before, posterior), cfg.tol)
            and not tally.extrapolated
        ):
            break
        kinds = communities.m_step(members, start)
    pull = torch.einsum("wc,ckl->wkl", members.membership, cfg.closeness * kinds.confusion)
    confusion = pull + counts
    order = kinds.share.argsort(descending=True, stable=True)  # the commonest first
    membership = members.membership.index_select(1, order)
    return ClassEstimate(
        posterior=posterior,
        confusion=confusion / confusion.sum(2, keepdim=True),
        worker_scores={"community": membership.argmax(1) + 1},
        artefacts=[
            Communities(
                share=kinds.share.index_select(0, order),
                confusion=kinds.confusion.index_select(0, order),
                membership=membership,
            )
        ],
    )
