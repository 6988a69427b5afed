"""PM, also called CRH (2014): weights from the logarithm of each worker's share of the losses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.method import GoldConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.run import Run


class ConflictResolutionConfig(GoldConfig):
    """Settings of PM."""

    max_iter: int = Field(10, ge=1, le=10_000, description="Most alternations.")
    per_label: bool = Field(
        False,
        description="Count a worker's disagreements per label given. The published rule adds them "
        "up, which makes those who label much look worse.",
    )


LEAST_LOSS = 1e-8
LEAST_SHARE = 1e-7


@method(
    title="Conflict resolution (PM, CRH)",
    year=2014,
    paper="Li et al., doi:10.1145/2588555.2610509",
    config=ConflictResolutionConfig,
)
def pm(labels: Labels, cfg: ConflictResolutionConfig, run: Run) -> Estimate:
    """Weigh each worker by the logarithm of how small their loss is beside the largest."""
    import torch

    from crowdcore.engine import votes

    counts = labels.worker_counts
    truth, weight = votes.first(labels), torch.zeros_like(counts)
    for _ in run.loop(cfg.max_iter, "Weights"):
        loss = counts - labels.hits(truth)
        if cfg.per_label:
            loss = loss / counts.clamp(min=1)
        loss = loss.clamp(min=LEAST_LOSS)
        before, weight = weight, LEAST_SHARE - (loss / loss.max() + LEAST_SHARE).log()
        weight = weight.clamp(min=0)
        truth = votes.winners(labels, labels.weighted_votes(weight))
        if run.settled((weight - before).abs().max(), 1e-9):
            break
    posterior = votes.shares(labels, labels.weighted_votes(weight))
    seen = counts > 0
    return Estimate(posterior=posterior, worker_scores={"weight": torch.where(seen, weight, 0.0)})
