"""DL-EM for ratings: a net and the workers' precisions, learnt in turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.config import RegressorConfig
from crowdcore.method import method
from crowdcore.needs import Needs

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.ratings import Ratings
    from crowdcore.results.numbers import NumberEstimate
    from crowdcore.run import Run


@method(
    title="Regressor and workers' precisions by EM (DL-EM)",
    year=2018,
    paper="Variant in Rodrigues and Pereira, AAAI 2018, of Raykar et al., JMLR 2010",
    config=RegressorConfig,
    needs=Needs(features=True, kinds=frozenset({"ratings"})),
    quick={"epochs": 30, "batch": 16, "rate": 0.01, "held_out": 0.0, "dropout": 0.0},
    leaves=[TrainedNetwork],
)
def dl_em(ratings: Ratings, cfg: RegressorConfig, run: Run) -> NumberEstimate:
    """Join what a net says of an item with its ratings, and train the net on that, in turn."""
    from torch.nn.functional import mse_loss

    from crowdcore.engine.learning.item_regressor import ItemRegressor
    from crowdcore.engine.learning.networks import Net
    from crowdcore.engine.learning.training import Learner
    from crowdcore.engine.splits import hold_out_groups
    from crowdcore.methods.regressors._precision_em import PrecisionEM

    regressor = ItemRegressor.from_ratings(ratings, cfg, run)
    rated = np.flatnonzero(ratings.labels_per_item)
    item = ratings.tensor(rated)
    split = hold_out_groups(ratings, np.arange(len(rated)), cfg.held_out, run)
    em = PrecisionEM(regressor, item.index_select(0, split.held_out))

    def build() -> Learner:
        net = regressor.new_net()
        em.begin()

        def loss(rows: Tensor) -> Tensor:
            """In training the net follows the joined truths; held-out items, their ratings."""
            items = item.index_select(0, rows)
            target = em.truth if net.training else em.from_ratings
            told = net(regressor.features(items)).squeeze(1)
            return mse_loss(told, target.index_select(0, items).to(told.dtype))

        return Learner(
            module=net,
            loss=loss,
            each_epoch=lambda rows: em.step(net, item.index_select(0, rows)),
            stopped=regressor.remember(net, item),
        )

    net = regressor.training.learn(split, build).module
    assert isinstance(net, Net)
    em.step(net, item)
    return regressor.estimate(
        net,
        method="dl_em",
        truth=em.truth,
        truth_spread=em.variance.sqrt(),
        worker_scores={"noise": ratings.unit * em.precision**-0.5},
    )
