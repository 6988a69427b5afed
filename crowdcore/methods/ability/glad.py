"""GLAD (2009): workers have an ability, items a difficulty."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from crowdcore.config import GoldConfig
from crowdcore.method import method
from crowdcore.needs import CLASSES_OR_TOKENS, Needs
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


GRADIENT_TOL = 0.01
"""The gradient at which the M step of the benchmarks' code ends."""


class GladConfig(GoldConfig):
    """Settings of GLAD."""

    prior: Literal["fixed", "moving"] = Field(
        "fixed",
        description="Fixed: abilities and log difficulties stay near their usual value, as "
        "published. Moving: nothing holds them, as in the code behind many published tables, "
        "whose prior moves along with them.",
    )
    max_iter: int = Field(100, ge=1, le=10_000, description="Maximum number of EM iterations.")
    m_steps: int = Field(15, ge=1, le=1000, description="Optimiser steps per M step.")
    tol: float = Field(
        1e-5, ge=0, le=1, description="Stop when the M step's objective changes by a smaller share."
    )


@method(
    title="GLAD",
    year=2009,
    paper="Whitehill et al., NIPS 2009",
    config=GladConfig,
    needs=Needs(kinds=CLASSES_OR_TOKENS),
    spreads=True,
)
def glad(labels: Labels, cfg: GladConfig, run: Run) -> ClassEstimate:
    """Learn how able each worker and how easy each item is."""
    import torch

    from crowdcore.engine import minimise, response_models
    from crowdcore.engine.given_classes import GivenClasses

    cells = GivenClasses(labels)
    prior_strength = 1.0 if cfg.prior == "fixed" else 0.0
    # Abilities and difficulties of an earlier result are taken over as well as its truths.
    ability = labels.earlier_worker_scores("ability", default=response_models.PRIOR_MEAN)
    default = math.exp(-response_models.PRIOR_MEAN)
    difficulty = labels.earlier_item_scores("difficulty", default=default)
    min_difficulty = math.exp(-response_models.MAX_LOG_EASINESS)
    point = torch.cat([ability, -difficulty.clamp(min=min_difficulty).log()])
    if labels.warm_start is None:
        given, unseen = response_models.e_step(cells, point)
    else:
        given = cells.from_table(labels.warm_start).unsqueeze(1)
    for _ in run.loop(cfg.max_iter, "EM"):
        objective = response_models.MStepObjective(cells, given, prior_strength)
        if cfg.prior == "moving":
            # Nothing holds the numbers, so where they stop is the optimiser's choice: that code's.
            point, value = minimise.conjugate_gradients(
                objective, point, steps=cfg.m_steps, gradient_tol=GRADIENT_TOL
            )
        else:
            curvature = objective.curvature(point)
            point, value = minimise.lbfgs(
                objective, point, steps=cfg.m_steps, curvature=curvature, dot=objective.dot
            )
        given, unseen = response_models.e_step(cells, point)
        run.log(goal=value / labels.n_labels)
        if run.plateaued("goal", cfg.tol, relative=True):
            break
    ability, easiness = response_models.split_point(cells, point)
    return ClassEstimate(
        posterior=cells.to_table(given.squeeze(1), unseen.squeeze(1)),
        worker_scores={"ability": ability},
        item_scores={"difficulty": 1 / easiness},
    )
