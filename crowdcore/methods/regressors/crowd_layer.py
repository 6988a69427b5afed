"""Crowd layer (2018) for ratings: a net that learns from all ratings through workers' habits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.config import RegressorConfig
from crowdcore.method import method
from crowdcore.needs import Needs

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.ratings import Ratings
    from crowdcore.results.numbers import NumberEstimate
    from crowdcore.run import Run


class NumberLayerConfig(RegressorConfig):
    """Settings of the crowd layer for ratings."""

    layer: Literal["s", "b", "s+b"] = Field(
        "b",
        description="What a worker does to the number that the net tells: multiplies it (s), adds "
        "to it (b), or both (s+b).",
    )
    pace: float = Field(
        10.0, gt=0, le=1000, description="Factor by which the layer learns faster than the net."
    )


@method(
    title="Crowd layer for ratings",
    year=2018,
    paper="Rodrigues and Pereira, AAAI 2018, Deep learning from crowds",
    config=NumberLayerConfig,
    needs=Needs(features=True, kinds=frozenset({"ratings"})),
    quick={"epochs": 30, "batch": 16, "rate": 0.01, "held_out": 0.0, "dropout": 0.0},
    leaves=[TrainedNetwork],
)
def crowd_layer(ratings: Ratings, cfg: NumberLayerConfig, run: Run) -> NumberEstimate:
    """Train a net from all ratings, through a slope and a bias per worker."""
    import torch
    from torch import nn
    from torch.nn.functional import mse_loss

    from crowdcore.engine.learning.item_regressor import ItemRegressor
    from crowdcore.engine.learning.networks import Net
    from crowdcore.engine.learning.training import Learner
    from crowdcore.methods.regressors._number_layer import NumberLayer

    regressor = ItemRegressor.from_ratings(ratings, cfg, run)
    observed = ratings.rows
    value = observed.value.to(torch.float32)

    def build() -> Learner:
        net = regressor.new_net()
        layer = NumberLayer(cfg.layer, ratings.n_workers, pace=cfg.pace).to(ratings.device)

        def loss(rows: Tensor) -> Tensor:
            numbers = net(regressor.features(observed.item.index_select(0, rows))).squeeze(1)
            told = layer(numbers, observed.worker.index_select(0, rows))
            return mse_loss(told, value.index_select(0, rows))

        return Learner(
            module=nn.ModuleDict({"net": net, "layer": layer}),
            loss=loss,
            stopped=regressor.remember(net, observed.item),
        )

    trained = regressor.training.learn(regressor.split_ratings(), build).module
    net, layer = trained.get_submodule("net"), trained.get_submodule("layer")
    assert isinstance(net, Net)
    assert isinstance(layer, NumberLayer)
    return regressor.estimate(net, method="crowd_layer", worker_scores=layer.habits(ratings.unit))
