"""What a worker's label says about an item's class: the same for all items, or more on easy ones.

Two kinds of worker models behind one protocol. An item's easiness s is how clear its class is, as
normalised Gini purity: 0 where all classes are alike, 1 where one is certain.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, Protocol

import torch
from torch.nn.functional import one_hot

from crowdcore.engine import em

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from crowdcore.engine.labels import Labels

Difficulty = Literal["none", "votes", "classifier", "posterior"]

MAX_ABILITY = 25.0
"""The highest ability: errors on the easiest items are then one in 10^10. In the paper's units
100."""

NEWTON_STEPS = 8
"""Newton steps of an M step."""

LABELS_PER_CHUNK = 262_144
"""Labels that are worked on together."""


class WorkerModel(Protocol):
    """How workers' labels depend on the classes of items."""

    def start(self, shares: Tensor) -> None:
        """Set the workers by vote shares [N, K], as if all items were equally easy."""

    def m_step(self, posterior: Tensor, prior: Tensor, counts: Tensor) -> None:
        """Fit the workers to the items' classes.

        Parameters
        ----------
        posterior : Tensor [N, K]
            What is believed about the items.
        prior : Tensor [N, K]
            What the classifier says about them.
        counts : Tensor [N]
            0 where an item must not be learnt from, else 1.
        """

    def log_likelihood(self) -> Tensor:
        """Log-likelihood of each item's labels under each class [N, K]."""

    def accuracy(self) -> Tensor:
        """How often workers are right about the easiest items of each class [W, K]."""

    def confusion(self) -> Tensor:
        """What workers give on the items that they labelled [W, true, given]."""

    def item_scores(self) -> dict[str, Tensor]:
        """What is known about the items [N], by name."""


class ConfusionModel:
    """Every worker has a confusion matrix, whatever the item.

    Parameters
    ----------
    labels : Labels
        The labels.
    smoothing : float
        Labels added to each cell of a matrix.
    """

    def __init__(self, labels: Labels, smoothing: float) -> None:
        self.labels, self.smoothing = labels, smoothing

    def start(self, shares: Tensor) -> None:
        """Count what workers gave against vote shares [N, K]."""
        self.m_step(shares, shares, torch.ones_like(self.labels.counts))

    def m_step(self, posterior: Tensor, prior: Tensor, counts: Tensor) -> None:
        """Count what workers gave against the posterior [N, K]."""
        given_counts = em.given_counts(self.labels, posterior * counts.unsqueeze(1))
        self.matrix = em.normalise_rows(given_counts, self.smoothing)

    def log_likelihood(self) -> Tensor:
        """Log-likelihood of each item's labels under each class [N, K]."""
        flat = self.matrix.new_ones(self.labels.n_classes)
        return em.log_scores(self.labels, flat, self.matrix)

    def accuracy(self) -> Tensor:
        """How often workers are right about each class [W, K]."""
        return self.matrix.diagonal(dim1=1, dim2=2)

    def confusion(self) -> Tensor:
        """The matrices [W, true, given]."""
        return self.matrix

    def item_scores(self) -> dict[str, Tensor]:
        """Nothing: all items are alike."""
        return {}


class AbilityModel:
    """Every worker has an ability λ ≥ 0 for each class, which counts as far as items are easy.

    To an item of class k and easiness s, a worker gives k with probability
    exp(λ s) / (exp(λ s) + K - 1); the other classes share the rest.

    Parameters
    ----------
    labels : Labels
        The labels.
    smoothing : float
        Labels of each class on items of easiness 1 that are added to what each worker gave.
    difficulty : {"none", "votes", "classifier", "posterior"}
        Where the easiness comes from; with "none" all items are easy.
    """

    def __init__(self, labels: Labels, smoothing: float, difficulty: Difficulty) -> None:
        self.labels, self.smoothing, self.difficulty = labels, smoothing, difficulty
        wrong = labels.n_classes - 1
        self.log_wrong_classes = math.log(wrong) if wrong else -math.inf  # of one class, none

    def start(self, shares: Tensor) -> None:
        """Take the vote shares' confusions for those on the easiest items (eqs. 3-6)."""
        given_counts = em.given_counts(self.labels, shares)
        accuracy = em.normalise_rows(given_counts, self.smoothing).diagonal(dim1=1, dim2=2)
        logit = accuracy.logit(em.MIN_PROBABILITY) + max(self.log_wrong_classes, 0.0)
        self.ability = logit.clamp(0, MAX_ABILITY)
        self.easiness = torch.ones_like(self.labels.counts)
        self.posterior = shares

    def m_step(self, posterior: Tensor, prior: Tensor, counts: Tensor) -> None:
        """Find the abilities that explain the labels best, by Newton within brackets.

        The objective is concave in every ability on its own: where it rises the best one is
        higher, where it falls it is lower. A step out of the bracket halves it instead.
        """
        self.easiness = self._easiness(posterior, prior)
        self.posterior = posterior * counts.unsqueeze(1)
        low, high = torch.zeros_like(self.ability), torch.full_like(self.ability, MAX_ABILITY)
        for _ in range(NEWTON_STEPS):
            slope, curvature = self._derivatives()
            low = torch.where(slope > 0, self.ability, low)
            high = torch.where(slope < 0, self.ability, high)
            newton = self.ability + slope / curvature.clamp(min=em.MIN_PROBABILITY)
            newton = newton.clamp(0, MAX_ABILITY)
            inside = (newton >= low) & (newton <= high)
            self.ability = torch.where(inside, newton, (low + high) / 2)

    def log_likelihood(self) -> Tensor:
        """Log-likelihood of each item's labels under each class [N, K]."""
        total = torch.zeros_like(self.posterior)
        for item, worker, given in self._chunks():
            logit = self._logits(item, worker)
            log_normaliser = torch.logaddexp(logit, torch.full_like(logit, self.log_wrong_classes))
            named = one_hot(given, self.labels.n_classes) * logit
            total.index_add_(0, item, named - log_normaliser)
        return self.labels.clamp(total, other=-torch.inf)

    def accuracy(self) -> Tensor:
        """How often workers are right about the easiest items of each class [W, K]."""
        return (self.ability - self.log_wrong_classes).sigmoid()

    def confusion(self) -> Tensor:
        """What workers give on the items that they labelled, of any easiness [W, true, given]."""
        easiest = self.accuracy()
        hits, total = self.smoothing * easiest, torch.full_like(self.ability, self.smoothing)
        for item, worker, _ in self._chunks():
            weight = self.posterior.index_select(0, item)
            right = self._right_probability(self._logits(item, worker))
            hits = hits.index_add(0, worker, weight * right)
            total = total.index_add(0, worker, weight)
        share = hits / total.clamp(min=em.MIN_PROBABILITY)
        accuracy = torch.where(total > em.MIN_PROBABILITY, share, easiest)
        return em.normalise_rows(em.one_coin_confusion(accuracy, self.labels.n_classes), 0.0)

    def item_scores(self) -> dict[str, Tensor]:
        """How difficult the items are, from 0 to 1 [N]."""
        return {"difficulty": 1 - self.easiness}

    def _easiness(self, posterior: Tensor, prior: Tensor) -> Tensor:
        if self.difficulty == "none":
            return torch.ones_like(self.labels.counts)
        if self.difficulty == "votes":  # of the crowd alone, also where gold is known
            votes = self.labels.votes + em.MIN_PROBABILITY
            return purity(votes / votes.sum(1, keepdim=True))
        return purity(prior if self.difficulty == "classifier" else posterior)

    def _derivatives(self) -> tuple[Tensor, Tensor]:
        """First and minus second derivatives of the expected log-likelihood, by ability [W, K].

        The smoothing counts as so many labels of each class on items of easiness 1.
        """
        easiest = self.accuracy()
        slope = self.smoothing * (1 - self.labels.n_classes * easiest)
        curvature = self.smoothing * self.labels.n_classes * easiest * (1 - easiest)
        for item, worker, given in self._chunks():
            easiness = self.easiness.index_select(0, item).unsqueeze(1)
            weight = easiness * self.posterior.index_select(0, item)
            right = self._right_probability(easiness * self.ability.index_select(0, worker))
            residual = one_hot(given, self.labels.n_classes) - right
            slope = slope.index_add(0, worker, weight * residual)
            curvature = curvature.index_add(0, worker, weight * easiness * right * (1 - right))
        return slope, curvature

    def _logits(self, item: Tensor, worker: Tensor) -> Tensor:
        """Ability times easiness of some labels, for each class [n, K]."""
        easiness = self.easiness.index_select(0, item).unsqueeze(1)
        return easiness * self.ability.index_select(0, worker)

    def _right_probability(self, logit: Tensor) -> Tensor:
        """How likely a label is right."""
        return (logit - self.log_wrong_classes).sigmoid()

    def _chunks(self) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Some labels at a time: items, workers and the classes given."""
        rows = self.labels.rows
        columns = (rows.item, rows.worker, rows.given)
        return zip(*(torch.split(column, LABELS_PER_CHUNK) for column in columns), strict=True)


def purity(distributions: Tensor) -> Tensor:
    """Return how clear the class of items is, from 0 to 1 [N], by their distributions [N, K]."""
    classes = distributions.shape[1]
    spread = (distributions - 1 / classes).square().sum(1)
    return spread * classes / max(1, classes - 1)


def worker_scores(workers: WorkerModel) -> dict[str, Tensor]:
    """Return scores of the workers [W], by name.

    Of two classes these are sensitivity (the second class) and specificity (the first), else the
    mean accuracy over classes.
    """
    accuracy = workers.accuracy()
    if accuracy.shape[1] == 2:  # noqa: PLR2004  (two is two)
        return {"sensitivity": accuracy.select(1, 1), "specificity": accuracy.select(1, 0)}
    return {"expertise": accuracy.mean(1)}
