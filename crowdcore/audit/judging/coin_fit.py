"""One accuracy per worker, for crowds with too many classes for confusion matrices.

Only classes that somebody gave an item are followed, and "none of these" as one more, so that
the cost grows with the labels and not with the classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
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
from crowdcore.audit.judging.labels import Flags, JudgedLabels, Rows, sums_by
from crowdcore.data import UNKNOWN, Floats

START_ACCURACY = 0.7
LIMITS = (0.02, 0.98)
"""No worker is taken to be surer than this to be wrong, or right."""

LEAST_LEFT = 1e-6
"""The probability that none of an item's given classes is true is at least this."""


SHARED_ERROR = 0.3
"""How often somebody who errs gives the same wrong class as another who errs, at least.

Which classes are mistaken for which is not known here, so errors may always be shared.
"""


@dataclass(frozen=True, kw_only=True, eq=False)
class CoinEvidence:
    """Beliefs in the given classes of some labels."""

    given: Rows  # [n]
    hit: NDArray[Any]  # [n]
    likeliest: NDArray[Any]  # [n]
    share: Floats  # [K] how often each class is given
    accuracy: float  # of the crowd

    def expected(self, tilt: float) -> NDArray[Any]:
        """How probable each given class is [n] from somebody like the crowd, with other odds."""
        accuracy = _tilted(self.accuracy, tilt)
        wrong = (1 - accuracy) * self.share[self.given]
        probability: NDArray[Any] = self.hit * accuracy + (1 - self.hit) * wrong
        return probability

    def error(self, habit: Floats, worker: Rows) -> NDArray[Any]:
        """How probable each given class is if the worker errs: half as the crowd, half by habit."""
        guess = (self.share[self.given] + habit[worker, self.given]) / 2
        probability: NDArray[Any] = (1 - self.hit) * guess
        return probability

    def confused(self, tilt: float, taken: Rows, taken_for: Rows) -> NDArray[Any]:
        """Nothing is known of pairs of classes."""
        raise NotImplementedError

    def shifted(self, shift: Rows) -> NDArray[Any]:
        """Nothing is known of classes that nobody gave."""
        raise NotImplementedError

    def best_shift(self, worker: Rows, n_workers: int) -> Rows:
        """Nothing is known of shifts."""
        raise NotImplementedError

    def peculiarities(self, worker: Rows, n_workers: int) -> Peculiarities:
        """The class that each worker gives most above the crowd's share of it."""
        k = len(self.share)
        counts = np.bincount(worker * k + self.given, minlength=n_workers * k).reshape(-1, k)
        size = counts.sum(1, keepdims=True)
        surplus = counts - size * self.share
        rows, favourite = np.arange(n_workers), surplus.argmax(1)
        nobody = np.zeros(n_workers, np.int64)
        return Peculiarities(
            favourite=favourite,
            surplus=surplus[rows, favourite] / np.maximum(size[:, 0], 1),
            taken=nobody,
            taken_for=nobody,
            n_taken=np.zeros(n_workers),
            n_of_taken=np.zeros(n_workers),
            true_counts=size * self.share,
        )

    def only(self, keep: Flags) -> CoinEvidence:
        """The same of some labels."""
        return CoinEvidence(
            given=self.given[keep],
            hit=self.hit[keep],
            likeliest=self.likeliest[keep],
            share=self.share,
            accuracy=self.accuracy,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Cells:
    """The classes that somebody gave an item, ordered by item."""

    of_label: Rows  # [L]
    item: Rows  # [C] places among the items that have labels
    given: Rows  # [C]
    starts: Rows  # [I] the first cell of each such item
    codes: Rows  # [I] the items

    @classmethod
    def from_labels(cls, labels: JudgedLabels) -> Cells:
        """Find every item's given classes."""
        pairs, of_label = np.unique(
            labels.item * labels.n_classes + labels.given, return_inverse=True
        )
        codes, starts, index = np.unique(
            pairs // labels.n_classes, return_index=True, return_inverse=True
        )
        return cls(
            of_label=of_label,
            item=index,
            given=pairs % labels.n_classes,
            starts=starts,
            codes=codes,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class CoinFit:
    """Accuracies of workers, and scores of the classes that items were given."""

    cells: Cells
    share: Floats  # [K]
    log_guess: Floats  # [L] how probable each label is from a worker who errs, as a logarithm
    accuracy: Floats  # [W]
    crowd_accuracy: float
    has_matrices: bool = False

    @classmethod
    def from_labels(cls, labels: JudgedLabels) -> CoinFit:
        """Fit all labels, in at most `MAX_ROUNDS` rounds."""
        counts = np.bincount(labels.given, minlength=labels.n_classes) + 1.0
        share = counts / counts.sum()
        own = labels.given_counts[labels.worker, labels.given]
        own /= np.diff(labels.starts)[labels.worker]
        start = cls(
            cells=Cells.from_labels(labels),
            share=share,
            log_guess=np.log(np.maximum(share[labels.given], own)),  # by crowd, or by habit
            accuracy=np.full(labels.n_workers, START_ACCURACY),
            crowd_accuracy=START_ACCURACY,
        )
        return _em(labels, start, np.ones(labels.n_workers, bool), MAX_ROUNDS)

    @property
    def prior(self) -> Floats:
        """How common the classes are [K]."""
        return self.share

    def skill(self, tilt: float) -> float:
        """How far somebody like the crowd, with other odds, is from guessing (0) to right (1)."""
        chance = float((self.share**2).sum())
        return max(0.0, (_tilted(self.crowd_accuracy, tilt) - chance) / (1 - chance))

    def left_out(self, labels: JudgedLabels) -> Iterator[LeftOut]:
        """Go through the folds and say what the others believe of each label's class."""
        for members in worker_folds(labels):
            others = np.ones(labels.n_workers, bool)
            others[members] = False
            rest = _em(labels, self, others, FOLD_ROUNDS)
            hits = _hits(labels, rest, rest.scores(labels, others))
            accuracy = rest.accuracy.copy()
            accuracy[members] = _accuracies(labels, hits, rest.crowd_accuracy)[members]
            together = replace(rest, accuracy=accuracy)
            rows = np.flatnonzero(~others[labels.worker])
            hit, likeliest = _Beliefs(together, labels).without(rows)
            evidence = CoinEvidence(
                given=labels.given[rows],
                hit=hit,
                likeliest=likeliest,
                share=self.share,
                accuracy=self.crowd_accuracy,
            )
            yield LeftOut(rows=rows, evidence=_with_gold(labels, rows, evidence), untold=evidence)

    def votes(self, labels: JudgedLabels, rows: Rows) -> Floats:
        """How strongly each of some labels [n] speaks for its class, by its worker's accuracy."""
        log_odds = np.log(self.accuracy / (1 - self.accuracy))[labels.worker[rows]]
        votes: Floats = labels.weight[rows] * (log_odds - self.log_guess[rows])
        return votes

    def scores(self, labels: JudgedLabels, speaking: Flags) -> Floats:
        """Log scores [C] of the cells by the labels of some workers [W]."""
        rows = np.flatnonzero(speaking[labels.worker])
        cells = self.cells
        total = sums_by(cells.of_label[rows], self.votes(labels, rows), len(cells.given))
        return total + np.log(self.share[cells.given])

    @cached_property
    def log_none(self) -> Floats:
        """Log-probability [I] that none of an item's given classes is true, before any vote."""
        taken = np.add.reduceat(self.share[self.cells.given], self.cells.starts)
        none: Floats = np.log(np.maximum(LEAST_LEFT, 1 - taken))
        return none

    def weights(self, scores: Floats) -> tuple[Floats, Floats, Floats]:
        """Weights of the cells [C] and of none of them [I], relative to scores [I]."""
        largest = np.maximum(np.maximum.reduceat(scores, self.cells.starts), self.log_none)
        weights: Floats = np.exp(scores - largest[self.cells.item])
        return weights, np.exp(self.log_none - largest), largest

    def same_answer_ratios(self, labels: JudgedLabels) -> _SameAnswers:
        """Return what tells how much likelier same answers of two workers are by copying."""
        return _SameAnswers(self, labels)


class _Beliefs:
    """What all labels together say, from which single votes can be taken off."""

    def __init__(self, fit: CoinFit, labels: JudgedLabels) -> None:
        self._fit, self._labels = fit, labels
        cells = fit.cells
        self._votes = _voice_votes(fit, labels)
        self._scores = fit.scores(labels, np.ones(labels.n_workers, bool))
        self._weights, self._none, self._largest = fit.weights(self._scores)
        self._total = np.add.reduceat(self._weights, cells.starts) + self._none
        self._first = _top_cells(self._scores, cells)
        rest = self._scores.copy()
        rest[self._first] = -np.inf
        self._second = _top_cells(rest, cells)

    def without(self, *votes: Rows) -> tuple[Floats, Rows]:
        """The belief in the classes of some labels [n] without these votes, and the likeliest."""
        cells = self._fit.cells
        own = cells.of_label[votes[0]]
        item = cells.item[own]
        lowered = self._scores[own]
        for rows in votes:
            lowered = lowered - self._votes[rows]
        # Only the cell of the votes that are taken off has another weight now.
        changed = np.exp(lowered - self._largest[item])
        others = np.maximum(self._total[item] - self._weights[own], self._none[item])
        rival = np.where(self._first[item] == own, self._second[item], self._first[item])
        wins = (rival == own) | (lowered >= self._scores[rival])
        return changed / (changed + others), cells.given[np.where(wins, own, rival)]


class _SameAnswers:
    """Ratios of P(same answer | one hands in the other's) to P(same answer | apart)."""

    def __init__(self, fit: CoinFit, labels: JudgedLabels) -> None:
        self._fit, self._labels = fit, labels
        self._beliefs = _Beliefs(fit, labels)
        hits, _ = self._beliefs.without(np.arange(len(labels.item)))
        self._accuracies = fit.accuracy, _accuracies(labels, hits, fit.crowd_accuracy)

    def __call__(self, first: Rows, second: Rows) -> tuple[Floats, Floats]:
        """Ratios [n] with accuracies that contain own votes, and with such that do not."""
        labels = self._labels
        hit, _ = self._beliefs.without(first, second)
        guess, other_guess = (np.exp(self._fit.log_guess[rows]) for rows in (first, second))
        ratios = []
        for accuracy in self._accuracies:
            right = [accuracy[labels.worker[rows]] for rows in (first, second)]
            wrong = [(1 - right[0]) * guess, (1 - right[1]) * other_guess]
            single = hit * (right[0] + right[1]) + (1 - hit) * (wrong[0] + wrong[1])
            shared = (1 - right[1]) * np.maximum(other_guess, SHARED_ERROR)
            both = hit * right[0] * right[1] + (1 - hit) * wrong[0] * shared
            ratios.append(single / (2 * np.maximum(both, 1e-12)))
        return ratios[0], ratios[1]


def _em(labels: JudgedLabels, fit: CoinFit, speaking: Flags, rounds: int) -> CoinFit:
    """Rounds of EM over the labels of the speaking workers [W]."""
    hits = np.zeros(len(labels.item))
    spoken = speaking[labels.worker]
    for _ in range(rounds):
        updated = _hits(labels, fit, fit.scores(labels, speaking))
        moved = float(np.abs(updated - hits).mean())
        hits = updated
        crowd = float(np.clip(hits[spoken].mean(), *LIMITS)) if spoken.any() else START_ACCURACY
        fit = replace(fit, accuracy=_accuracies(labels, hits, crowd), crowd_accuracy=crowd)
        if moved < SETTLED:
            break
    return fit


def _hits(labels: JudgedLabels, fit: CoinFit, scores: Floats) -> Floats:
    """The belief in each label's class [L], with gold, from scores of the cells [C]."""
    cells = fit.cells
    weights, none, _ = fit.weights(scores)
    belief = weights / (np.add.reduceat(weights, cells.starts) + none)[cells.item]
    gold = labels.gold[cells.codes[cells.item]]
    with_gold = np.where(cells.given == gold, GOLD_PROBABILITY, 1 - GOLD_PROBABILITY)
    hits: Floats = np.where(gold == UNKNOWN, belief, with_gold)[cells.of_label]
    return hits


def _accuracies(labels: JudgedLabels, hits: Floats, crowd: float) -> Floats:
    """Each worker's mean hit [W], drawn to the crowd's."""
    size = np.diff(labels.starts)
    accuracy = (labels.worker_sums(hits) + CROWD_LABELS * crowd) / (size + CROWD_LABELS)
    return np.clip(accuracy, *LIMITS)


def _voice_votes(fit: CoinFit, labels: JudgedLabels) -> Floats:
    """What the voice of each label's worker said for its class [L]."""
    votes = fit.votes(labels, np.arange(len(labels.item)))
    rows = np.flatnonzero(labels.in_group)
    if len(rows):
        # Members of a group who gave the same class fall silent together.
        voice = labels.voice[labels.worker[rows]] * len(fit.cells.given)
        _, index = np.unique(voice + fit.cells.of_label[rows], return_inverse=True)
        votes[rows] = np.bincount(index, weights=votes[rows])[index]
    return votes


def _top_cells(scores: Floats, cells: Cells) -> Rows:
    """The first cell with the highest score of each item [I]."""
    best = np.maximum.reduceat(scores, cells.starts)
    candidates = np.flatnonzero(scores == best[cells.item])[::-1]
    top = cells.starts.copy()
    top[cells.item[candidates]] = candidates
    return top


def _with_gold(labels: JudgedLabels, rows: Rows, evidence: CoinEvidence) -> CoinEvidence:
    """The same with gold."""
    gold = labels.gold[labels.item[rows]]
    known = gold != UNKNOWN
    hit = np.where(gold == evidence.given, GOLD_PROBABILITY, 1 - GOLD_PROBABILITY)
    return replace(
        evidence,
        hit=np.where(known, hit, evidence.hit),
        likeliest=np.where(known, gold, evidence.likeliest),
    )


def _tilted(accuracy: float, tilt: float) -> float:
    odds = accuracy / (1 - accuracy) * float(np.exp(tilt))
    return odds / (1 + odds)
