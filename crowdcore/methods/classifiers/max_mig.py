"""Max-MIG (2019): a classifier and an aggregator that tell as much as they can of each other."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from crowdcore.artefacts import alone
from crowdcore.method import ClassifierConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.labels import Labels
    from crowdcore.run import Run


class InformationConfig(ClassifierConfig):
    """Settings of Max-MIG."""

    batch: int = Field(
        64, ge=2, le=1_000_000, description="Items that make one step; each is compared with all."
    )
    answer: Literal["classifier", "aggregator", "both"] = Field(
        "both",
        description="Whose truths are reported: the classifier's, those of the labels' aggregator, "
        "or both joined.",
    )


@method(
    title="Mutual information of features and labels (Max-MIG)",
    year=2019,
    paper="Cao, Xu, Kong and Wang, ICLR 2019, arXiv:1905.13436",
    config=InformationConfig,
    quick={"epochs": 30, "rate": 0.01, "held_out": 0.0, "dropout": 0.0},
)
def max_mig(labels: Labels, cfg: InformationConfig, run: Run) -> Estimate:
    """Train a classifier of items and an aggregator of labels to tell much of each other."""
    import torch
    from torch import nn

    from crowdcore.engine.bags import LabelsByItem
    from crowdcore.engine.classifiers import ItemClassifier
    from crowdcore.engine.nets import Net
    from crowdcore.engine.noise import Answers
    from crowdcore.engine.train import Learner, hold_out

    classifier = ItemClassifier.of(labels, cfg, run)
    said = LabelsByItem.of(labels)
    known = np.flatnonzero(labels.data.labels_per_item)
    item = labels.tensor(known)

    def build() -> Learner:
        net, answers = classifier.fresh(), Answers(labels)

        def loss(rows: Tensor) -> Tensor:
            items = item.index_select(0, rows)
            h = net(classifier.features(items)).log_softmax(1)
            g = said.about(items).sums(answers.rows).log_softmax(1)  # below eq. 3, uniform prior
            return _loss(h, g)

        return Learner(
            module=nn.ModuleDict({"net": net, "answers": answers}),
            loss=loss,
            each_epoch=lambda rows: answers.begin(item.index_select(0, rows)),
        )

    split = hold_out(labels, np.arange(len(known)), cfg.held_out, run)
    learnt = classifier.training.learn(split, build).module
    net, answers = learnt.get_submodule("net"), learnt.get_submodule("answers")
    assert isinstance(net, Net)
    assert isinstance(answers, Answers)
    h = classifier.log_probabilities(net)
    with torch.no_grad():
        g = labels.sum_over_items(answers.rows.to(labels.dtype)).log_softmax(1)
    scores = {"classifier": h, "aggregator": g, "both": h + g}[cfg.answer]
    return classifier.estimate(
        net,
        method="max_mig",
        posterior=scores.softmax(1),
        artefacts={} if cfg.answer == "classifier" else {alone.NAME: alone.parts(h.exp())},
    )


def _loss(h: Tensor, g: Tensor) -> Tensor:
    """Minus a lower bound of the mutual information of two opinions, log probabilities [n, K].

    With KL as divergence: the same item's opinions should meet, those of different items not.
    The pairs of different items are summed without being listed.
    """
    n, classes = h.shape
    same = (h + g).logsumexp(1) + log(classes)  # [n] log of sum_k h_k g_k / p_k
    pairs = classes * (h.exp().sum(0) * g.exp().sum(0)).sum() - same.exp().sum()
    return pairs / max(1, n * n - n) - same.mean() - 1
