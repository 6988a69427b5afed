"""How alike two workers answer, and how alike they would if each worked by themselves.

Agreement alone proves nothing: two good workers agree because both are right. What counts is
agreement beyond that, above all on wrong answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from crowdcore.confusion import safe_ratio
from crowdcore.data import UNKNOWN, CrowdData, Floats
from crowdcore.results.result import Result, wilson

Counts = NDArray[np.int64]

MIN_SHARED_ITEMS = 5
"""Shared items below which nothing is said of a pair."""

SIGNIFICANCE = 0.05
"""How probable it may be that luck alone makes any one of the compared pairs stand out."""

MIN_EXPECTED_RATE = 0.01
"""Two workers may always agree, or err alike, this often: their matrices are only estimates."""

MAX_LABEL_PAIRS = 5_000_000
"""Pairs of labels of the same item that are gone through, at most: some seconds."""

NUMBERS_PER_CHUNK = 4_000_000
"""Numbers that are in memory together while matrices are compared."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PairAgreement:
    """How alike pairs of workers are, and how alike they should be.

    Attributes
    ----------
    n_shared
        Items with a truth that both labelled. All arrays are of one shape.
    n_same, n_same_wrong
        Those of them with the same label, and those where that is not the truth.
    expected_share
        The share of same labels to expect of two such workers, each working alone.
    expected_same_wrong
        The number of same wrong labels to expect of them.
    blind_share
        The share of same labels to expect if neither looks at the items.
    p_value
        How probable it is that two such workers are at least so alike, each working alone.
    """

    n_shared: Counts
    n_same: Counts
    n_same_wrong: Counts
    expected_share: Floats
    expected_same_wrong: Floats
    blind_share: Floats
    p_value: Floats

    @property
    def share(self) -> Floats:
        """The share of same labels; NaN without a shared item."""
        return safe_ratio(self.n_same, self.n_shared)

    @property
    def excess(self) -> Floats:
        """By how much the share surely exceeds the expected one; NaN with too few items."""
        low = wilson(self.n_same, self.n_shared)[0]
        beyond = np.maximum(low - self.expected_share, 0)
        excess: Floats = np.where(self.n_shared >= MIN_SHARED_ITEMS, beyond, np.nan)
        return excess

    def beyond_luck(self, n_compared: int) -> NDArray[np.bool_]:
        """Tell which pairs are more alike than luck explains.

        Parameters
        ----------
        n_compared
            How many pairs are compared: the more, the more of them are alike by luck.
        """
        enough = self.n_shared >= MIN_SHARED_ITEMS
        significant: NDArray[np.bool_] = self.p_value * max(1, n_compared) < SIGNIFICANCE
        return enough & significant

    def select(self, index: Any) -> PairAgreement:
        """Return the same of some pairs, by anything that indexes an array."""
        return PairAgreement(**{name: values[index] for name, values in vars(self).items()})


@dataclass(frozen=True, kw_only=True, eq=False)
class CrowdPairs:
    """Every two workers with enough shared items, the least explained by luck first."""

    first: Counts  # [P] codes of workers
    second: Counts  # [P]
    agreement: PairAgreement  # [P]
    n_workers: int  # among how many workers this was looked for: the busiest

    @property
    def beyond_luck(self) -> NDArray[np.bool_]:
        """Which pairs are more alike than luck explains."""
        return self.agreement.beyond_luck(len(self.first))


def crowd_pairs(result: Result) -> CrowdPairs:
    """Compare every two workers who share enough items.

    Parameters
    ----------
    result
        The truths by which workers are judged, and the labels.

    Returns
    -------
    CrowdPairs
        The pairs; in a huge crowd only those of the busiest workers.
    """
    workers = np.sort(_busiest(result.data))
    labels = _Labels(result, workers)
    n_shared = labels.count_together(labels.item).tocoo()
    enough = (n_shared.data >= MIN_SHARED_ITEMS) & (n_shared.row < n_shared.col)
    first, second = workers[n_shared.row[enough]], workers[n_shared.col[enough]]
    agreement = compare_pairs(result, first, second)
    order = np.lexsort((-agreement.n_shared, agreement.p_value))
    return CrowdPairs(
        first=first[order],
        second=second[order],
        agreement=agreement.select(order),
        n_workers=len(workers),
    )


def compare_pairs(result: Result, first: ArrayLike, second: ArrayLike) -> PairAgreement:
    """Compare workers with workers.

    How good each of them is, is counted against the truths: probabilities that are too unsure
    would make honest workers look suspiciously alike. Undecided items are no evidence.

    Parameters
    ----------
    result
        The truths by which workers are judged, and the labels.
    first, second
        Codes of workers, which may be broadcast to each other.

    Returns
    -------
    PairAgreement
        Arrays in the broadcast shape; nobody shares an item with themselves.
    """
    first, second = np.broadcast_arrays(np.asarray(first, np.int64), np.asarray(second, np.int64))
    labels = _Labels(result, np.union1d(first, second))
    a, b = (np.searchsorted(labels.workers, codes) for codes in (first, second))
    is_pair = a != b
    n_shared = is_pair * _pick(labels.count_together(labels.item), a, b)
    n_same = is_pair * _pick(labels.count_together(labels.answer), a, b)
    n_wrong = is_pair * _pick(labels.count_together(labels.answer, labels.is_wrong), a, b)
    expected, expected_wrong = (
        is_pair * counts.reshape(a.shape)
        for counts in _expected_counts(result, labels, a.ravel(), b.ravel())
    )
    tail = np.minimum(
        _binomial_tail(n_same, n_shared, expected),
        _binomial_tail(n_wrong, n_shared, expected_wrong),
    )
    given = _given_shares(result.data, labels.workers)
    return PairAgreement(
        n_shared=n_shared,
        n_same=n_same,
        n_same_wrong=n_wrong,
        expected_share=safe_ratio(expected, n_shared),
        expected_same_wrong=expected_wrong,
        blind_share=_row_products(given, a.ravel(), b.ravel()).reshape(a.shape),
        p_value=np.minimum(1, 2 * tail),  # two questions were asked
    )


def shared_items(result: Result, first: int, second: int) -> pd.DataFrame:
    """List the items that two workers labelled: same wrong labels first, then same ones.

    Parameters
    ----------
    result
        The truths, and the labels.
    first, second
        Codes of the two workers.

    Returns
    -------
    pandas.DataFrame
        One row per item. Columns: item (code), first, second, truth (class codes, UNKNOWN if
        undecided), confidence, same, wrong (the same, and not the truth).
    """
    data = result.data
    frames = [
        pd.DataFrame({"item": data.item[rows], name: data.label[rows]})
        for name, rows in (
            ("first", np.flatnonzero(data.worker == first)),
            ("second", np.flatnonzero(data.worker == second)),
        )
    ]
    frame = frames[0].merge(frames[1], on="item")
    truth = result.truth[frame["item"]]
    same = (frame["first"] == frame["second"]).to_numpy()
    frame = frame.assign(
        truth=truth,
        confidence=result.confidence[frame["item"]],
        same=same,
        wrong=same & (truth != UNKNOWN) & (truth != frame["first"].to_numpy()),
    )
    order = ["wrong", "same", "confidence"]
    return frame.sort_values(order, ascending=False, kind="stable", ignore_index=True)


class _Labels:
    """The labels of some workers on items with a truth."""

    def __init__(self, result: Result, workers: Counts) -> None:
        data = result.data
        self.workers = workers
        position = np.full(data.n_workers, UNKNOWN)
        position[workers] = np.arange(len(workers))
        rows = np.flatnonzero((position[data.worker] >= 0) & (result.truth[data.item] != UNKNOWN))
        self.position = position[data.worker[rows]]  # [rows] among the workers
        self.item = data.item[rows].astype(np.int64)
        self.label = data.label[rows].astype(np.int64)
        self.truth = result.truth[self.item].astype(np.int64)
        self.answer = self.item * data.n_classes + self.label  # equal where labels are the same
        self.is_wrong = self.truth != self.label

    def count_together(self, key: Counts, keep: Any = slice(None)) -> Any:
        """Count how often two workers have the same key, as a sparse matrix [m, m]."""
        from scipy.sparse import csr_array

        _, row = np.unique(key[keep], return_inverse=True)
        shape = (int(row.max(initial=-1)) + 1, len(self.workers))
        table = csr_array((np.ones(len(row), np.int64), (row, self.position[keep])), shape)
        return table.T @ table


def _busiest(data: CrowdData) -> Counts:
    """The workers with the most labels, as many as can be compared with each other."""
    order = np.argsort(-data.labels_per_worker, kind="stable")
    order = order[: int((data.labels_per_worker > 0).sum())]
    n_chosen = len(order)
    is_chosen = np.zeros(data.n_workers, bool)
    while n_chosen > 1:
        is_chosen[:] = False
        is_chosen[order[:n_chosen]] = True
        per_item = np.bincount(data.item[is_chosen[data.worker]], minlength=data.n_items)
        if int((per_item**2).sum()) <= MAX_LABEL_PAIRS:
            break
        n_chosen //= 2
    return order[:n_chosen]


def _expected_counts(
    result: Result, labels: _Labels, a: Counts, b: Counts
) -> tuple[Floats, Floats]:
    """How many same labels, and same wrong ones, to expect of pairs of workers [P]."""
    matrices = _matrices(result, labels)
    same, right = np.zeros((2, len(a)))
    for true in np.unique(labels.truth):
        n_shared = _pick(labels.count_together(labels.item, labels.truth == true), a, b)
        pairs = np.flatnonzero(n_shared)
        given = matrices[:, true]
        same[pairs] += n_shared[pairs] * _row_products(given, a[pairs], b[pairs])
        right[pairs] += n_shared[pairs] * given[a[pairs], true] * given[b[pairs], true]
    return same, np.maximum(same - right, 0)


def _matrices(result: Result, labels: _Labels) -> Floats:
    """P(given | true) of each worker [m, true, given], drawn to the crowd's by one label."""
    k, m = result.data.n_classes, len(labels.workers)
    decided = result.truth[result.data.item] != UNKNOWN
    true, given = result.truth[result.data.item[decided]], result.data.label[decided]
    counts = np.bincount(true.astype(np.int64) * k + given, minlength=k * k)
    crowd = counts.reshape(k, k) + np.eye(k)
    cell = (labels.position * k + labels.truth) * k + labels.label
    worker_counts = np.bincount(cell, minlength=m * k * k).reshape(m, k, k)
    shares = worker_counts + crowd / crowd.sum(1, keepdims=True)
    matrices: Floats = shares / shares.sum(2, keepdims=True)
    return matrices


def _given_shares(data: CrowdData, workers: Counts) -> Floats:
    """What part of each worker's labels is each class [m, K]; 0 without labels."""
    cell = data.worker.astype(np.int64) * data.n_classes + data.label
    counts = np.bincount(cell, minlength=data.n_workers * data.n_classes)
    counts = counts.reshape(-1, data.n_classes)[workers]
    shares: Floats = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    return shares


def _row_products(table: Floats, a: Counts, b: Counts) -> Floats:
    """The products of some rows with others [P]."""
    products = np.empty(len(a))
    for chunk in _chunks(len(a), NUMBERS_PER_CHUNK // table.shape[1]):
        products[chunk] = np.einsum("pk,pk->p", table[a[chunk]], table[b[chunk]])
    return products


def _chunks(n: int, size: int) -> Iterator[slice]:
    return (slice(start, start + max(1, size)) for start in range(0, n, max(1, size)))


def _pick(table: Any, a: Counts, b: Counts) -> Counts:
    """Entries of a sparse matrix, in the shape of their positions."""
    if not table.nnz or not a.size:
        return np.zeros(a.shape, np.int64)
    entries: Counts = np.asarray(table[a.ravel(), b.ravel()]).reshape(a.shape)
    return entries


def _binomial_tail(hits: Counts, n: Counts, expected: Floats) -> Floats:
    """How probable so many hits or more are; the items differ, so this errs on the high side.

    Sums of unlike coins spread less than the binomial of their mean (Hoeffding 1956).
    """
    from scipy.special import betainc

    rate = np.clip(expected / np.maximum(n, 1), MIN_EXPECTED_RATE, 1.0)
    tail: Floats = np.where(hits > 0, betainc(np.maximum(hits, 1), n - hits + 1, rate), 1.0)
    return tail
