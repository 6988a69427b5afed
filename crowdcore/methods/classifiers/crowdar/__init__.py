"""CrowdAR (2023): a classifier that trusts a label as far as the worker is a match for the item."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.config import ClassifierConfig
from crowdcore.method import method
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


DEFAULT_RELIABILITY = 0.5
"""The reliability of a worker without labels."""


class ReliabilityConfig(ClassifierConfig):
    """Settings of CrowdAR."""

    batch: int = Field(128, ge=1, le=1_000_000, description="Labels per step.")
    rate: float = Field(3e-3, gt=0, le=1, description="Learning rate of Adam.")
    judging: float = Field(
        0.1,
        ge=0,
        le=1,
        description="Share of the loss that is about who agrees with the classifier; the rest is "
        "about the labels.",
    )


@method(
    title="Annotation reliability (CrowdAR)",
    year=2023,
    paper="Cao et al., SIGIR 2023, Learning from crowds with annotation reliability",
    config=ReliabilityConfig,
    quick={"epochs": 30, "rate": 0.01, "held_out": 0.0, "dropout": 0.0},
    leaves=[TrainedNetwork],
)
def crowdar(labels: Labels, cfg: ReliabilityConfig, run: Run) -> ClassEstimate:
    """Train a classifier from all labels, each softened by its estimated reliability."""
    import torch
    from torch import nn
    from torch.nn.functional import cross_entropy

    from crowdcore.engine.learning.crowd_layer import CrowdLayer
    from crowdcore.engine.learning.item_classifier import ItemClassifier
    from crowdcore.engine.learning.networks import Net, trunk_width
    from crowdcore.engine.learning.training import ROWS_PER_CHUNK, Learner
    from crowdcore.engine.splits import hold_out_groups
    from crowdcore.methods.classifiers.crowdar._reliability import Reliability

    classifier = ItemClassifier.from_labels(labels, cfg, run)
    observed = labels.rows
    sizes = labels.n_workers, labels.n_classes

    def build() -> Learner:
        net = classifier.new_net()
        layer = CrowdLayer("mw", *sizes).to(labels.device)
        reliability = Reliability(trunk_width(net), *sizes).to(labels.device)

        def loss(rows: Tensor) -> Tensor:
            worker, given = (
                codes.index_select(0, rows) for codes in (observed.worker, observed.given)
            )
            hidden = net.trunk(classifier.features(observed.item.index_select(0, rows)))
            shares = net.head(hidden).softmax(1)
            logits = layer(shares, worker)
            if not net.training:
                return cross_entropy(logits, given)
            trust = reliability(hidden.detach(), shares, worker)
            return _loss(logits, shares, trust, given, cfg.judging)

        modules = {"net": net, "layer": layer, "reliability": reliability}
        return Learner(module=nn.ModuleDict(modules), loss=loss)

    item_of_row = labels.data.item[observed.order]
    split = hold_out_groups(labels, item_of_row, cfg.held_out, run)
    trained = classifier.training.learn(split, build).module
    net, reliability = trained.get_submodule("net"), trained.get_submodule("reliability")
    assert isinstance(net, Net)
    total = torch.zeros_like(labels.worker_counts)
    with torch.no_grad():
        for rows in torch.split(labels.tensor(np.arange(labels.n_labels)), ROWS_PER_CHUNK):
            item, worker = (
                codes.index_select(0, rows) for codes in (observed.item, observed.worker)
            )
            hidden = net.trunk(classifier.features(item))
            trust = reliability(hidden, net.head(hidden).softmax(1), worker)
            total.index_add_(0, worker, trust.sigmoid().to(total.dtype))
    mean = total / labels.worker_counts.clamp(min=1)
    scores = {"reliability": torch.where(labels.worker_counts > 0, mean, DEFAULT_RELIABILITY)}
    return classifier.estimate(net, method="crowdar", worker_scores=scores)


def _loss(logits: Tensor, shares: Tensor, trust: Tensor, given: Tensor, judging: float) -> Tensor:
    """Cross-entropy of labels softened by trust, and of trust in who agrees with the net."""
    from torch.nn.functional import binary_cross_entropy_with_logits

    logs, reliable = logits.log_softmax(1), trust.sigmoid()
    label = logs.gather(1, given.unsqueeze(1)).squeeze(1)
    softened = reliable * label + (1 - reliable) * logs.mean(1)
    agrees = (shares.argmax(1) == given).to(trust.dtype)
    judgement = binary_cross_entropy_with_logits(trust, agrees)
    return judging * judgement - (1 - judging) * softened.mean()
