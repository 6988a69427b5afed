"""Zero-based skill: skills move step by step towards agreement with the weighted vote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.config import GoldConfig
from crowdcore.method import method
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class ZeroBasedSkillConfig(GoldConfig):
    """Settings of zero-based skill."""

    max_iter: int = Field(100, ge=1, le=10_000, description="Maximum number of steps.")
    rate: float = Field(
        1.0,
        gt=0,
        le=1,
        description="Share of the way to the agreement that a skill moves per step.",
    )
    steps_to_reduce: int = Field(
        20, ge=1, le=10_000, description="Number of steps after which the rate is reduced."
    )
    reduce_factor: float = Field(
        0.5, gt=0, le=1, description="Factor by which the rate is reduced."
    )
    tol: float = Field(1e-5, ge=0, le=1, description="Stop when no skill moves by more.")


@method(
    title="Zero-based skill",
    year=2021,
    paper="Ustalov et al., Crowd-Kit, arXiv:2109.08584",
    config=ZeroBasedSkillConfig,
)
def zbs(labels: Labels, cfg: ZeroBasedSkillConfig, run: Run) -> ClassEstimate:
    """Move each worker's skill towards their agreement with the vote weighted by skills."""
    import torch

    from crowdcore.engine import votes

    size, start = (labels.n_workers,), 1 / labels.n_classes
    has_labels = labels.worker_counts > 0  # who gave nothing keeps the first skill
    skill = torch.full(size, start, dtype=labels.dtype, device=labels.device)
    if labels.warm_start is not None:
        skill = torch.where(has_labels, votes.agreement(labels, labels.warm_start), skill)
    for step in run.loop(cfg.max_iter, "Skills"):
        rate = cfg.rate * cfg.reduce_factor ** ((step + 1) // cfg.steps_to_reduce)
        truth = votes.winners(labels, labels.weighted_votes(skill))
        move = rate * (votes.agreement(labels, truth) - skill) * has_labels
        skill = skill + move
        if run.settled(move.abs().max(), cfg.tol):
            break
    posterior = votes.weighted_shares(labels, labels.weighted_votes(skill))
    return ClassEstimate(posterior=posterior, worker_scores={"skill": skill})
