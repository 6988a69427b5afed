"""Crowd layer (2018): a classifier that learns from every worker's labels through a layer each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from crowdcore.method import ClassifierConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.labels import Labels
    from crowdcore.run import Run


class CrowdLayerConfig(ClassifierConfig):
    """Settings of the crowd layer."""

    epochs: int = Field(200, ge=1, le=20_000, description="Most passes over the labels.")
    decay: float = Field(
        1.0, ge=0, le=1, description="Weight decay; it draws the layer back to the identity."
    )
    layer: Literal["vw", "vb", "vw+b", "mw"] = Field(
        "mw",
        description="What a worker does to the class probabilities: weighs them (vw), shifts them "
        "(vb), both (vw+b), or multiplies them by a matrix (mw).",
    )
    pace: float = Field(
        10.0, gt=0, le=1000, description="How many times faster the layer learns than the net."
    )
    gain: bool = Field(
        True,
        description="Whether a factor that is common to all workers is learnt too; the paper has "
        "none.",
    )


@method(
    title="Crowd layer",
    year=2018,
    paper="Rodrigues and Pereira, AAAI 2018, Deep learning from crowds",
    config=CrowdLayerConfig,
    quick={"epochs": 100, "held_out": 0.0, "dropout": 0.0},
)
def crowd_layer(labels: Labels, cfg: CrowdLayerConfig, run: Run) -> Estimate:
    """Train a classifier of items from all labels, through a layer that imitates each worker."""
    from torch import nn
    from torch.nn.functional import cross_entropy

    from crowdcore.engine.classifiers import ItemClassifier
    from crowdcore.engine.crowd_layer import CrowdLayer
    from crowdcore.engine.nets import Net
    from crowdcore.engine.train import Learner, Triples, hold_out

    classifier = ItemClassifier.of(labels, cfg, run)
    said = Triples.of(labels)

    def build() -> Learner:
        net = classifier.fresh()
        size = labels.n_workers, labels.n_classes
        layer = CrowdLayer(cfg.layer, *size, pace=cfg.pace, gain=cfg.gain).to(labels.device)

        def loss(rows: Tensor) -> Tensor:
            shares = net(classifier.features(said.item.index_select(0, rows))).softmax(1)
            logits = layer(shares, said.worker.index_select(0, rows))
            return cross_entropy(logits, said.given.index_select(0, rows))

        return Learner(module=nn.ModuleDict({"net": net, "layer": layer}), loss=loss)

    split = hold_out(labels, np.sort(labels.data.item), cfg.held_out, run)
    net = classifier.training.learn(split, build).module.get_submodule("net")
    assert isinstance(net, Net)
    return classifier.estimate(net, method="crowd_layer")
