"""What a worker's label tells of an item's class: the same for all items, or more on easy ones.

Two kinds of experts, with one way to be asked. An item's easiness s is how clear its class is, as
normalised Gini purity: 0 where all classes are alike, 1 where one is certain.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, Protocol

import torch
from torch.nn.functional import one_hot

from crowdcore.engine import em
from crowdcore.engine.train import Triples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from crowdcore.labels import Labels

Difficulty = Literal["none", "votes", "classifier", "posterior"]

MOST = 25.0
"""The highest ability: errors on the easiest items are then one in 10^10. In the paper's units
100."""

STEPS = 8
"""Newton steps of an M step."""

AT_ONCE = 262_144
"""Labels that are worked on together."""


class Experts(Protocol):
    """Workers whose labels are evidence of the classes of items."""

    def begin(self, shares: Tensor) -> None:
        """Set the workers by vote shares [N, K], as if all items were equally easy."""

    def learn(self, posterior: Tensor, prior: Tensor, counts: Tensor) -> None:
        """M step: judge workers by items of which `posterior` [N, K] is believed.

        `prior` [N, K] is what the classifier says of them; `counts` [N] is 0 where an item must
        not be learnt from.
        """

    def evidence(self) -> Tensor:
        """How likely each item's labels are under each class [N, K], in logarithms."""

    def right(self) -> Tensor:
        """How often workers are right about the easiest items of each class [W, K]."""

    def confusion(self) -> Tensor:
        """What workers give on the items that they saw [W, true, given]."""

    def item_scores(self) -> dict[str, Tensor]:
        """What is known of the items [N], by name."""


class Confusions:
    """Every worker has a confusion matrix, whatever the item."""

    def __init__(self, labels: Labels, smoothing: float) -> None:
        self.labels, self.smoothing = labels, smoothing

    def begin(self, shares: Tensor) -> None:
        """Count what workers gave against vote shares [N, K]."""
        self.learn(shares, shares, torch.ones_like(self.labels.counts))

    def learn(self, posterior: Tensor, prior: Tensor, counts: Tensor) -> None:
        """Count what workers gave against the posterior [N, K]."""
        seen = em.given_counts(self.labels, posterior * counts.unsqueeze(1))
        self.matrix = em.rows_of(seen, self.smoothing)

    def evidence(self) -> Tensor:
        """How likely each item's labels are under each class [N, K], in logarithms."""
        flat = self.matrix.new_ones(self.labels.n_classes)
        return em.log_scores(self.labels, flat, self.matrix)

    def right(self) -> Tensor:
        """How often workers are right about each class [W, K]."""
        return self.matrix.diagonal(dim1=1, dim2=2)

    def confusion(self) -> Tensor:
        """The matrices [W, true, given]."""
        return self.matrix

    def item_scores(self) -> dict[str, Tensor]:
        """Nothing: all items are alike."""
        return {}


class Abilities:
    """Every worker has an ability λ ≥ 0 for each class, which counts as far as items are easy.

    Of an item of class k and easiness s, a worker says k with probability
    exp(λ s) / (exp(λ s) + K - 1); the other classes share the rest. `difficulty` says where the
    easiness comes from: votes, classifier or posterior; with "none" all items are easy.
    """

    def __init__(self, labels: Labels, smoothing: float, difficulty: Difficulty) -> None:
        self.labels, self.smoothing, self.difficulty = labels, smoothing, difficulty
        self.said = Triples.of(labels)
        # The logarithm of how many wrong answers there are; of one class, none.
        wrong = labels.n_classes - 1
        self.others = math.log(wrong) if wrong else -math.inf

    def begin(self, shares: Tensor) -> None:
        """Take the vote shares' confusions for those on the easiest items (eqs. 3-6)."""
        seen = em.given_counts(self.labels, shares)
        right = em.rows_of(seen, self.smoothing).diagonal(dim1=1, dim2=2)
        self.ability = (right.logit(em.FLOOR) + max(self.others, 0.0)).clamp(0, MOST)
        self.easiness = torch.ones_like(self.labels.counts)
        self.seen = shares

    def learn(self, posterior: Tensor, prior: Tensor, counts: Tensor) -> None:
        """Find the abilities that explain the labels best, by Newton within brackets.

        The goal is concave in every ability on its own: where it rises the best one is higher,
        where it falls it is lower. A step out of the bracket halves it instead.
        """
        self.easiness = self._easiness(posterior, prior)
        self.seen = posterior * counts.unsqueeze(1)
        low, high = torch.zeros_like(self.ability), torch.full_like(self.ability, MOST)
        for _ in range(STEPS):
            slope, bend = self._slopes()
            low = torch.where(slope > 0, self.ability, low)
            high = torch.where(slope < 0, self.ability, high)
            step = (self.ability + slope / bend.clamp(min=em.FLOOR)).clamp(0, MOST)
            inside = (step >= low) & (step <= high)
            self.ability = torch.where(inside, step, (low + high) / 2)

    def evidence(self) -> Tensor:
        """How likely each item's labels are under each class [N, K], in logarithms."""
        total = torch.zeros_like(self.seen)
        for item, worker, given in self._parts():
            logit = self._logits(item, worker)
            named = one_hot(given, self.labels.n_classes) * logit
            total.index_add_(0, item, named - torch.logaddexp(logit, self._wrong(logit)))
        return self.labels.clamp(total, other=-torch.inf)

    def right(self) -> Tensor:
        """How often workers are right about the easiest items of each class [W, K]."""
        return (self.ability - self.others).sigmoid()

    def confusion(self) -> Tensor:
        """What workers give on the items that they saw, of whatever easiness [W, true, given]."""
        hits, total = self.smoothing * self.right(), torch.full_like(self.ability, self.smoothing)
        for item, worker, _ in self._parts():
            seen = self.seen.index_select(0, item)
            hits = hits.index_add(0, worker, seen * self._chance(self._logits(item, worker)))
            total = total.index_add(0, worker, seen)
        met = total > em.FLOOR
        share = torch.where(met, hits / total.clamp(min=em.FLOOR), self.right())
        return em.rows_of(em.one_coin(share, self.labels.n_classes), 0.0)

    def item_scores(self) -> dict[str, Tensor]:
        """How difficult the items are, from 0 to 1 [N]."""
        return {"difficulty": 1 - self.easiness}

    def _easiness(self, posterior: Tensor, prior: Tensor) -> Tensor:
        if self.difficulty == "none":
            return torch.ones_like(self.labels.counts)
        if self.difficulty == "votes":  # of the crowd alone, also where gold is known
            votes = self.labels.votes + em.FLOOR
            return purity(votes / votes.sum(1, keepdim=True))
        return purity(prior if self.difficulty == "classifier" else posterior)

    def _slopes(self) -> tuple[Tensor, Tensor]:
        """First and minus second derivatives of the expected log-likelihood, by ability [W, K].

        The smoothing counts as so many labels of each class on items of easiness 1.
        """
        sure = self.right()
        slope = self.smoothing * (1 - self.labels.n_classes * sure)
        bend = self.smoothing * self.labels.n_classes * sure * (1 - sure)
        for item, worker, given in self._parts():
            easy = self.easiness.index_select(0, item).unsqueeze(1)
            weight = easy * self.seen.index_select(0, item)
            chance = self._chance(easy * self.ability.index_select(0, worker))
            missed = one_hot(given, self.labels.n_classes) - chance
            slope = slope.index_add(0, worker, weight * missed)
            bend = bend.index_add(0, worker, weight * easy * chance * (1 - chance))
        return slope, bend

    def _logits(self, item: Tensor, worker: Tensor) -> Tensor:
        """Ability times easiness of some labels, for each class [n, K]."""
        easy = self.easiness.index_select(0, item).unsqueeze(1)
        return easy * self.ability.index_select(0, worker)

    def _wrong(self, logit: Tensor) -> Tensor:
        return torch.full_like(logit, self.others)

    def _chance(self, logit: Tensor) -> Tensor:
        """How likely a label is right."""
        return (logit - self.others).sigmoid()

    def _parts(self) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Some labels at a time: items, workers and the classes given."""
        columns = (self.said.item, self.said.worker, self.said.given)
        return zip(*(torch.split(column, AT_ONCE) for column in columns), strict=True)


def purity(beliefs: Tensor) -> Tensor:
    """How clear the class of items is, of distributions [N, K] -> [N] in 0 to 1."""
    classes = beliefs.shape[1]
    spread = (beliefs - 1 / classes).square().sum(1)
    return spread * classes / max(1, classes - 1)


def worker_scores(experts: Experts) -> dict[str, Tensor]:
    """Sensitivity (second class) and specificity (first) of two classes; else their mean."""
    right = experts.right()
    if right.shape[1] == 2:  # noqa: PLR2004  (two is two)
        return {"sensitivity": right.select(1, 1), "specificity": right.select(1, 0)}
    return {"expertise": right.mean(1)}
