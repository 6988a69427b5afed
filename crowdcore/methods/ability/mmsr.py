"""M-MSR (2020): skills from a robust rank-one completion of how often workers agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from crowdcore.config import TruthConfig
from crowdcore.method import method
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class RobustRankOneConfig(TruthConfig):
    """Settings of M-MSR."""

    max_iter: int = Field(
        100, ge=1, le=10_000, description="Maximum number of rounds of completion."
    )
    tol: float = Field(1e-3, ge=0, le=1, description="Stop when skills move by less on average.")
    trim: float = Field(
        0.25,
        ge=0,
        lt=0.5,
        description="Share of a worker's comparisons left out at either end, so that this many "
        "of the others may be adversaries.",
    )


@method(
    title="Robust rank-one completion (M-MSR)",
    year=2020,
    paper="Ma and Olshevsky, arXiv:2010.12181",
    config=RobustRankOneConfig,
)
def mmsr(labels: Labels, cfg: RobustRankOneConfig, run: Run) -> ClassEstimate:
    """Learn one skill per worker from how often pairs agree, leaving out the most extreme."""
    from crowdcore.engine import em, worker_agreement

    classes = max(2, labels.n_classes)
    pairs = worker_agreement.compare_workers(labels.data)
    sign = worker_agreement.skill_signs(pairs, labels.data.labels_per_worker)
    ratio = pairs.skill * sign[pairs.first] * sign[pairs.second]
    margin = min(0.5, 1 / np.sqrt((labels.data.labels_per_item > 0).sum()))
    skill = np.full(labels.n_workers, 0.5)
    for _ in run.loop(cfg.max_iter, "Completion"):
        ratio_to_second = ratio / skill[pairs.second]
        mean = worker_agreement.trimmed_mean(pairs, ratio_to_second, skill, cfg.trim)
        # Rank one means skill = ratio / skill; half-way in logarithms does not swing back.
        before, skill = skill, np.sqrt(skill * np.clip(mean, margin, 1))
        # The mean: a worker at the edge of the trimming may go to and fro for ever.
        if run.settled(float(np.abs(skill - before).mean()), cfg.tol):
            break
    skill = (1 - margin) * np.clip(skill * sign, -1 / (classes - 1), 1)
    accuracy = (1 + skill * (classes - 1)) / classes
    weight = labels.tensor(np.log(accuracy * (classes - 1) / (1 - accuracy)), labels.dtype)
    posterior, _ = em.normalise(labels, labels.weighted_votes(weight))
    return ClassEstimate(posterior=posterior, worker_scores={"skill": labels.tensor(skill)})
