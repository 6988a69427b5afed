"""Minimax conditional entropy (2014): a matrix for every worker and for every item."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.data import DataError
from crowdcore.method import GoldConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from crowdcore.labels import Labels
    from crowdcore.run import Run


class MinimaxConfig(GoldConfig):
    """Settings of minimax conditional entropy."""

    hold: float = Field(
        0.25,
        gt=0,
        le=1000,
        description="How strongly the matrices are held at zero, in units of the squared number "
        "of classes. Items are held more strongly, as they have fewer labels.",
    )
    max_iter: int = Field(50, ge=1, le=10_000, description="Most rounds.")
    m_steps: int = Field(
        8, ge=1, le=1000, description="Steps of the optimiser in each round (L-BFGS)."
    )
    tol: float = Field(
        5e-3, ge=0, le=1, description="Stop when no probability of any item moves by more."
    )


MOST_NUMBERS = 100_000_000
"""Most numbers in the items' matrices: 400 MB, of which the optimiser keeps about ten."""


@method(
    title="Minimax conditional entropy",
    year=2014,
    paper="Zhou et al., ICML 2014; arXiv:1503.07240",
    config=MinimaxConfig,
)
def minimax(labels: Labels, cfg: MinimaxConfig, run: Run) -> Estimate:
    """Explain each label by its worker's and its item's own confusions, and by nothing more."""
    from crowdcore.engine import em, optimise
    from crowdcore.engine.cells import Cells
    from crowdcore.engine.minimax import Minimax

    numbers = (labels.n_items + labels.n_workers) * labels.n_classes**2
    if numbers > MOST_NUMBERS:
        raise DataError(
            f"Minimax entropy keeps a matrix of classes for every item, here {numbers:,} numbers; "
            f"it takes at most {MOST_NUMBERS:,}",
            fix="Use ds or ibcc, which keep matrices of workers only.",
        )
    data = labels.data
    busy, seen = (data.labels_per_worker > 0).sum(), (data.labels_per_item > 0).sum()
    worker_hold = cfg.hold * labels.n_classes**2
    # Items have fewer labels than workers; mean(n_w) / mean(n_i) = seen / busy.
    model = Minimax(Cells(labels), (worker_hold, worker_hold * float(seen / busy)))
    posterior, point = em.start(labels, "votes"), model.zeros()
    for _ in run.loop(cfg.max_iter, "Rounds"):
        before = posterior
        point, value = optimise.descend(
            lambda at: model.goal(at, before),  # noqa: B023  (called at once)
            point,
            steps=cfg.m_steps,
            curvature=model.curvature(before),
            memory=3,
        )
        posterior, _ = em.normalise(labels, model.e_step(point))
        run.log(goal=value / labels.n_labels)
        if run.settled(em.largest_move(before, posterior), cfg.tol):
            break
    return Estimate(posterior=posterior)
