"""Gaussian ratings with a bias, a slope and a precision per worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from crowdcore.config import RatingConfig
from crowdcore.method import method
from crowdcore.needs import Needs

if TYPE_CHECKING:
    from crowdcore.engine.ratings import Ratings
    from crowdcore.results.numbers import NumberEstimate
    from crowdcore.run import Run

LEVEL_NOTE = (
    "No rating can tell whether the whole crowd rates too high, or uses too little of the scale: "
    "the truths take their level from all ratings and their range from {range}. Some gold items "
    "can correct both."
)
RANGES = {"informed": "the workers who tell most", "average": "the average worker"}


class GaussConfig(RatingConfig):
    """Settings of the Gaussian model."""

    biases: bool = Field(True, description="Whether workers rate higher or lower than others.")
    slopes: bool = Field(True, description="Whether workers use more or less of the scale.")
    heavy_tails: bool = Field(
        False,
        description="Whether single ratings can be far off, as by typing errors (Student's "
        "distribution). Not for data with heaps of equal ratings.",
    )
    spread: Literal["informed", "average"] = Field(
        "informed",
        description="Whose slopes are 1 on average: those of the workers who tell most, or of all. "
        "Workers who answer at random have a slope of 0 and would narrow the truths.",
    )
    max_iter: int = Field(200, ge=1, le=10_000, description="Most rounds of updates.")
    tol: float = Field(
        1e-6,
        gt=0,
        le=0.1,
        description="Stop when no truth moves by more, in standard deviations of all ratings.",
    )


@method(
    title="Gaussian worker model",
    year=2026,
    paper="Bayesian form of ITU-T P.913, 12.6 (Li et al., doi:10.2352/ISSN.2470-1173.2020.11."
    "HVEI-131), with slopes",
    config=GaussConfig,
    needs=Needs(kinds=frozenset({"ratings"})),
    spreads=True,
)
def gauss(ratings: Ratings, cfg: GaussConfig, run: Run) -> NumberEstimate:
    """Correct each worker's bias and slope, and weigh workers by their precision."""
    import torch

    from crowdcore.engine import rating_model

    if ratings.is_constant:
        return ratings.estimate(
            torch.zeros_like(ratings.mean), torch.zeros_like(ratings.mean), notes=()
        )
    model = rating_model.fit(
        ratings,
        run,
        max_iter=cfg.max_iter,
        tol=cfg.tol,
        bias=cfg.biases,
        slope=cfg.slopes,
        heavy_tails=cfg.heavy_tails,
        informed=cfg.spread == "informed",
    )
    return ratings.estimate(
        model.truth,
        model.spread(),
        worker_scores={
            "bias": ratings.unit * model.bias,
            "slope": model.slope,
            "noise": ratings.unit * model.noise,
        },
        notes=(LEVEL_NOTE.format(range=RANGES[cfg.spread]),),
    )
