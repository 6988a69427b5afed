"""Learning from crowds (2010), from labels alone: Dawid-Skene with a prior."""

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


class LearningFromCrowdsConfig(GoldConfig):
    """Settings of learning from crowds."""

    strength: float = Field(
        2.0,
        ge=0,
        le=1000,
        description="Number of labels per class that the belief about a worker is worth. 0 gives "
        "maximum likelihood.",
    )
    belief: float = Field(
        0.7,
        gt=0,
        lt=1,
        description="Probability that a worker is right, before any label is seen.",
    )
    prevalence: float = Field(
        0.0,
        ge=0,
        le=1000,
        description="Items added to each class when the classes are counted.",
    )
    max_iter: int = Field(20, ge=1, le=10_000, description="Maximum number of EM iterations.")
    tol: float = Field(
        1e-6, ge=0, le=1, description="Stop when the mean log-posterior per label gains less."
    )


@method(
    title="Learning from crowds (labels only)",
    year=2010,
    paper="Raykar et al., JMLR 11:1297-1322",
    config=LearningFromCrowdsConfig,
    needs=Needs(kinds=CLASSES_OR_TOKENS),
    spreads=True,
)
def lfc(labels: Labels, cfg: LearningFromCrowdsConfig, run: Run) -> ClassEstimate:
    """Learn each worker's confusion matrix, held near a prior while labels are few."""
    import torch

    from crowdcore.engine import em

    accuracy = torch.full((1,), cfg.belief, dtype=torch.float64, device=labels.device)
    belief = em.one_coin_confusion(accuracy, labels.n_classes)  # [1, true, given]
    belief = belief / belief.sum(2, keepdim=True)  # with one class there are no errors
    posterior, log_posterior = em.initial_posterior(labels, "votes"), None
    tally = em.Tally(labels)
    for _ in run.loop(cfg.max_iter, "EM"):
        counts, totals = tally.count(posterior, log_posterior)
        counts = cfg.strength * belief + counts
        total = counts.sum(2, keepdim=True)
        confusion = torch.where(
            total > em.MIN_PROBABILITY, counts / total.clamp(min=em.MIN_PROBABILITY), belief
        )
        prior = cfg.prevalence + totals
        prior = prior / prior.sum()
        posterior, log_likelihood = em.e_step(labels, prior, confusion, posterior)
        log_priors = cfg.strength * (belief * confusion.clamp(min=em.MIN_PROBABILITY).log()).sum()
        log_priors += cfg.prevalence * prior.clamp(min=em.MIN_PROBABILITY).log().sum()
        log_posterior = log_likelihood + log_priors
        run.log(logpost=log_posterior / labels.n_labels)
        if run.plateaued("logpost", cfg.tol) and not tally.extrapolated:
            break
    return ClassEstimate(posterior=posterior, confusion=confusion)
