"""What a fit to a crowd offers to those who judge its workers, whichever model it is.

A worker is judged by what the others say, so each is left out of the fit that they are compared
with: in ten folds, each refitted without its members, who then come back but for the one who is
judged. The fit serves every verdict, whatever method a run used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from crowdcore.audit.judging.labels import JudgedLabels, Rows
from crowdcore.data import Floats

MAX_ROUNDS = 30
"""Rounds of EM of the fit on everybody."""

FOLDS = 10
"""Groups of workers that are left out together."""

HASH_FACTOR = 2_654_435_761
"""Knuth's multiplier: neighbouring codes get unrelated folds."""

FOLD_ROUNDS = 5
"""Rounds of EM without a fold, from the fit on everybody."""

SETTLED = 1e-4
"""A fit ends when probabilities move by less, on average."""

CROWD_LABELS = 4.0
"""Labels by which each worker's parameters are drawn to the crowd's."""

GOLD_PROBABILITY = 0.999
"""How sure gold is."""

MAX_MATRIX_CLASSES = 10
"""With more classes, matrices have more cells than workers have labels to fill them."""

MAX_MATRIX_CELLS = 6_000_000
"""Numbers in all workers' confusion matrices; beyond, workers are fitted by their accuracy."""

MAX_BELIEF_CELLS = 30_000_000
"""Numbers in a table of items × classes; likewise."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Peculiarities:
    """What each of some workers gives more often than the crowd would; arrays [m]."""

    favourite: Rows  # the class with the largest surplus
    surplus: Floats  # as a share of their labels
    taken: Rows  # the true class that they mistake most
    taken_for: Rows  # for this one
    n_taken: Floats  # labels of this kind, by what the others believe
    n_of_taken: Floats  # of so many items of that true class
    true_counts: Floats  # [m, K] items of each class that they saw, by what the others believe


class LabelEvidence(Protocol):
    """What the others believe of the items of some labels [n]."""

    @property
    def given(self) -> Rows:
        """The labels."""

    @property
    def hit(self) -> NDArray[Any]:
        """The belief in each given class."""

    @property
    def likeliest(self) -> NDArray[Any]:
        """The class that is believed in most."""

    def expected(self, tilt: float) -> NDArray[Any]:
        """How probable each given class is from somebody like the crowd, with other odds."""

    def error(self, habit: Floats, worker: Rows) -> NDArray[Any]:
        """How probable each given class is if the worker errs: half as the crowd, half by habit."""

    def confused(self, tilt: float, taken: Rows, taken_for: Rows) -> NDArray[Any]:
        """By how much `expected` changes if one class is always taken for another."""

    def shifted(self, shift: Rows) -> NDArray[Any]:
        """The belief in the class so many places before the given one."""

    def best_shift(self, worker: Rows, n_workers: int) -> Rows:
        """The shift by which each worker's labels [m] agree best with the beliefs."""

    def peculiarities(self, worker: Rows, n_workers: int) -> Peculiarities:
        """What each worker gives more often than the crowd would."""

    def only(self, keep: NDArray[np.bool_]) -> LabelEvidence:
        """The same of some labels."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LeftOut:
    """What the rest of the crowd believes about the labels of a fold's workers."""

    rows: Rows  # [n] places among the judged labels, ascending
    evidence: LabelEvidence
    untold: LabelEvidence  # the same before an item's own gold is told


class CrowdFit(Protocol):
    """A fit to all labels, from which each fold's fit starts."""

    @property
    def prior(self) -> Floats:
        """How common the classes are [K]."""

    @property
    def has_matrices(self) -> bool:
        """Whether the fit tells which classes are mistaken for which."""

    def skill(self, tilt: float) -> float:
        """How far somebody like the crowd, with other odds, is from guessing (0) to right (1)."""

    def left_out(self, labels: JudgedLabels) -> Iterator[LeftOut]:
        """Go through the folds and say what the others believe of each label's item."""

    def same_answer_ratios(self, labels: JudgedLabels) -> SameAnswerRatios:
        """Return what tells how much likelier same answers of two workers are by copying."""


class SameAnswerRatios(Protocol):
    """How much likelier a same answer of two workers is if one hands in the other's."""

    def __call__(self, first: Rows, second: Rows) -> tuple[Floats, Floats]:
        """Ratios [n] of pairs of labels, with the votes of both taken off what is believed.

        First with parameters of the fit, which contain the workers' own votes; then with such
        that do not.
        """


def worker_folds(labels: JudgedLabels) -> list[Rows]:
    """Share workers with labels out to folds, by their codes alone.

    Nobody's fold depends on who else is there, so that verdicts stay when others are excluded.
    Workers who speak with one voice stay together.
    """
    mixed = (labels.voice * HASH_FACTOR) % 2**32 >> 8
    fold_of = mixed % FOLDS
    has_labels = np.diff(labels.starts) > 0
    folds = [np.flatnonzero((fold_of == fold) & has_labels) for fold in range(FOLDS)]
    return [members for members in folds if len(members)]


def fit_crowd(labels: JudgedLabels) -> CrowdFit:
    """Fit all labels: with confusion matrices, or with accuracies where there are many classes.

    Parameters
    ----------
    labels
        The labels; items with gold keep their gold answer.

    Returns
    -------
    CrowdFit
        The fit on everybody.
    """
    from crowdcore.audit.judging.coin_fit import CoinFit
    from crowdcore.audit.judging.confusion_fit import ConfusionFit

    k = labels.n_classes
    too_many = k > MAX_MATRIX_CLASSES or labels.n_workers * k * k > MAX_MATRIX_CELLS
    too_many |= labels.n_items * k > MAX_BELIEF_CELLS
    return CoinFit.from_labels(labels) if too_many else ConfusionFit.from_labels(labels)
