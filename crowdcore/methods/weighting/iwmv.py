"""IWMV (2014): iterative weighted majority voting with a linear weight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.config import GoldConfig
from crowdcore.method import method
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class IterativeWeightedConfig(GoldConfig):
    """Settings of iterative weighted majority voting."""

    max_iter: int = Field(
        100,
        ge=1,
        le=10_000,
        description="Maximum number of alternations between truths and weights.",
    )


@method(
    title="Iterative weighted majority voting",
    year=2014,
    paper="Li and Yu, arXiv:1411.4086",
    config=IterativeWeightedConfig,
    spreads=True,
)
def iwmv(labels: Labels, cfg: IterativeWeightedConfig, run: Run) -> ClassEstimate:
    """Weigh each worker by how far they agree with the weighted vote beyond chance."""
    from crowdcore.engine import em, votes

    classes, has_labels = labels.n_classes, labels.worker_counts > 0
    truth, weight = votes.initial_truth(labels), labels.worker_counts * 0
    for _ in run.loop(cfg.max_iter, "Weights"):
        before, weight = weight, (classes * votes.agreement(labels, truth) - 1) * has_labels
        scores = labels.weighted_votes(weight)
        truth = votes.winners(labels, scores)
        if run.settled((weight - before).abs().max(), 1e-9):
            break
    # To first order around chance, K / (K - 1) times the weight is the log-odds of a one-coin
    # worker, so the scores are log posteriors.
    posterior, _ = em.normalise(labels, scores * (classes / max(1, classes - 1)))
    return ClassEstimate(posterior=posterior, worker_scores={"weight": weight})
