"""Learning from crowds (2010), from labels alone: Dawid-Skene with a prior."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.method import GoldConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.run import Run


class LearningFromCrowdsConfig(GoldConfig):
    """Settings of learning from crowds."""

    strength: float = Field(
        2.0,
        ge=0,
        le=1000,
        description="How many labels, in each class, the belief about a worker is worth. 0 gives "
        "maximum likelihood.",
    )
    belief: float = Field(
        0.7,
        gt=0,
        lt=1,
        description="How often a worker is thought to be right before any label is seen.",
    )
    prevalence: float = Field(
        0.0,
        ge=0,
        le=1000,
        description="Items of each class that are added when the classes are counted.",
    )
    max_iter: int = Field(20, ge=1, le=10_000, description="Most EM iterations.")
    tol: float = Field(
        1e-6, ge=0, le=1, description="Stop when a label's mean log-posterior gains less."
    )


@method(
    title="Learning from crowds (labels only)",
    year=2010,
    paper="Raykar et al., JMLR 11:1297-1322",
    config=LearningFromCrowdsConfig,
)
def lfc(labels: Labels, cfg: LearningFromCrowdsConfig, run: Run) -> Estimate:
    """Learn each worker's confusion matrix, held near a belief while labels are few."""
    import torch

    from crowdcore.engine import em

    believed = torch.full((1,), cfg.belief, dtype=torch.float64, device=labels.device)
    belief = em.one_coin(believed, labels.n_classes)  # [1, true, given]
    belief = belief / belief.sum(2, keepdim=True)  # with one class there are no errors
    posterior, goal = em.start(labels, "votes"), None
    tally = em.Tally(labels)
    for _ in run.loop(cfg.max_iter, "EM"):
        counts, totals = tally.count(posterior, goal)
        counts = cfg.strength * belief + counts
        total = counts.sum(2, keepdim=True)
        confusion = torch.where(total > em.FLOOR, counts / total.clamp(min=em.FLOOR), belief)
        prior = cfg.prevalence + totals
        prior = prior / prior.sum()
        posterior, loglik = em.e_step(labels, prior, confusion, posterior)
        held = cfg.strength * (belief * confusion.clamp(min=em.FLOOR).log()).sum()
        held += cfg.prevalence * prior.clamp(min=em.FLOOR).log().sum()
        goal = loglik + held
        run.log(logpost=goal / labels.n_labels)
        if run.plateaued("logpost", cfg.tol) and not tally.leapt:
            break
    return Estimate(posterior=posterior, confusion=confusion)
