"""Soft majority vote: vote shares, drawn towards the crowd's overall shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.config import TruthConfig
from crowdcore.method import method
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class SoftVoteConfig(TruthConfig):
    """Settings of the soft majority vote."""

    smoothing: float = Field(
        1.0,
        ge=0,
        le=100,
        description="Number of labels, with the crowd's overall class shares, added to each "
        "item. 0 gives the plain shares of the votes.",
    )


@method(
    title="Soft majority vote",
    year=2008,
    paper="Sheng et al., doi:10.1145/1401890.1401965",
    config=SoftVoteConfig,
    spreads=True,
)
def soft_mv(labels: Labels, cfg: SoftVoteConfig, run: Run) -> ClassEstimate:
    """Give each item its vote shares, smoothed by those of the whole crowd."""
    overall = labels.parts.sum(labels.votes.sum(0)).to(labels.dtype) / labels.n_labels  # [K]
    pseudo = cfg.smoothing * overall
    total = (labels.counts + cfg.smoothing).unsqueeze(1)
    shares = (labels.votes + pseudo) / total.clamp(min=1e-12)
    if cfg.smoothing == 0:
        shares = labels.shares()
    return ClassEstimate(posterior=shares)
