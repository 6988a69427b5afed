"""M-MSR (2020): skills from a robust rank-one completion of how often workers agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from crowdcore.method import TruthConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.run import Run


class RobustRankOneConfig(TruthConfig):
    """Settings of M-MSR."""

    max_iter: int = Field(100, ge=1, le=10_000, description="Most rounds of completion.")
    tol: float = Field(1e-3, ge=0, le=1, description="Stop when skills move less on average.")
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
def mmsr(labels: Labels, cfg: RobustRankOneConfig, run: Run) -> Estimate:
    """Learn one skill per worker from the agreement of pairs, leaving out the most extreme."""
    from crowdcore.engine import em
    from crowdcore.engine import pairs as between

    classes = max(2, labels.n_classes)
    pairs = between.compare(labels.data)
    sign = between.signs(pairs, labels.data.labels_per_worker)
    ratio = pairs.skill * sign[pairs.one] * sign[pairs.other]
    margin = min(0.5, 1 / np.sqrt((labels.data.labels_per_item > 0).sum()))
    skill = np.full(labels.n_workers, 0.5)
    for _ in run.loop(cfg.max_iter, "Completion"):
        found = between.trimmed_mean(pairs, ratio / skill[pairs.other], skill, cfg.trim)
        # Rank one means skill = ratio / skill; half-way in logarithms does not swing back.
        before, skill = skill, np.sqrt(skill * np.clip(found, margin, 1))
        # The mean: a worker at the edge of the trimming may go to and fro for ever.
        if run.settled(float(np.abs(skill - before).mean()), cfg.tol):
            break
    skill = (1 - margin) * np.clip(skill * sign, -1 / (classes - 1), 1)
    right = (1 + skill * (classes - 1)) / classes  # how often the worker is right
    weight = labels.tensor(np.log(right * (classes - 1) / (1 - right)), labels.dtype)
    posterior, _ = em.normalise(labels, labels.weighted_votes(weight))
    return Estimate(posterior=posterior, worker_scores={"skill": labels.tensor(skill)})
