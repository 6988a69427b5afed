"""CoNAL (2021): a classifier that tells the crowd's common noise from each worker's own."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from pydantic import Field

from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.config import ClassifierConfig
from crowdcore.method import method
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class CommonNoiseConfig(ClassifierConfig):
    """Settings of CoNAL."""

    batch: int = Field(128, ge=1, le=1_000_000, description="Labels per step.")
    rate: float = Field(3e-3, gt=0, le=1, description="Learning rate of Adam.")
    directions: int = Field(
        20,
        ge=1,
        le=1024,
        description="Dimensions of the space in which the gate compares items and workers.",
    )
    apart: float = Field(
        1e-5,
        ge=0,
        le=1,
        description="Weight in the loss of how far workers' matrices are from the common one.",
    )


@method(
    title="Common noise adaptation (CoNAL)",
    year=2021,
    paper="Chu, Ma and Wang, AAAI 2021, Learning from crowds by modeling common confusions",
    config=CommonNoiseConfig,
    quick={"epochs": 30, "held_out": 0.0, "dropout": 0.0},
    leaves=[TrainedNetwork],
)
def conal(labels: Labels, cfg: CommonNoiseConfig, run: Run) -> ClassEstimate:
    """Train a classifier through a noise model with common and individual confusions."""
    from torch import nn
    from torch.nn.functional import cross_entropy

    from crowdcore.engine.learning.item_classifier import ItemClassifier
    from crowdcore.engine.learning.networks import Net
    from crowdcore.engine.learning.training import Learner
    from crowdcore.engine.splits import hold_out_groups
    from crowdcore.methods.classifiers.conal._common_noise import CommonNoise

    classifier = ItemClassifier.from_labels(labels, cfg, run)
    observed = labels.rows
    sizes = prod(classifier.items.shape), labels.n_workers, labels.n_classes

    def build() -> Learner:
        net = classifier.new_net()
        noise = CommonNoise(*sizes, cfg.directions).to(labels.device)

        def loss(rows: Tensor) -> Tensor:
            """Cross-entropy of the labels; in training, matrices that differ cost less."""
            x = classifier.features(observed.item.index_select(0, rows))
            logits = noise(net(x).softmax(1), x, observed.worker.index_select(0, rows))
            cost = cross_entropy(logits, observed.given.index_select(0, rows))
            return cost - cfg.apart * noise.distance() if net.training else cost

        return Learner(module=nn.ModuleDict({"net": net, "noise": noise}), loss=loss)

    item_of_row = labels.data.item[observed.order]
    split = hold_out_groups(labels, item_of_row, cfg.held_out, run)
    net = classifier.training.learn(split, build).module.get_submodule("net")
    assert isinstance(net, Net)
    return classifier.estimate(net, method="conal")
