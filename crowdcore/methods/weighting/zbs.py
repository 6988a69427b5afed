"""Zero-based skill: skills move step by step towards agreement with the weighted vote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.method import GoldConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.run import Run


class ZeroBasedSkillConfig(GoldConfig):
    """Settings of zero-based skill."""

    max_iter: int = Field(100, ge=1, le=10_000, description="Most steps.")
    rate: float = Field(
        1.0, gt=0, le=1, description="How far a skill moves towards the agreement in one step."
    )
    steps_to_reduce: int = Field(
        20, ge=1, le=10_000, description="After so many steps the rate is reduced."
    )
    reduce_factor: float = Field(
        0.5, gt=0, le=1, description="What the rate is multiplied by when it is reduced."
    )
    tol: float = Field(1e-5, ge=0, le=1, description="Stop when no skill moves further than this.")


@method(
    title="Zero-based skill",
    year=2021,
    paper="Ustalov et al., Crowd-Kit, arXiv:2109.08584",
    config=ZeroBasedSkillConfig,
)
def zbs(labels: Labels, cfg: ZeroBasedSkillConfig, run: Run) -> Estimate:
    """Move each worker's skill towards their agreement with the vote that the skills weigh."""
    import torch

    from crowdcore.engine import votes

    size, start = (labels.n_workers,), 1 / labels.n_classes
    seen = labels.worker_counts > 0  # who gave nothing keeps the first skill
    skill = torch.full(size, start, dtype=labels.dtype, device=labels.device)
    if labels.warm is not None:
        skill = torch.where(seen, votes.agreement(labels, labels.warm), skill)
    for step in run.loop(cfg.max_iter, "Skills"):
        rate = cfg.rate * cfg.reduce_factor ** ((step + 1) // cfg.steps_to_reduce)
        truth = votes.winners(labels, labels.weighted_votes(skill))
        move = rate * (votes.agreement(labels, truth) - skill) * seen
        skill = skill + move
        if run.settled(move.abs().max(), cfg.tol):
            break
    posterior = votes.shares(labels, labels.weighted_votes(skill))
    return Estimate(posterior=posterior, worker_scores={"skill": skill})
