"""CoNAL (2021): a classifier that tells the crowd's common noise from each worker's own."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from crowdcore.method import ClassifierConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.labels import Labels
    from crowdcore.run import Run


class CommonNoiseConfig(ClassifierConfig):
    """Settings of CoNAL."""

    batch: int = Field(128, ge=1, le=1_000_000, description="Labels that make one step.")
    rate: float = Field(3e-3, gt=0, le=1, description="Learning rate of Adam.")
    directions: int = Field(
        20, ge=1, le=1024, description="Numbers by which items and workers meet in the gate."
    )
    apart: float = Field(
        1e-5,
        ge=0,
        le=1,
        description="How strongly the workers' matrices are pushed away from the common one.",
    )


@method(
    title="Common noise adaptation (CoNAL)",
    year=2021,
    paper="Chu, Ma and Wang, AAAI 2021, Learning from crowds by modeling common confusions",
    config=CommonNoiseConfig,
    quick={"epochs": 30, "held_out": 0.0, "dropout": 0.0},
)
def conal(labels: Labels, cfg: CommonNoiseConfig, run: Run) -> Estimate:
    """Train a classifier through noise that is shared by all workers or a worker's own."""
    from torch import nn
    from torch.nn.functional import cross_entropy

    from crowdcore.engine.classifiers import ItemClassifier
    from crowdcore.engine.nets import Net
    from crowdcore.engine.noise import CommonNoise
    from crowdcore.engine.train import Learner, Triples, hold_out

    classifier = ItemClassifier.of(labels, cfg, run)
    said = Triples.of(labels)
    sizes = prod(classifier.items.shape), labels.n_workers, labels.n_classes

    def build() -> Learner:
        net = classifier.fresh()
        noise = CommonNoise(*sizes, cfg.directions).to(labels.device)

        def loss(rows: Tensor) -> Tensor:
            """Cross-entropy of the labels; in training, matrices that differ cost less."""
            x = classifier.features(said.item.index_select(0, rows))
            logits = noise(net(x).softmax(1), x, said.worker.index_select(0, rows))
            cost = cross_entropy(logits, said.given.index_select(0, rows))
            return cost - cfg.apart * noise.distance() if net.training else cost

        return Learner(module=nn.ModuleDict({"net": net, "noise": noise}), loss=loss)

    split = hold_out(labels, np.sort(labels.data.item), cfg.held_out, run)
    net = classifier.training.learn(split, build).module.get_submodule("net")
    assert isinstance(net, Net)
    return classifier.estimate(net, method="conal")
