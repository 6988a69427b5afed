"""MNLDP (2022): label distributions spread among items that resemble each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.config import TruthConfig
from crowdcore.method import method
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class PropagationConfig(TruthConfig):
    """Settings of MNLDP."""

    neighbours: int = Field(5, ge=1, le=100, description="Number of neighbours per item.")
    pull: float = Field(
        0.5, ge=0, lt=1, description="Weight of the neighbours against an item's own votes."
    )
    max_iter: int = Field(
        100, ge=1, le=10_000, description="Maximum number of rounds of propagation."
    )
    tol: float = Field(1e-6, gt=0, le=1, description="Stop when no vote share changes by more.")


@method(
    title="Label distribution propagation (MNLDP)",
    year=2022,
    paper="Jiang et al. 2022, Learning from crowds with multiple noisy label distribution "
    "propagation",
    config=PropagationConfig,
)
def mnldp(labels: Labels, cfg: PropagationConfig, run: Run) -> ClassEstimate:
    """Propagate vote shares among items with similar features."""
    import torch

    from crowdcore.engine.learning.item_features import item_features
    from crowdcore.methods.graph.mnldp._neighbours import nearest, reconstruct

    items = item_features(labels, run.seed)
    votes = labels.shares()
    k = min(cfg.neighbours, labels.n_items - 1)
    if k < 1:
        return ClassEstimate(posterior=votes, notes=items.notes)
    neighbours = nearest(items.x, k)  # [N, k]
    share = reconstruct(items.x, neighbours).to(votes.dtype).unsqueeze(2)  # [N, k, 1]
    # An item without votes has nothing of its own to hold on to.
    pull = torch.full_like(labels.counts, cfg.pull).index_fill_(0, labels.unlabelled, 1.0)
    pull = pull.unsqueeze(1)
    posterior = votes
    for _ in run.loop(cfg.max_iter, "Spreading"):
        received = posterior.index_select(0, neighbours.reshape(-1)).reshape(*neighbours.shape, -1)
        before, posterior = posterior, pull * (share * received).sum(1) + (1 - pull) * votes
        if run.settled((posterior - before).abs().max(), cfg.tol):
            break
    return ClassEstimate(posterior=posterior, notes=items.notes)
