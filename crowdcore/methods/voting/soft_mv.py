"""Soft majority vote: vote shares, drawn towards the crowd's overall shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.method import TruthConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.run import Run


class SoftVoteConfig(TruthConfig):
    """Settings of the soft majority vote."""

    smoothing: float = Field(
        1.0,
        ge=0,
        le=100,
        description="Labels' worth of the crowd's overall class shares that is added to each "
        "item. 0 gives the plain shares of the votes.",
    )


@method(
    title="Soft majority vote",
    year=2008,
    paper="Sheng et al., doi:10.1145/1401890.1401965",
    config=SoftVoteConfig,
)
def soft_mv(labels: Labels, cfg: SoftVoteConfig, run: Run) -> Estimate:
    """Give each item its vote shares, smoothed by what the whole crowd says."""
    overall = labels.votes.sum(0) / labels.n_labels  # [K]
    pseudo = cfg.smoothing * overall
    total = (labels.counts + cfg.smoothing).unsqueeze(1)
    shares = (labels.votes + pseudo) / total.clamp(min=1e-12)
    if cfg.smoothing == 0:
        shares = labels.shares()
    return Estimate(posterior=shares)
