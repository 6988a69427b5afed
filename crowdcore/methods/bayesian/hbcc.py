"""Hierarchical BCC: workers' confusion matrices are drawn towards that of their crowd."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.config import GoldConfig
from crowdcore.method import method
from crowdcore.needs import CLASSES_OR_TOKENS, Needs
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


EXTRAPOLATE_FROM_LABELS = 250_000
"""From so many labels on sweeps are extrapolated: a few workers may take a hundred to settle."""


class HierarchicalConfig(GoldConfig):
    """Settings of hierarchical BCC."""

    strength: float = Field(
        2.0,
        gt=0,
        le=1000,
        description="Labels per class that the crowd's matrix is worth in a worker's.",
    )
    right: float = Field(
        4.0,
        gt=0,
        le=1000,
        description="Prior number of right labels per class of the crowd.",
    )
    max_iter: int = Field(500, ge=1, le=10_000, description="Maximum number of sweeps.")
    tol: float = Field(
        1e-3, ge=0, le=1, description="Stop when no item's probabilities move by more."
    )


@method(
    title="Hierarchical BCC",
    year=2018,
    paper="after Paun et al., doi:10.1162/tacl_a_00040",
    config=HierarchicalConfig,
    needs=Needs(kinds=CLASSES_OR_TOKENS),
    spreads=True,
)
def hbcc(labels: Labels, cfg: HierarchicalConfig, run: Run) -> ClassEstimate:
    """Learn confusion matrices that are drawn to the crowd's where a worker has few labels."""
    from crowdcore.engine import dirichlet, em

    diagonal = dirichlet.confusion_prior(labels, cfg.right, 1.0)
    posterior = em.initial_posterior(labels, "votes")
    tally = em.Tally(labels, extrapolate=labels.n_labels >= EXTRAPOLATE_FROM_LABELS)
    buffer = None
    for _ in run.loop(cfg.max_iter, "Mean field"):
        counts, totals = tally.count(posterior)
        counts = counts.double()  # [W, true, given]
        crowd = em.normalise_rows(counts.sum(0) + diagonal, 0.0)
        counts = counts + cfg.strength * crowd
        log_prior = dirichlet.expected_log(1.0 + totals)
        before = posterior
        log_confusion = dirichlet.expected_log(counts)
        posterior, log_total = em.e_step_from_logs(labels, log_prior, log_confusion, buffer)
        run.log(loglik=log_total / labels.n_labels)
        if (
            run.settled(em.max_change(labels, before, posterior), cfg.tol)
            and not tally.extrapolated
        ):
            break
        buffer = before  # nobody needs it any more
    return ClassEstimate(posterior=posterior, confusion=em.normalise_rows(counts, 0.0))
