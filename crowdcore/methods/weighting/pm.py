"""PM, also called CRH (2014): weights from the logarithm of each worker's share of the losses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.config import GoldConfig
from crowdcore.method import method
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class ConflictResolutionConfig(GoldConfig):
    """Settings of PM."""

    max_iter: int = Field(
        10,
        ge=1,
        le=10_000,
        description="Maximum number of alternations between truths and weights.",
    )
    per_label: bool = Field(
        False,
        description="Count a worker's disagreements per label given. The published rule adds them "
        "up, which makes those who label much look worse.",
    )


MIN_LOSS = 1e-8
MIN_SHARE = 1e-7
"""What keeps the logarithm of a worker without losses finite."""


@method(
    title="Conflict resolution (PM, CRH)",
    year=2014,
    paper="Li et al., doi:10.1145/2588555.2610509",
    config=ConflictResolutionConfig,
    excuses={
        "easy_crowd": "The best workers weigh without bound and outvote the rest: three of 145 "
        "items lost.",
    },
    spreads=True,
)
def pm(labels: Labels, cfg: ConflictResolutionConfig, run: Run) -> ClassEstimate:
    """Weigh each worker by minus the logarithm of their share of the largest loss."""
    import torch

    from crowdcore.engine import votes

    counts = labels.worker_counts
    truth, weight = votes.initial_truth(labels), torch.zeros_like(counts)
    for _ in run.loop(cfg.max_iter, "Weights"):
        loss = counts - labels.hits(truth)
        if cfg.per_label:
            loss = loss / counts.clamp(min=1)
        loss = loss.clamp(min=MIN_LOSS)
        before, weight = weight, MIN_SHARE - (loss / loss.max() + MIN_SHARE).log()
        weight = weight.clamp(min=0)
        truth = votes.winners(labels, labels.weighted_votes(weight))
        if run.settled((weight - before).abs().max(), 1e-9):
            break
    posterior = votes.weighted_shares(labels, labels.weighted_votes(weight))
    weight = torch.where(counts > 0, weight, 0.0)
    return ClassEstimate(posterior=posterior, worker_scores={"weight": weight})
