"""A classifier of items and models of the workers, fitted in turn by EM."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch

from crowdcore.artefacts.feature_posterior import FeaturePosterior
from crowdcore.engine import em
from crowdcore.engine.learning import networks
from crowdcore.engine.learning.item_classifier import ItemClassifier
from crowdcore.engine.learning.training import Learner
from crowdcore.engine.splits import hold_out_groups
from crowdcore.engine.worker_models import WorkerModel, worker_scores
from crowdcore.methods.difficulty._softmax_regression import SoftmaxRegression

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.engine.labels import Labels
    from crowdcore.engine.learning.networks import Net
    from crowdcore.methods.difficulty._config import JointConfig
    from crowdcore.results.classes import ClassEstimate
    from crowdcore.run import Run

FIRST_NEWTON_ROUNDS = 5
"""Newton rounds on the vote shares, before the first E step; later ones go on from there."""


@dataclass(frozen=True, kw_only=True, eq=False)
class JointFit:
    """What EM ends with: the classifier, the workers, and the posterior by both together."""

    classifier: ItemClassifier
    net: Net
    workers: WorkerModel
    posterior: Tensor  # [N, K]
    feature_posterior: Tensor  # [N, K] by the classifier alone

    def estimate(self, method: str) -> ClassEstimate:
        """The method's estimate, with scores of workers and items and the classifier."""
        # A classifier that knows items by their labels is not blind to them even alone.
        from_features = self.classifier.items.origin == "features"
        by_features = FeaturePosterior(probabilities=self.feature_posterior)
        return self.classifier.estimate(
            self.net,
            method=method,
            posterior=self.posterior,
            confusion=self.workers.confusion(),
            worker_scores=worker_scores(self.workers),
            item_scores=self.workers.item_scores(),
            artefacts=[by_features] if from_features else [],
        )


def fit_jointly(
    labels: Labels, cfg: JointConfig, run: Run, new_workers: Callable[[], WorkerModel]
) -> JointFit:
    """Alternate between posterior (E), classifier and workers (M), from the vote shares on.

    The classifier's M step takes the easiness of items as given.
    """
    data = labels.data
    held_at_gold = data.has_gold & labels.use_gold
    items = np.flatnonzero((data.labels_per_item > 0) | held_at_gold)
    if cfg.classifier == "logistic":
        return _fit_regression(labels, cfg, run, new_workers(), items)
    return _fit_network(labels, cfg, run, new_workers, items)


def _fit_regression(
    labels: Labels, cfg: JointConfig, run: Run, workers: WorkerModel, items: NDArray[np.int64]
) -> JointFit:
    linear_cfg = cfg.model_copy(update={"hidden": 0, "dropout": 0.0})
    classifier = ItemClassifier.from_labels(labels, linear_cfg, run)
    # Of pictures too: a regression on their pixels, where a net would have convolutions.
    classifier = replace(classifier, description={**classifier.description, "kind": "linear"})
    counts = torch.zeros_like(labels.counts).index_fill(0, labels.tensor(items), 1.0)
    regression = SoftmaxRegression(classifier.items.x, counts, labels.n_classes, ridge=cfg.ridge)
    posterior = em.initial_posterior(labels, "votes")
    workers.start(posterior)
    for step in run.loop(cfg.max_iter, "EM"):
        regression.fit(posterior, rounds=1 if step else FIRST_NEWTON_ROUNDS)
        log_prior = regression.log_probabilities()
        workers.m_step(posterior, log_prior.exp(), counts)
        scores = log_prior + workers.log_likelihood()
        posterior, log_likelihood = em.normalise(labels, scores)
        run.log(loglik=log_likelihood / labels.n_labels)
        if run.plateaued("loglik", cfg.tol):
            break
    net = networks.build(classifier.description)  # on the host: it is only to be kept
    width = len(regression.coefficients) - 1
    weight, bias = torch.split(regression.coefficients, [width, 1])
    net.load_state_dict({"head.weight": weight.T, "head.bias": bias.squeeze(0)})
    return JointFit(
        classifier=classifier,
        net=net,
        workers=workers,
        posterior=posterior,
        feature_posterior=log_prior.exp(),
    )


class _NetworkWithWorkers:
    """A network that learns along with the workers: an EM step before every epoch.

    Workers who are not refitted stay as the vote shares show them.
    """

    def __init__(
        self,
        classifier: ItemClassifier,
        workers: WorkerModel,
        items: Tensor,
        net: Net,
        *,
        refit_workers: bool,
    ) -> None:
        self.classifier, self.workers, self.items = classifier, workers, items
        self.labels, self.net, self.refit_workers = classifier.labels, net, refit_workers
        workers.start(em.initial_posterior(self.labels, "votes"))
        self.label_log_likelihood = workers.log_likelihood()  # [N, K]

    @property
    def learner(self) -> Learner:
        """What the training loop needs to know."""
        return Learner(module=self.net, loss=self.loss, each_epoch=self.each_epoch)

    def each_epoch(self, rows: Tensor) -> None:
        """Fit the workers to the posterior of the items at `rows`."""
        if not self.refit_workers:
            return
        log_prior = self.classifier.log_probabilities(self.net)
        posterior, _ = em.normalise(self.labels, log_prior + self.label_log_likelihood)
        train_items = self.items.index_select(0, rows)
        counts = torch.zeros_like(self.labels.counts).index_fill(0, train_items, 1.0)
        self.workers.m_step(posterior, log_prior.exp(), counts)
        self.label_log_likelihood = self.workers.log_likelihood()

    def loss(self, rows: Tensor) -> Tensor:
        """Minus the mean log-likelihood of items' labels; its gradient is that of an M step."""
        item = self.items.index_select(0, rows)
        log_prior: Tensor = self.net(self.classifier.features(item)).log_softmax(1)
        scores = log_prior + self.label_log_likelihood.index_select(0, item)
        return -scores.logsumexp(1).mean()


def _fit_network(
    labels: Labels,
    cfg: JointConfig,
    run: Run,
    new_workers: Callable[[], WorkerModel],
    items: NDArray[np.int64],
) -> JointFit:
    """Train a net against workers as the vote shares show them, then along with the workers.

    A net that knows nothing yet would find all items hard, and learn nothing from their labels.
    """
    item = labels.tensor(items)
    split = hold_out_groups(labels, np.arange(len(items)), cfg.held_out, run)
    first = ItemClassifier.from_labels(labels, cfg.model_copy(update={"refit": False}), run)
    second = replace(first, cfg=cfg)

    def with_fixed_workers() -> Learner:
        net = first.new_net()
        return _NetworkWithWorkers(first, new_workers(), item, net, refit_workers=False).learner

    pretrained = first.training.learn(split, with_fixed_workers, "Training on vote shares").module
    assert isinstance(pretrained, networks.Net)
    last: _NetworkWithWorkers

    def with_refitted_workers() -> Learner:
        nonlocal last
        net = copy.deepcopy(pretrained)
        last = _NetworkWithWorkers(second, new_workers(), item, net, refit_workers=True)
        return last.learner

    second.training.learn(split, with_refitted_workers, "EM")
    last.each_epoch(split.all_rows)
    log_prior = second.log_probabilities(last.net)
    posterior, _ = em.normalise(labels, log_prior + last.label_log_likelihood)
    return JointFit(
        classifier=second,
        net=last.net,
        workers=last.workers,
        posterior=posterior,
        feature_posterior=log_prior.exp(),
    )
