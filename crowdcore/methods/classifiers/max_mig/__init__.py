"""Max-MIG (2019): a classifier and an aggregator that tell as much as they can of each other."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from crowdcore.artefacts.feature_posterior import FeaturePosterior
from crowdcore.artefacts.trained_network import TrainedNetwork
from crowdcore.config import ClassifierConfig
from crowdcore.method import method
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class InformationConfig(ClassifierConfig):
    """Settings of Max-MIG."""

    batch: int = Field(
        64, ge=2, le=1_000_000, description="Items per step; each is compared with all others."
    )
    answer: Literal["classifier", "aggregator", "both"] = Field(
        "both",
        description="Whose truths are reported: the classifier's, the label aggregator's, or those "
        "of both joined.",
    )


@method(
    title="Mutual information of features and labels (Max-MIG)",
    year=2019,
    paper="Cao, Xu, Kong and Wang, ICLR 2019, arXiv:1905.13436",
    config=InformationConfig,
    quick={"epochs": 30, "rate": 0.01, "held_out": 0.0, "dropout": 0.0},
    leaves=[TrainedNetwork, FeaturePosterior],
)
def max_mig(labels: Labels, cfg: InformationConfig, run: Run) -> ClassEstimate:
    """Train a classifier and a label aggregator to maximise their mutual information."""
    import torch
    from torch import nn

    from crowdcore.engine.learning.item_classifier import ItemClassifier
    from crowdcore.engine.learning.networks import Net
    from crowdcore.engine.learning.training import Learner
    from crowdcore.engine.splits import hold_out_groups
    from crowdcore.methods.classifiers._answer_scores import AnswerScores
    from crowdcore.methods.classifiers.max_mig._bags import LabelsByItem

    classifier = ItemClassifier.from_labels(labels, cfg, run)
    by_item = LabelsByItem.from_labels(labels)
    labelled = np.flatnonzero(labels.data.labels_per_item)
    item = labels.tensor(labelled)

    def build() -> Learner:
        net, answers = classifier.new_net(), AnswerScores(labels)

        def loss(rows: Tensor) -> Tensor:
            items = item.index_select(0, rows)
            h = net(classifier.features(items)).log_softmax(1)
            scores = by_item.gather(items).sums(answers.by_key)
            g = scores.log_softmax(1)  # below eq. 3, uniform prior
            return _loss(h, g)

        return Learner(
            module=nn.ModuleDict({"net": net, "answers": answers}),
            loss=loss,
            each_epoch=lambda rows: answers.initialise(item.index_select(0, rows)),
        )

    split = hold_out_groups(labels, np.arange(len(labelled)), cfg.held_out, run)
    trained = classifier.training.learn(split, build).module
    net, answers = trained.get_submodule("net"), trained.get_submodule("answers")
    assert isinstance(net, Net)
    assert isinstance(answers, AnswerScores)
    h = classifier.log_probabilities(net)
    with torch.no_grad():
        g = labels.sum_over_items(answers.by_key.to(labels.dtype)).log_softmax(1)
    scores = {"classifier": h, "aggregator": g, "both": h + g}[cfg.answer]
    return classifier.estimate(
        net,
        method="max_mig",
        posterior=scores.softmax(1),
        artefacts=[] if cfg.answer == "classifier" else [FeaturePosterior(probabilities=h.exp())],
    )


def _loss(h: Tensor, g: Tensor) -> Tensor:
    """Minus a lower bound of the mutual information of two log posteriors [n, K].

    With KL as divergence: posteriors of the same item should agree, those of different items not.
    The pairs of different items are summed without being listed.
    """
    n, classes = h.shape
    same = (h + g).logsumexp(1) + log(classes)  # [n] log of sum_k h_k g_k / p_k
    pairs = classes * (h.exp().sum(0) * g.exp().sum(0)).sum() - same.exp().sum()
    return pairs / max(1, n * n - n) - same.mean() - 1
