"""MNLDP (2022): label distributions spread among items that resemble each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.method import TruthConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.run import Run


class PropagationConfig(TruthConfig):
    """Settings of MNLDP."""

    neighbours: int = Field(5, ge=1, le=100, description="Items that each item listens to.")
    pull: float = Field(
        0.5, ge=0, lt=1, description="How much an item listens to them instead of to its own votes."
    )
    max_iter: int = Field(100, ge=1, le=10_000, description="Most rounds of spreading.")
    tol: float = Field(1e-6, gt=0, le=1, description="Stop when no share changes by more.")


@method(
    title="Label distribution propagation (MNLDP)",
    year=2022,
    paper="Jiang et al. 2022, Learning from crowds with multiple noisy label distribution "
    "propagation",
    config=PropagationConfig,
)
def mnldp(labels: Labels, cfg: PropagationConfig, run: Run) -> Estimate:
    """Let items that look alike lend each other their votes."""
    import torch

    from crowdcore.engine.items import known_items
    from crowdcore.engine.neighbours import nearest, reconstruct

    items = known_items(labels, run.seed)
    own = labels.shares()
    k = min(cfg.neighbours, labels.n_items - 1)
    if k < 1:
        return Estimate(posterior=own, notes=items.notes)
    others = nearest(items.x, k)  # [N, k]
    share = reconstruct(items.x, others).to(own.dtype).unsqueeze(2)  # [N, k, 1]
    # An item without votes has nothing of its own to hold on to.
    pull = torch.full_like(labels.counts, cfg.pull).index_fill_(0, labels.unlabelled, 1.0)
    pull = pull.unsqueeze(1)
    spread = own
    for _ in run.loop(cfg.max_iter, "Spreading"):
        heard = spread.index_select(0, others.reshape(-1)).reshape(*others.shape, -1)
        before, spread = spread, pull * (share * heard).sum(1) + (1 - pull) * own
        if run.settled((spread - before).abs().max(), cfg.tol):
            break
    return Estimate(posterior=spread, notes=items.notes)
