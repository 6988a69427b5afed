"""Ridge: a linear function of the items' features, fitted to inferred truths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.config import RatingConfig, RegressorConfig
from crowdcore.method import method
from crowdcore.needs import Needs

if TYPE_CHECKING:
    from crowdcore.engine.ratings import Ratings
    from crowdcore.results.numbers import NumberEstimate
    from crowdcore.run import Run


class RidgeConfig(RatingConfig):
    """Settings of the ridge regression."""

    truths: Literal["gauss", "mean", "auto"] = Field(
        "gauss", description="The method whose truths are learnt."
    )


@method(
    title="Ridge regression on inferred truths",
    year=1970,
    paper="Hoerl and Kennard, doi:10.1080/00401706.1970.10488634",
    config=RidgeConfig,
    needs=Needs(features=True, kinds=frozenset({"ratings"})),
    leaves=[TrainedNetwork],
    excuses={"fake_cuda": "It is solved on the host, from truths that are read back."},
)
def ridge(ratings: Ratings, cfg: RidgeConfig, run: Run) -> NumberEstimate:
    """Fit inferred truths by a linear function of the items' features."""
    from crowdcore.engine.learning.item_regressor import ItemRegressor
    from crowdcore.methods.regressors._two_step import infer_truths

    linear = RegressorConfig.model_validate({"hidden": 0, "dropout": 0.0, "scale": cfg.scale})
    regressor = ItemRegressor.from_ratings(ratings, linear, run)
    items, truths, notes = infer_truths(cfg.truths, regressor)
    run.converged = None  # it is solved, not iterated
    net = regressor.solve_ridge(items, ratings.standardise(truths))
    return regressor.estimate(net, method="ridge", notes=notes)
