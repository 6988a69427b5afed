"""DL-EM (2016): a classifier and the workers' confusion matrices, learnt in turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    from crowdcore.engine.learning.networks import Net
    from crowdcore.run import Run


class DeepEMConfig(ClassifierConfig):
    """Settings of DL-EM."""

    smoothing: float = Field(
        0.1,
        gt=0,
        le=10,
        description="Labels added to each cell of a confusion matrix, against zeros.",
    )


@method(
    title="Classifier and confusion matrices by EM (DL-EM)",
    year=2016,
    paper="Albarqouni et al., AggNet, doi:10.1109/TMI.2016.2528120",
    config=DeepEMConfig,
    quick={"epochs": 30, "rate": 0.01, "held_out": 0.0, "dropout": 0.0},
    leaves=[TrainedNetwork, FeaturePosterior],
)
def dl_em(labels: Labels, cfg: DeepEMConfig, run: Run) -> ClassEstimate:
    """Train a classifier and the workers' confusion matrices in turn, by EM."""
    import torch

    from crowdcore.engine import em
    from crowdcore.engine.learning.item_classifier import ItemClassifier
    from crowdcore.engine.learning.training import Learner
    from crowdcore.engine.splits import hold_out_groups
    from crowdcore.engine.worker_models import ConfusionModel

    classifier = ItemClassifier.from_labels(labels, cfg, run)
    labelled = np.flatnonzero(labels.data.labels_per_item)
    item = labels.tensor(labelled)
    workers = ConfusionModel(labels, cfg.smoothing)
    posterior = label_log_likelihood = em.initial_posterior(labels, "votes")  # [N, K]
    started = False

    def em_step(net: Net, rows: Tensor) -> None:
        """E step with the net as it is, then the workers' part of the M step (below eq. 1)."""
        nonlocal posterior, label_log_likelihood, started
        if started:
            scores = classifier.log_probabilities(net) + label_log_likelihood
            posterior, _ = em.normalise(labels, scores)
        train_items = item.index_select(0, rows)
        counts = torch.zeros_like(labels.counts).index_fill(0, train_items, 1.0)
        workers.m_step(posterior, posterior, counts)
        label_log_likelihood, started = workers.log_likelihood(), True

    def build() -> Learner:
        nonlocal posterior, started
        net = classifier.new_net()
        posterior, started = em.initial_posterior(labels, "votes"), False

        def loss(rows: Tensor) -> Tensor:
            """In training the net follows the posterior; held-out items must explain labels."""
            items = item.index_select(0, rows)
            log_prior: Tensor = net(classifier.features(items)).log_softmax(1)
            if net.training:
                return -(posterior.index_select(0, items) * log_prior).sum(1).mean()  # eq. 1
            scores = label_log_likelihood.index_select(0, items) + log_prior
            return -scores.logsumexp(1).mean()

        return Learner(module=net, loss=loss, each_epoch=lambda rows: em_step(net, rows))

    split = hold_out_groups(labels, np.arange(len(labelled)), cfg.held_out, run)
    net = classifier.learn(split, build)
    em_step(net, split.all_rows)
    log_prior = classifier.log_probabilities(net)
    posterior, _ = em.normalise(labels, log_prior + label_log_likelihood)
    # A classifier that knows items by their labels is not blind to them even alone.
    from_features = classifier.items.origin == "features"
    return classifier.estimate(
        net,
        method="dl_em",
        posterior=posterior,
        confusion=workers.confusion(),
        artefacts=[FeaturePosterior(probabilities=log_prior.exp())] if from_features else [],
    )
