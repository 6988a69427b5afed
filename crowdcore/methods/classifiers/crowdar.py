"""CrowdAR (2023): a classifier that trusts a label as far as the worker is a match for the item."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from crowdcore.method import ClassifierConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.labels import Labels
    from crowdcore.run import Run


UNKNOWN_WORKER = 0.5
"""The reliability of a worker without labels."""


class ReliabilityConfig(ClassifierConfig):
    """Settings of CrowdAR."""

    batch: int = Field(128, ge=1, le=1_000_000, description="Labels that make one step.")
    rate: float = Field(3e-3, gt=0, le=1, description="Learning rate of Adam.")
    judging: float = Field(
        0.1,
        ge=0,
        le=1,
        description="Share of the loss that asks who agrees with the classifier; the rest asks for "
        "the labels.",
    )


@method(
    title="Annotation reliability (CrowdAR)",
    year=2023,
    paper="Cao et al., SIGIR 2023, Learning from crowds with annotation reliability",
    config=ReliabilityConfig,
    quick={"epochs": 30, "rate": 0.01, "held_out": 0.0, "dropout": 0.0},
)
def crowdar(labels: Labels, cfg: ReliabilityConfig, run: Run) -> Estimate:
    """Train a classifier from all labels, each softened by how far its worker can be trusted."""
    import torch
    from torch import nn
    from torch.nn.functional import cross_entropy

    from crowdcore.engine.classifiers import ItemClassifier
    from crowdcore.engine.crowd_layer import CrowdLayer
    from crowdcore.engine.nets import Net, trunk_width
    from crowdcore.engine.noise import Reliability
    from crowdcore.engine.train import AT_ONCE, Learner, Triples, hold_out

    classifier = ItemClassifier.of(labels, cfg, run)
    said = Triples.of(labels)
    sizes = labels.n_workers, labels.n_classes

    def build() -> Learner:
        net = classifier.fresh()
        layer = CrowdLayer("mw", *sizes).to(labels.device)
        reliability = Reliability(trunk_width(net), *sizes).to(labels.device)

        def loss(rows: Tensor) -> Tensor:
            worker, given = (codes.index_select(0, rows) for codes in (said.worker, said.given))
            hidden = net.trunk(classifier.features(said.item.index_select(0, rows)))
            shares = net.head(hidden).softmax(1)
            logits = layer(shares, worker)
            if not net.training:
                return cross_entropy(logits, given)
            trust = reliability(hidden.detach(), shares, worker)
            return _loss(logits, shares, trust, given, cfg.judging)

        parts = {"net": net, "layer": layer, "reliability": reliability}
        return Learner(module=nn.ModuleDict(parts), loss=loss)

    split = hold_out(labels, np.sort(labels.data.item), cfg.held_out, run)
    learnt = classifier.training.learn(split, build).module
    net, reliability = learnt.get_submodule("net"), learnt.get_submodule("reliability")
    assert isinstance(net, Net)
    total = torch.zeros_like(labels.worker_counts)
    with torch.no_grad():
        for rows in torch.split(labels.tensor(np.arange(labels.n_labels)), AT_ONCE):
            item, worker = (codes.index_select(0, rows) for codes in (said.item, said.worker))
            hidden = net.trunk(classifier.features(item))
            trust = reliability(hidden, net.head(hidden).softmax(1), worker)
            total.index_add_(0, worker, trust.sigmoid().to(total.dtype))
    mean = total / labels.worker_counts.clamp(min=1)
    scores = {"reliability": torch.where(labels.worker_counts > 0, mean, UNKNOWN_WORKER)}
    return classifier.estimate(net, method="crowdar", worker_scores=scores)


def _loss(logits: Tensor, shares: Tensor, trust: Tensor, given: Tensor, judging: float) -> Tensor:
    """What labels cost that are softened by trust, and what trust costs in the wrong workers."""
    from torch.nn.functional import binary_cross_entropy_with_logits

    logs, reliable = logits.log_softmax(1), trust.sigmoid()
    label = logs.gather(1, given.unsqueeze(1)).squeeze(1)
    softened = reliable * label + (1 - reliable) * logs.mean(1)
    agrees = (shares.argmax(1) == given).to(trust.dtype)
    wrong = binary_cross_entropy_with_logits(trust, agrees)
    return judging * wrong - (1 - judging) * softened.mean()
