"""A classifier of items and the expertise of workers, found in turn by EM."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from crowdcore.artefacts import alone
from crowdcore.engine import em, nets
from crowdcore.engine.classifiers import ItemClassifier
from crowdcore.engine.expertise import Experts, worker_scores
from crowdcore.engine.logistic import SoftmaxRegression
from crowdcore.engine.train import Learner, hold_out

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.nets import Net
    from crowdcore.labels import Labels
    from crowdcore.method import JointConfig
    from crowdcore.result import Estimate
    from crowdcore.run import Run

FIRST_ROUNDS = 5
"""Newton rounds on the vote shares, before the first E step; later ones go on from there."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Joint:
    """What EM ends with: the classifier, the workers, and what both together believe."""

    classifier: ItemClassifier
    net: Net
    experts: Experts
    posterior: Tensor  # [N, K]
    own: Tensor  # [N, K], what the classifier says by itself

    def estimate(self, method: str) -> Estimate:
        """The beliefs, what is known of workers and items, and the classifier for further ones."""
        estimate = self.classifier.estimate(
            self.net,
            method=method,
            posterior=self.posterior,
            confusion=self.experts.confusion(),
            worker_scores=worker_scores(self.experts),
            item_scores=self.experts.item_scores(),
        )
        if self.classifier.items.origin == "labels":
            return estimate  # then not even the classifier is blind to an item's labels
        parts = alone.parts(self.own)
        return replace(estimate, artefacts={**estimate.artefacts, alone.NAME: parts})


def fit_jointly(
    labels: Labels, cfg: JointConfig, run: Run, experts: Callable[[], Experts]
) -> Joint:
    """Alternate between beliefs (E), classifier and workers (M), from the vote shares on.

    `experts` makes fresh workers. The classifier's M step takes the easiness of items for given.
    """
    data = labels.data
    told = data.has_gold & labels.use_gold
    known = np.flatnonzero((data.labels_per_item > 0) | told)
    if cfg.classifier == "logistic":
        return _by_newton(labels, cfg, run, experts(), known)
    return _by_epochs(labels, cfg, run, experts, known)


def _by_newton(labels: Labels, cfg: JointConfig, run: Run, experts: Experts, known: Any) -> Joint:
    linear = ItemClassifier.of(labels, cfg.model_copy(update={"hidden": 0, "dropout": 0.0}), run)
    # Of pictures too: a regression on their pixels, where a net would have convolutions.
    linear = replace(linear, description={**linear.description, "kind": "linear"})
    counts = torch.zeros_like(labels.counts).index_fill(0, labels.tensor(known), 1.0)
    regression = SoftmaxRegression(linear.items.x, counts, labels.n_classes, ridge=cfg.ridge)
    posterior = em.start(labels, "votes")
    experts.begin(posterior)
    for step in run.loop(cfg.max_iter, "EM"):
        regression.fit(posterior, rounds=1 if step else FIRST_ROUNDS)
        logs = regression.log_probabilities()
        experts.learn(posterior, logs.exp(), counts)
        posterior, loglik = em.normalise(labels, logs + experts.evidence())
        run.log(loglik=loglik / labels.n_labels)
        if run.plateaued("loglik", cfg.tol):
            break
    net = nets.build(linear.description)  # on the host: it is only to be kept
    width = len(regression.coefficients) - 1
    weight, bias = torch.split(regression.coefficients, [width, 1])
    net.load_state_dict({"head.weight": weight.T, "head.bias": bias.squeeze(0)})
    return Joint(classifier=linear, net=net, experts=experts, posterior=posterior, own=logs.exp())


class _Epochs:
    """A network that learns along with the workers: an EM step before every epoch."""

    def __init__(
        self, classifier: ItemClassifier, experts: Experts, known: Tensor, net: Net, *, moves: bool
    ) -> None:
        """`moves` is False where the workers stay as the vote shares show them."""
        self.classifier, self.experts, self.known = classifier, experts, known
        self.labels, self.net, self.moves = classifier.labels, net, moves
        experts.begin(em.start(self.labels, "votes"))
        self.evidence = experts.evidence()

    @property
    def learner(self) -> Learner:
        """What the training loop needs to know."""
        return Learner(module=self.net, loss=self.loss, each_epoch=self.each_epoch)

    def each_epoch(self, rows: Tensor) -> None:
        """Judge the workers by the beliefs about the items at `rows`."""
        if not self.moves:
            return
        logs = self.classifier.log_probabilities(self.net)
        posterior, _ = em.normalise(self.labels, logs + self.evidence)
        learnt = self.known.index_select(0, rows)
        counts = torch.zeros_like(self.labels.counts).index_fill(0, learnt, 1.0)
        self.experts.learn(posterior, logs.exp(), counts)
        self.evidence = self.experts.evidence()

    def loss(self, rows: Tensor) -> Tensor:
        """How badly net and workers explain labels; its slope is that of an M step on beliefs."""
        item = self.known.index_select(0, rows)
        logs: Tensor = self.net(self.classifier.features(item)).log_softmax(1)
        return -(logs + self.evidence.index_select(0, item)).logsumexp(1).mean()


def _by_epochs(
    labels: Labels, cfg: JointConfig, run: Run, experts: Callable[[], Experts], known: Any
) -> Joint:
    """Train a net against workers as the vote shares show them, then along with the workers.

    A net that knows nothing yet would find all items hard, and learn nothing from their labels.
    """
    items = labels.tensor(known)
    split = hold_out(labels, np.arange(len(known)), cfg.held_out, run)
    first = ItemClassifier.of(labels, cfg.model_copy(update={"refit": False}), run)
    second = replace(first, cfg=cfg)

    def begin() -> Learner:
        return _Epochs(first, experts(), items, first.fresh(), moves=False).learner

    warm = first.training.learn(split, begin, "Training on vote shares").module
    assert isinstance(warm, nets.Net)
    last: _Epochs

    def go_on() -> Learner:
        nonlocal last
        last = _Epochs(second, experts(), items, copy.deepcopy(warm), moves=True)
        return last.learner

    second.training.learn(split, go_on, "EM")
    last.each_epoch(split.everything)
    logs = second.log_probabilities(last.net)
    posterior, _ = em.normalise(labels, logs + last.evidence)
    return Joint(
        classifier=second,
        net=last.net,
        experts=last.experts,
        posterior=posterior,
        own=logs.exp(),
    )
