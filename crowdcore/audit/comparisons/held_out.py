"""What the other workers say of the items that a worker compares.

Workers are split into a few folds, and the scores are found without the workers of each fold: so
nobody is held against an order that they made themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import Codes, CrowdData, DataError, Floats
from crowdcore.engine.bradley_terry import Chances, chances, fit_scores
from crowdcore.engine.comparisons import POINTS, TIE, Comparisons
from crowdcore.run import Run

N_FOLDS = 5
"""Folds of workers."""

MIN_SCORE_VARIANCE = 0.05
"""The least variance that scores are taken to have, however few comparisons there are."""

LOGISTIC = np.pi / 8
"""How much of a variance flattens a logistic curve (MacKay's approximation)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class HeldOut:
    """Comparisons beside what all others would expect of them.

    Parameters
    ----------
    difference : array [L]
        The left item's score minus the right one's, by the other workers; drawn towards 0 where
        these do not know it well.
    tie : float
        The weight of ties.
    known : array [L]
        Whether other workers compared both items, directly or not.
    """

    left: Codes
    right: Codes
    worker: Codes
    outcome: Codes
    difference: Floats
    tie: float
    known: NDArray[np.bool_]

    @property
    def expected(self) -> Chances:
        """What the average worker would answer."""
        return chances(self.difference, self.tie)

    @property
    def points(self) -> Floats:
        """What the left item got [L]: 1, 0, or a half for a tie."""
        return POINTS[self.outcome]

    @property
    def decided(self) -> NDArray[np.bool_]:
        """Which comparisons have a winner [L]."""
        return np.asarray(self.outcome != TIE)


def hold_out(data: CrowdData, scores: Floats) -> HeldOut:
    """Find, for each comparison, what the workers of other folds say of its items.

    Parameters
    ----------
    data
        Labels that are comparisons.
    scores
        The scores of a result; only how widely they vary is used.

    Returns
    -------
    HeldOut
        In the order of the data.
    """
    if data.other is None:
        raise DataError(f"These labels are {data.kind}, not comparisons")
    ridge = 1 / max(float(np.var(scores)), MIN_SCORE_VARIANCE)
    fold = _folds(data)
    difference, known = np.zeros(data.n_labels), np.zeros(data.n_labels, bool)
    tie = 0.0
    for number in range(int(fold.max(initial=0)) + 1):
        own = fold[data.worker] == number
        if own.all() or not own.any():
            continue
        comparisons = Comparisons(data.only(~own))
        run = Run(seed=0, device="cpu")
        fitted = fit_scores(comparisons, run, ridge=ridge, tol=0.01, max_steps=50)
        left, right = data.item[own], data.other[own]
        seen = np.bincount(comparisons.left, minlength=data.n_items) > 0
        seen |= np.bincount(comparisons.right, minlength=data.n_items) > 0
        component = fitted.graph.component
        known[own] = seen[left] & seen[right] & (component[left] == component[right])
        variance = fitted.variances(run.rng)
        flatter = np.sqrt(1 + LOGISTIC * (variance[left] + variance[right]))
        difference[own] = (fitted.scores[left] - fitted.scores[right]) / flatter
        tie = max(tie, fitted.tie)
    return HeldOut(
        left=data.item,
        right=data.other,
        worker=data.worker,
        outcome=data.label,
        difference=difference,
        tie=tie,
        known=known,
    )


def _folds(data: CrowdData) -> NDArray[np.int64]:
    """A fold for each worker [W], so that all folds have about as many comparisons."""
    busiest = np.argsort(-data.labels_per_worker, kind="stable")
    fold = np.empty(data.n_workers, np.int64)
    turn = np.arange(data.n_workers)
    there, back = turn % N_FOLDS, N_FOLDS - 1 - turn % N_FOLDS
    fold[busiest] = np.where(turn // N_FOLDS % 2 == 0, there, back)
    return fold
