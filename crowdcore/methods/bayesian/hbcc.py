"""Hierarchical BCC: workers' confusion matrices are drawn towards that of their crowd."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.method import GoldConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.run import Run


class HierarchicalConfig(GoldConfig):
    """Settings of hierarchical BCC."""

    strength: float = Field(
        2.0,
        gt=0,
        le=1000,
        description="How many labels of each class the crowd's matrix counts for in a worker's.",
    )
    right: float = Field(
        4.0,
        gt=0,
        le=1000,
        description="Labels of each class that the crowd is thought to have got right.",
    )
    max_iter: int = Field(500, ge=1, le=10_000, description="Most sweeps.")
    tol: float = Field(
        1e-3, ge=0, le=1, description="Stop when no probability of any item moves by more."
    )


@method(
    title="Hierarchical BCC",
    year=2018,
    paper="after Paun et al., doi:10.1162/tacl_a_00040",
    config=HierarchicalConfig,
)
def hbcc(labels: Labels, cfg: HierarchicalConfig, run: Run) -> Estimate:
    """Learn confusion matrices that lean on the crowd's where a worker has few labels."""
    from crowdcore.engine import dirichlet, em

    diagonal = dirichlet.confusion_prior(labels, cfg.right, 1.0)
    posterior = em.start(labels, "votes")
    tally = em.Tally(labels)
    for _ in run.loop(cfg.max_iter, "Mean field"):
        counts, classes = tally.count(posterior)
        counts = counts.double()  # [W, true, given]
        crowd = em.rows_of(counts.sum(0) + diagonal, 0.0)
        counts = counts + cfg.strength * crowd
        log_prior = dirichlet.expected_log(1.0 + classes)
        before = posterior
        log_confusion = dirichlet.expected_log(counts)
        posterior, total = em.e_step_of_logs(labels, log_prior, log_confusion)
        run.log(loglik=total / labels.n_labels)
        if run.settled(em.largest_move(before, posterior), cfg.tol) and not tally.leapt:
            break
    return Estimate(posterior=posterior, confusion=em.rows_of(counts, 0.0))
