"""GLAD (2009): workers have an ability, items a difficulty."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from crowdcore.method import GoldConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.run import Run


FLAT = 0.01
"""The slope at which the M step of the benchmarks' code ends."""


class GladConfig(GoldConfig):
    """Settings of GLAD."""

    prior: Literal["fixed", "moving"] = Field(
        "fixed",
        description="Fixed: abilities and log difficulties stay near their usual value, as "
        "published. Moving: nothing holds them, as in the code behind many published tables, "
        "whose prior moves along with them.",
    )
    max_iter: int = Field(100, ge=1, le=10_000, description="Most EM iterations.")
    m_steps: int = Field(15, ge=1, le=1000, description="Steps of the optimiser in each M step.")
    tol: float = Field(
        1e-5, ge=0, le=1, description="Stop when the M step's goal changes by a smaller share."
    )


@method(
    title="GLAD",
    year=2009,
    paper="Whitehill et al., NIPS 2009",
    config=GladConfig,
)
def glad(labels: Labels, cfg: GladConfig, run: Run) -> Estimate:
    """Learn how able each worker and how easy each item is; easy items tell workers apart."""
    import torch

    from crowdcore.engine import difficulty, optimise
    from crowdcore.engine.cells import Cells

    cells = Cells(labels)
    # Of an earlier result abilities and difficulties are taken over as well as truths.
    ability = labels.earlier_of_workers("ability", otherwise=difficulty.MEAN)
    hard = labels.earlier_of_items("difficulty", otherwise=math.exp(-difficulty.MEAN))
    point = torch.cat([ability, -hard.clamp(min=math.exp(-difficulty.STEEPEST)).log()])
    if labels.warm is None:
        cell, rest = difficulty.e_step(cells, point)
    else:
        cell = cells.pick(labels.warm).unsqueeze(1)
    for _ in run.loop(cfg.max_iter, "EM"):
        goal = difficulty.Goal(cells, cell, 1.0 if cfg.prior == "fixed" else 0.0)
        if cfg.prior == "moving":
            # Nothing holds the numbers, so where they stop is the optimiser's choice: that code's.
            point, value = optimise.conjugate(goal, point, steps=cfg.m_steps, flat=FLAT)
        else:
            curvature = goal.curvature(point)
            point, value = optimise.descend(goal, point, steps=cfg.m_steps, curvature=curvature)
        cell, rest = difficulty.e_step(cells, point)
        run.log(goal=value / labels.n_labels)
        if run.plateaued("goal", cfg.tol, relative=True):
            break
    ability, easiness = difficulty.split(cells, point)
    return Estimate(
        posterior=cells.spread(cell.squeeze(1), rest.squeeze(1)),
        worker_scores={"ability": ability},
        item_scores={"difficulty": 1 / easiness},
    )
