"""Minimax conditional entropy (2014): a matrix for every worker and for every item."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.config import GoldConfig
from crowdcore.data import DataError
from crowdcore.method import method
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class MinimaxConfig(GoldConfig):
    """Settings of minimax conditional entropy."""

    hold: float = Field(
        0.25,
        gt=0,
        le=1000,
        description="Strength of the prior that holds the matrices at zero, in units of the "
        "squared number of classes. Items are held more strongly, as they have fewer labels.",
    )
    max_iter: int = Field(50, ge=1, le=10_000, description="Maximum number of rounds.")
    m_steps: int = Field(8, ge=1, le=1000, description="Optimiser steps (L-BFGS) per round.")
    tol: float = Field(
        5e-3, ge=0, le=1, description="Stop when no item's probabilities move by more."
    )


MAX_NUMBERS = 100_000_000
"""Numbers in all matrices: 400 MB, of which the optimiser keeps about ten."""


@method(
    title="Minimax conditional entropy",
    year=2014,
    paper="Zhou et al., ICML 2014; arXiv:1503.07240",
    config=MinimaxConfig,
)
def minimax(labels: Labels, cfg: MinimaxConfig, run: Run) -> ClassEstimate:
    """Explain each label by a matrix of its worker and a matrix of its item."""
    from crowdcore.engine import em, minimise
    from crowdcore.engine.given_classes import GivenClasses
    from crowdcore.methods.confusion.minimax._model import Minimax

    numbers = (labels.n_items + labels.n_workers) * labels.n_classes**2
    if numbers > MAX_NUMBERS:
        raise DataError(
            f"Minimax entropy keeps a matrix of classes for every item, here {numbers:,} numbers; "
            f"it takes at most {MAX_NUMBERS:,}",
            fix="Use ds or ibcc, which keep matrices of workers only.",
        )
    data = labels.data
    n_workers, n_items = (data.labels_per_worker > 0).sum(), (data.labels_per_item > 0).sum()
    worker_strength = cfg.hold * labels.n_classes**2
    # Items have fewer labels than workers: mean(n_w) / mean(n_i) = items / workers.
    strengths = (worker_strength, worker_strength * float(n_items / n_workers))
    model = Minimax(GivenClasses(labels), strengths)
    posterior, point = em.initial_posterior(labels, "votes"), model.zeros()
    for _ in run.loop(cfg.max_iter, "Rounds"):
        before = posterior
        point, value = minimise.lbfgs(
            lambda trial: model.objective(trial, before),  # noqa: B023  (called at once)
            point,
            steps=cfg.m_steps,
            curvature=model.curvature(before),
            memory=3,
        )
        posterior, _ = em.normalise(labels, model.e_step(point))
        run.log(goal=value / labels.n_labels)
        if run.settled(em.max_change(labels, before, posterior), cfg.tol):
            break
    return ClassEstimate(posterior=posterior)
