"""Pairs of answers that different workers gave to one item, and how alike two sets are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import CrowdData, DataError, Floats

Measure = Literal["jaccard", "masi"]
"""Jaccard: the share of the classes in either set that are in both. MASI: the same, less where
neither set holds the other (Passonneau 2006)."""

MAX_PARTNERS = 50
"""Answers that one answer is compared with at most; more are drawn at random."""

PAIRS_PER_CHUNK = 100_000
"""Pairs of sets that are compared at a time, to keep memory small."""


def similarity(
    sets: NDArray[np.bool_],
    first: NDArray[np.integer],
    second: NDArray[np.integer],
    measure: Measure = "jaccard",
) -> Floats:
    """Say how alike pairs of sets are.

    Parameters
    ----------
    sets
        Which classes each set holds [sets, K].
    first, second
        Rows of the sets that are compared [P].
    measure
        Jaccard or MASI.

    Returns
    -------
    numpy.ndarray
        From 0, nothing in common, to 1, equal [P]. Two empty sets are equal.
    """
    size = len(sets)
    pairs, inverse = np.unique(
        np.minimum(first, second) * np.int64(size) + np.maximum(first, second), return_inverse=True
    )
    values = np.empty(len(pairs))
    for start in range(0, len(pairs), PAIRS_PER_CHUNK):
        chunk = slice(start, start + PAIRS_PER_CHUNK)
        first_set, second_set = np.divmod(pairs[chunk], size)
        values[chunk] = _similarity(sets[first_set], sets[second_set], measure)
    return values[inverse]


def _similarity(
    first_set: NDArray[np.bool_], second_set: NDArray[np.bool_], measure: Measure
) -> Floats:
    both, either = (first_set & second_set).sum(1), (first_set | second_set).sum(1)
    shared: Floats = np.where(either > 0, both / np.maximum(either, 1), 1.0)
    if measure == "jaccard":
        return shared
    smaller, larger = (
        np.minimum(first_set.sum(1), second_set.sum(1)),
        np.maximum(first_set.sum(1), second_set.sum(1)),
    )
    equal, nested = (both == larger) & (both == smaller), both == smaller
    weight = np.where(
        equal, 1.0, np.where(nested & (both > 0), 2 / 3, np.where(both > 0, 1 / 3, 0))
    )
    return shared * weight


@dataclass(frozen=True, kw_only=True, eq=False)
class AnswerPairs:
    """Ordered pairs of answers of different workers to one item.

    Parameters
    ----------
    first, second
        Rows of the labels [P].
    n_repeated
        Labels of a worker who had already labelled the item.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    n_repeated: int

    @classmethod
    def of(cls, data: CrowdData, rng: np.random.Generator) -> AnswerPairs:
        """List the pairs; of items with very many answers some are drawn.

        Parameters
        ----------
        data
            Labels of any kind.
        rng
            From which partners are drawn.

        Returns
        -------
        AnswerPairs
        """
        order = np.argsort(data.item, kind="stable")
        sizes = data.labels_per_item
        starts = np.cumsum(sizes) - sizes
        size = sizes[data.item[order]]
        partners = np.minimum(size - 1, MAX_PARTNERS)
        first = np.repeat(np.arange(data.n_labels), partners)
        nth = np.arange(len(first)) - np.repeat(np.cumsum(partners) - partners, partners)
        shift = np.where(
            np.repeat(size - 1 > MAX_PARTNERS, partners),
            rng.integers(1, np.maximum(np.repeat(size, partners), 2)),
            nth + 1,
        )
        start = np.repeat(starts[data.item[order]], partners)
        within = (first - start + shift) % np.repeat(np.maximum(size, 1), partners)
        first_label, second_label = order[first], order[start + within]
        different = data.worker[first_label] != data.worker[second_label]
        cells = data.item * np.int64(data.n_workers) + data.worker
        return cls(
            first=first_label[different],
            second=second_label[different],
            n_repeated=data.n_labels - len(np.unique(cells)),
        )

    def mean_by_answer(self, values: Floats, n_labels: int) -> Floats:
        """Average values of pairs by their first answer [L]; NaN for an answer without a pair."""
        counts = np.bincount(self.first, minlength=n_labels)
        sums = np.bincount(self.first, values, minlength=n_labels)
        mean: Floats = np.divide(sums, counts, out=np.full(n_labels, np.nan), where=counts > 0)
        return mean


def sets_of(data: CrowdData) -> NDArray[np.bool_]:
    """Return which classes each different answer holds; refuse labels that are not sets."""
    if data.sets is None:
        raise DataError(f"These labels are {data.kind}, not sets of classes")
    return data.sets
