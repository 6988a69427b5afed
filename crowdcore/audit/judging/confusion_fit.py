"""Dawid and Skene's model: a confusion matrix per worker, drawn to the crowd's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.audit.judging.crowd_fit import (
    CROWD_LABELS,
    FOLD_ROUNDS,
    GOLD_PROBABILITY,
    MAX_ROUNDS,
    SETTLED,
    LeftOut,
    Peculiarities,
    worker_folds,
)
from crowdcore.audit.judging.labels import Flags, JudgedLabels, Rows
from crowdcore.data import UNKNOWN, Floats

LABELS_PER_CHUNK = 200_000


@dataclass(frozen=True, kw_only=True, eq=False)
class ConfusionEvidence:
    """Beliefs about the items of some labels, over all classes."""

    belief: NDArray[Any]  # [n, K]
    given: Rows  # [n]
    crowd: Floats  # [true, given]

    @property
    def hit(self) -> NDArray[Any]:
        """The belief in each given class [n]."""
        return self._of(self.given)

    @property
    def likeliest(self) -> NDArray[Any]:
        """The class that is believed in most [n]."""
        best: NDArray[Any] = self.belief.argmax(1)
        return best

    def expected(self, tilt: float) -> NDArray[Any]:
        """How probable each given class is [n] from somebody with the crowd's matrix, tilted."""
        columns = np.ascontiguousarray(tilted(self.crowd, tilt).T.astype(self.belief.dtype))
        probability: NDArray[Any] = np.einsum("nk,nk->n", self.belief, columns[self.given])
        return probability

    def error(self, habit: Floats, worker: Rows) -> NDArray[Any]:
        """How probable each given class is if the worker errs: half as the crowd, half by habit."""
        off = self.crowd * (1 - np.eye(len(self.crowd)))
        errors = off / np.maximum(off.sum(1, keepdims=True), 1e-9)
        columns = errors.T.astype(self.belief.dtype)
        by_crowd = np.einsum("nk,nk->n", self.belief, columns[self.given])
        weight = self.belief / np.maximum(1 - habit, 1e-9).astype(self.belief.dtype)[worker]
        others = weight.sum(1) - weight[np.arange(len(worker)), self.given]
        by_habit = habit.astype(self.belief.dtype)[worker, self.given] * others
        probability: NDArray[Any] = (by_crowd + by_habit) / 2
        return probability

    def confused(self, tilt: float, taken: Rows, taken_for: Rows) -> NDArray[Any]:
        """By how much `expected` changes [n] if one class is always taken for another."""
        matrix = tilted(self.crowd, tilt).astype(self.belief.dtype)
        change = (self.given == taken_for) - matrix[taken, self.given]
        difference: NDArray[Any] = self._of(taken) * change
        return difference

    def shifted(self, shift: Rows) -> NDArray[Any]:
        """The belief in the class so many places before the given one [n]."""
        return self._of((self.given - shift) % self.belief.shape[1])

    def best_shift(self, worker: Rows, n_workers: int) -> Rows:
        """The shift, not 0, by which each worker's labels [m] agree best with the beliefs."""
        k = self.belief.shape[1]
        met = self._met(worker, n_workers)
        own = np.arange(k)
        agreed = [met[:, own, (own + shift) % k].sum(1) for shift in range(1, k)]
        best: Rows = np.stack(agreed, axis=1).argmax(1) + 1
        return best

    def peculiarities(self, worker: Rows, n_workers: int) -> Peculiarities:
        """The largest surpluses over what the crowd would give on the same items."""
        k = self.belief.shape[1]
        met = self._met(worker, n_workers)
        true = met.sum(2)
        surplus = met.sum(1) - true @ self.crowd
        pairs = met - true[:, :, None] * self.crowd
        pairs[:, np.arange(k), np.arange(k)] = -np.inf
        best = pairs.reshape(n_workers, -1).argmax(1)
        rows, favourite = np.arange(n_workers), surplus.argmax(1)
        taken, taken_for = np.divmod(best, k)
        return Peculiarities(
            favourite=favourite,
            surplus=surplus[rows, favourite] / np.maximum(true.sum(1), 1e-9),
            taken=taken,
            taken_for=taken_for,
            n_taken=met[rows, taken, taken_for],
            n_of_taken=true[rows, taken],
            true_counts=true,
        )

    def only(self, keep: Flags) -> ConfusionEvidence:
        """The same of some labels."""
        return ConfusionEvidence(belief=self.belief[keep], given=self.given[keep], crowd=self.crowd)

    def _of(self, classes: Rows) -> NDArray[Any]:
        chosen: NDArray[Any] = self.belief[np.arange(len(classes)), classes]
        return chosen

    def _met(self, worker: Rows, n_workers: int) -> Floats:
        """Soft counts [m, true, given]."""
        k = self.belief.shape[1]
        key = worker * k + self.given
        counts = np.empty((k, n_workers * k))
        for true in range(k):
            counts[true] = np.bincount(key, weights=self.belief[:, true], minlength=n_workers * k)
        return counts.reshape(k, n_workers, k).transpose(1, 0, 2)


def tilted(crowd: Floats, tilt: float) -> Floats:
    """The crowd's matrix [true, given] with other odds of a right answer."""
    matrix = crowd * np.exp(tilt * np.eye(len(crowd)))
    values: Floats = matrix / matrix.sum(1, keepdims=True)
    return values


@dataclass(frozen=True, kw_only=True, eq=False)
class ConfusionFit:
    """Matrices of workers, and what they say about the items."""

    posterior: Floats  # [N, K]
    log_given: Floats  # [W * K of given, K of true] log P(given | true) of each worker
    crowd: Floats  # [true, given] the matrix of all workers together
    prior: Floats  # [K]
    has_matrices: bool = True

    @classmethod
    def from_labels(cls, labels: JudgedLabels) -> ConfusionFit:
        """Fit all labels, from vote shares, in at most `MAX_ROUNDS` rounds."""
        posterior = _vote_shares(labels)
        _clamp_gold(labels, posterior)
        return _em(labels, posterior, np.ones(labels.n_workers, bool), MAX_ROUNDS)

    def skill(self, tilt: float) -> float:
        """How far the tilted crowd's matrix is from guessing (0) to always right (1)."""
        matrix, prior = tilted(self.crowd, tilt), self.prior / self.prior.sum()
        accuracy = float(prior @ matrix.diagonal())
        chance = float(prior @ (prior @ matrix))
        return max(0.0, (accuracy - chance) / max(1 - chance, 1e-9))

    def left_out(self, labels: JudgedLabels) -> Iterator[LeftOut]:
        """Go through the folds and say what the others believe of each label's item."""
        k = labels.n_classes
        for members in worker_folds(labels):
            others = np.ones(labels.n_workers, bool)
            others[members] = False
            rest = self._without(labels, others)
            # The members come back one by one: everybody but the judged worker speaks.
            together = rest.log_given.reshape(labels.n_workers, k, k)
            counts = _given_counts(labels, rest.posterior)[members]
            together[members] = _log_matrices(counts, rest.crowd)
            scores = labels.by_item @ together.reshape(-1, k)
            scores += np.log(rest.prior)
            rows = np.flatnonzero(~others[labels.worker])
            item, given = labels.item[rows], labels.given[rows]
            belief = scores[item] - _own_votes(labels, rows, together)
            normalise(belief)
            with_gold = belief
            if labels.has_gold[rows].any():
                with_gold = belief.copy()
                _set_gold(with_gold, labels.gold[item])
            crowd = self.crowd.astype(np.float64)
            yield LeftOut(
                rows=rows,
                evidence=ConfusionEvidence(belief=with_gold, given=given, crowd=crowd),
                untold=ConfusionEvidence(belief=belief, given=given, crowd=crowd),
            )

    def same_answer_ratios(self, labels: JudgedLabels) -> _SameAnswers:
        """Return what tells how much likelier same answers of two workers are by copying."""
        return _SameAnswers(self, labels)

    def _without(self, labels: JudgedLabels, others: Flags) -> ConfusionFit:
        """Fit the others' labels alone, from this fit."""
        k = labels.n_classes
        spoken = self.log_given.reshape(-1, k, k) * others[:, None, None]
        posterior = labels.by_item @ spoken.reshape(-1, k)
        posterior += np.log(self.prior)
        normalise(posterior)
        _clamp_gold(labels, posterior)
        return _em(labels, posterior, others, FOLD_ROUNDS)


class _SameAnswers:
    """Ratios of P(same answer | one hands in the other's) to P(same answer | apart)."""

    def __init__(self, fit: ConfusionFit, labels: JudgedLabels) -> None:
        self._fit, self._labels = fit, labels
        self._matrices = fit.log_given, _matrices_without_own_vote(labels, fit)

    def __call__(self, first: Rows, second: Rows) -> tuple[Floats, Floats]:
        """Ratios [n] with matrices that contain own votes, and with such that do not."""
        labels = self._labels
        belief = _belief_without(labels, self._fit, first, second)
        keys = _keys(labels, first), _keys(labels, second)
        ratios = []
        for log_given in self._matrices:
            by_one, by_other = (np.exp(log_given[key]) for key in keys)
            single = np.einsum("nk,nk->n", belief, by_one + by_other)
            both = np.einsum("nk,nk->n", belief, by_one * by_other)
            ratios.append(single / (2 * np.maximum(both, 1e-12)))
        return ratios[0], ratios[1]


def _belief_without(labels: JudgedLabels, fit: ConfusionFit, *votes: Rows) -> Floats:
    """The posterior of items [n, K] without some of their labels."""
    item = labels.item[votes[0]]
    belief: Floats = np.log(np.maximum(fit.posterior[item], 1e-30))
    for rows in votes:
        weight = labels.weight[rows, None].astype(belief.dtype)
        belief -= weight * fit.log_given[_keys(labels, rows)]
    normalise(belief)
    known = labels.gold[item] != UNKNOWN  # gold stands, whoever speaks
    belief[known] = fit.posterior[item[known]]
    return belief


def _matrices_without_own_vote(labels: JudgedLabels, fit: ConfusionFit) -> Floats:
    """Log matrices [W × given, true], counted by beliefs that lack the worker's own votes."""
    k = labels.n_classes
    counts = np.zeros((labels.n_workers * k, k))
    for at in range(0, len(labels.item), LABELS_PER_CHUNK):
        rows = np.arange(at, min(at + LABELS_PER_CHUNK, len(labels.item)))
        belief, keys = _belief_without(labels, fit, rows), _keys(labels, rows)
        for true in range(k):
            counts[:, true] += np.bincount(keys, weights=belief[:, true], minlength=len(counts))
    matrices = counts.reshape(-1, k, k) + CROWD_LABELS * fit.crowd.T  # [W, given, true]
    matrices /= matrices.sum(1, keepdims=True)
    return np.log(matrices.reshape(-1, k)).astype(fit.log_given.dtype)


def _keys(labels: JudgedLabels, rows: Rows) -> Rows:
    keys: Rows = labels.worker[rows] * labels.n_classes + labels.given[rows]
    return keys


def _own_votes(labels: JudgedLabels, rows: Rows, log_given: Floats) -> Floats:
    """What a worker's voice said of the item of each of some labels [n, K]."""
    votes: Floats = log_given[labels.worker[rows], labels.given[rows]]
    grouped = np.flatnonzero(labels.in_group[rows])
    if not len(grouped):
        return votes
    # The whole group is left out: a copy of an answer is no second opinion on it.
    members = rows[grouped]
    voice = labels.voice[labels.worker[members]]
    _, index = np.unique(voice * labels.n_items + labels.item[members], return_inverse=True)
    total = np.zeros((int(index.max()) + 1, votes.shape[1]), votes.dtype)
    np.add.at(total, index, labels.weight[members, None] * votes[grouped])
    votes[grouped] = total[index]
    return votes


def _em(labels: JudgedLabels, posterior: Floats, speaking: Flags, rounds: int) -> ConfusionFit:
    """Rounds of M and E steps over the labels of the speaking workers [W]."""
    k = labels.n_classes
    labelled = _labelled(labels, speaking)
    for _ in range(rounds):
        counts = _given_counts(labels, posterior)
        counts[~speaking] = 0
        crowd = _crowd_matrix(counts.sum(0))
        log_given = _log_matrices(counts, crowd)
        log_given[~speaking] = 0
        prior = labelled @ posterior + 1e-6
        prior /= prior.sum()
        updated = labels.by_item @ log_given.reshape(-1, k)
        updated += np.log(prior)
        normalise(updated)
        _clamp_gold(labels, updated)
        posterior -= updated
        moved = float(np.abs(posterior, out=posterior).mean())
        posterior = updated
        if moved < SETTLED:
            break
    return ConfusionFit(
        posterior=posterior, log_given=log_given.reshape(-1, k), crowd=crowd, prior=prior
    )


def _given_counts(labels: JudgedLabels, posterior: Floats) -> Floats:
    """Soft counts [W, given, true]."""
    shape = (labels.n_workers, labels.n_classes, labels.n_classes)
    counts: Floats = (labels.by_given @ posterior).reshape(shape)
    return counts


def _crowd_matrix(counts: Floats) -> Floats:
    """The matrix [true, given] of all workers, from their summed counts [given, true]."""
    k = len(counts)
    crowd: Floats = counts.T + np.eye(k, dtype=counts.dtype) + 0.5 / k
    values: Floats = crowd / crowd.sum(1, keepdims=True)
    return values


def _log_matrices(counts: Floats, crowd: Floats) -> Floats:
    """Logarithms of matrices [n, given, true], drawn to the crowd's."""
    total = counts.sum(1, keepdims=True) + CROWD_LABELS
    matrices = counts + CROWD_LABELS * crowd.T
    matrices /= total
    return np.log(matrices, out=matrices)


def _labelled(labels: JudgedLabels, speaking: Flags) -> Floats:
    """1 for each item [N] with a label of these workers, else 0."""
    counts = np.bincount(labels.item[speaking[labels.worker]], minlength=labels.n_items)
    return (counts > 0).astype(labels.dtype)


def _vote_shares(labels: JudgedLabels) -> Floats:
    key = labels.item * labels.n_classes + labels.given
    votes = np.bincount(key, minlength=labels.n_items * labels.n_classes).astype(labels.dtype)
    shares = votes.reshape(labels.n_items, labels.n_classes) + 1e-3
    values: Floats = shares / shares.sum(1, keepdims=True)
    return values


def _clamp_gold(labels: JudgedLabels, posterior: Floats) -> None:
    known = np.flatnonzero(labels.gold != UNKNOWN)
    if len(known):
        rows = posterior[known]
        _set_gold(rows, labels.gold[known])
        posterior[known] = rows


def _set_gold(belief: Floats, gold: Rows) -> None:
    """Let rows with gold [n] believe it, in index."""
    known = np.flatnonzero(gold != UNKNOWN)
    belief[known] = (1 - GOLD_PROBABILITY) / max(1, belief.shape[1] - 1)
    belief[known, gold[known]] = GOLD_PROBABILITY


def normalise(scores: Floats) -> None:
    """Turn log scores into distributions, in index."""
    # Column by column and by a product: numpy's sums and maxima over short rows are slow.
    largest = scores[:, 0].copy()
    for column in range(1, scores.shape[1]):
        np.maximum(largest, scores[:, column], out=largest)
    scores -= largest[:, None]
    np.exp(scores, out=scores)
    scores /= scores @ np.ones((scores.shape[1], 1), scores.dtype)
