"""Ordinal ratings: a hidden number, cut points that all workers share, and workers' habits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.config import RatingConfig
from crowdcore.method import method
from crowdcore.needs import Needs

if TYPE_CHECKING:
    from crowdcore.engine.ratings import Ratings
    from crowdcore.results.numbers import NumberEstimate
    from crowdcore.run import Run


class OrdinalConfig(RatingConfig):
    """Settings of the ordered probit."""

    max_iter: int = Field(250, ge=1, le=10_000, description="Steps of Adam.")
    rate: float = Field(0.05, gt=0, le=1, description="Learning rate of Adam.")


@method(
    title="Ordered probit with worker habits",
    year=1980,
    paper="McCullagh, doi:10.1111/j.2517-6161.1980.tb01109.x, with workers as in `gauss`",
    config=OrdinalConfig,
    needs=Needs(kinds=frozenset({"ratings"})),
    quick={"max_iter": 100},
)
def ordinal(ratings: Ratings, cfg: OrdinalConfig, run: Run) -> NumberEstimate:
    """Take ratings for steps whose distances are not known, and learn where one step ends."""
    import torch

    from crowdcore.methods.ratings import _items
    from crowdcore.methods.ratings.ordinal._probit import OrderedProbit, steps_of

    if ratings.is_constant:
        zeros = torch.zeros_like(ratings.mean)
        return ratings.estimate(_items.unknown_where_unrated(ratings, zeros), zeros)
    steps = steps_of(ratings)
    model = OrderedProbit(ratings, steps)
    model.learn(run, steps=cfg.max_iter, rate=cfg.rate)
    truth, spread = model.answers()
    nan = torch.full_like(spread, torch.nan)
    return ratings.estimate(
        _items.unknown_where_unrated(ratings, truth),
        torch.where(ratings.counts > 0, spread, nan),
        worker_scores=model.habits(),
        notes=(
            *steps.notes,
            "Its intervals take the workers and the cut points for known, and are too narrow.",
        ),
    )
