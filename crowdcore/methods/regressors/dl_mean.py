"""DL-MEAN: a net that learns the mean rating of each item from its features."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.config import RegressorConfig
from crowdcore.method import method
from crowdcore.needs import Needs

if TYPE_CHECKING:
    from crowdcore.engine.ratings import Ratings
    from crowdcore.results.numbers import NumberEstimate
    from crowdcore.run import Run


@method(
    title="Regressor on mean ratings (DL-MEAN)",
    year=2018,
    paper="Baseline of Rodrigues and Pereira, AAAI 2018, Deep learning from crowds",
    config=RegressorConfig,
    needs=Needs(features=True, kinds=frozenset({"ratings"})),
    quick={"epochs": 30, "batch": 16, "rate": 0.01, "held_out": 0.0, "dropout": 0.0},
    leaves=[TrainedNetwork],
    excuses={
        "fake_cuda": "The truths to learn are read back; how they are learnt dl_true shows.",
    },
)
def dl_mean(ratings: Ratings, cfg: RegressorConfig, run: Run) -> NumberEstimate:
    """Train a net from items' features to their mean ratings."""
    from crowdcore.engine.learning.item_regressor import ItemRegressor
    from crowdcore.methods.regressors._two_step import train_on_truths

    regressor = ItemRegressor.from_ratings(ratings, cfg, run)
    net, notes = train_on_truths("mean", regressor)
    return regressor.estimate(net, method="dl_mean", notes=notes)
