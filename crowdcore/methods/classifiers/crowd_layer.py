"""Crowd layer (2018): a classifier that learns from every worker's labels through a layer each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.config import ClassifierConfig
from crowdcore.method import method
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class CrowdLayerConfig(ClassifierConfig):
    """Settings of the crowd layer."""

    epochs: int = Field(
        200, ge=1, le=20_000, description="Maximum number of passes over the labels."
    )
    decay: float = Field(
        1.0, ge=0, le=1, description="Weight decay, which draws the layer back to the identity."
    )
    layer: Literal["vw", "vb", "vw+b", "mw"] = Field(
        "mw",
        description="What a worker does to the class probabilities: weighs them (vw), shifts them "
        "(vb), both (vw+b), or multiplies them by a matrix (mw).",
    )
    pace: float = Field(
        10.0, gt=0, le=1000, description="Factor by which the layer learns faster than the net."
    )
    gain: bool = Field(
        True,
        description="Also learn a factor that is common to all workers; the paper has none.",
    )


@method(
    title="Crowd layer",
    year=2018,
    paper="Rodrigues and Pereira, AAAI 2018, Deep learning from crowds",
    config=CrowdLayerConfig,
    quick={"epochs": 100, "held_out": 0.0, "dropout": 0.0},
    leaves=[TrainedNetwork],
)
def crowd_layer(labels: Labels, cfg: CrowdLayerConfig, run: Run) -> ClassEstimate:
    """Train a classifier from all labels, through one layer per worker that models their errors."""
    from torch import nn
    from torch.nn.functional import cross_entropy

    from crowdcore.engine.learning.crowd_layer import CrowdLayer
    from crowdcore.engine.learning.item_classifier import ItemClassifier
    from crowdcore.engine.learning.networks import Net
    from crowdcore.engine.learning.training import Learner
    from crowdcore.engine.splits import hold_out_groups

    classifier = ItemClassifier.from_labels(labels, cfg, run)
    observed = labels.rows

    def build() -> Learner:
        net = classifier.new_net()
        size = labels.n_workers, labels.n_classes
        layer = CrowdLayer(cfg.layer, *size, pace=cfg.pace, gain=cfg.gain).to(labels.device)

        def loss(rows: Tensor) -> Tensor:
            shares = net(classifier.features(observed.item.index_select(0, rows))).softmax(1)
            logits = layer(shares, observed.worker.index_select(0, rows))
            return cross_entropy(logits, observed.given.index_select(0, rows))

        return Learner(module=nn.ModuleDict({"net": net, "layer": layer}), loss=loss)

    item_of_row = labels.data.item[observed.order]
    split = hold_out_groups(labels, item_of_row, cfg.held_out, run)
    net = classifier.training.learn(split, build).module.get_submodule("net")
    assert isinstance(net, Net)
    return classifier.estimate(net, method="crowd_layer")
