"""How alike two workers answer, and how alike they would if each worked by themselves.

Agreement alone proves nothing: two good workers agree because both are right. What counts is
agreement beyond that, above all on wrong answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import UNKNOWN, CrowdData, Floats
from crowdcore.result import Result, wilson

if TYPE_CHECKING:
    import pandas as pd

Counts = NDArray[np.int64]

FEWEST = 5
"""Shared items below which nothing is said of a pair."""

LUCK = 0.05
"""How probable it may be that luck alone makes any one of the compared pairs stand out."""

DOUBT = 0.01
"""Two workers may always agree, or err alike, this often: their matrices are only estimates."""

MOST_MEETINGS = 5_000_000
"""Pairs of labels of the same item that are gone through, at most: some seconds."""

AT_ONCE = 4_000_000
"""Numbers that are in memory together while matrices are compared."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Agreement:
    """Pairs of workers, how alike they are and how alike they should be; arrays of one shape."""

    shared: Counts  # items with a truth that both labelled
    same: Counts  # of these, those with the same label
    same_wrong: Counts  # of these, those where it is not the truth
    apart: Floats  # share of same labels to expect of two such workers, each by themselves
    apart_wrong: Floats  # number of same wrong labels to expect of them
    luck: Floats  # share of same labels to expect if neither looks at the items
    chance: Floats  # how probable it is to be so alike by oneself

    @property
    def share(self) -> Floats:
        """The share of same labels; NaN without a shared item."""
        return _ratio(self.same, self.shared)

    @property
    def excess(self) -> Floats:
        """By how much the share surely exceeds the expected one; NaN with too few items."""
        low = wilson(self.same, self.shared)[0]
        found: Floats = np.where(self.shared >= FEWEST, np.maximum(low - self.apart, 0), np.nan)
        return found

    def beyond(self, compared: int) -> NDArray[np.bool_]:
        """Which pairs are more alike than luck explains where so many pairs are compared."""
        known = self.shared >= FEWEST
        found: NDArray[np.bool_] = known & (self.chance * max(1, compared) < LUCK)
        return found

    def at(self, place: Any) -> Agreement:
        """The same of some pairs."""
        return Agreement(**{name: values[place] for name, values in vars(self).items()})


@dataclass(frozen=True, kw_only=True, eq=False)
class CrowdPairs:
    """Every two workers with enough shared items, the least explained by luck first."""

    one: Counts  # [P]
    other: Counts  # [P]
    alike: Agreement  # [P]
    n_workers: int  # among how many workers this was looked for: the busiest

    @property
    def beyond(self) -> NDArray[np.bool_]:
        """Which pairs are more alike than luck explains."""
        return self.alike.beyond(len(self.one))


def crowd_pairs(result: Result) -> CrowdPairs:
    """Compare every two workers who share enough items; in a huge crowd only the busiest ones."""
    workers = np.sort(_busiest(result.data))
    labels = _Labels(result, workers)
    met = labels.meet(labels.item).tocoo()
    enough = (met.data >= FEWEST) & (met.row < met.col)
    one, other = workers[met.row[enough]], workers[met.col[enough]]
    found = agreement(result, one, other)
    order = np.lexsort((-found.shared, found.chance))
    return CrowdPairs(
        one=one[order], other=other[order], alike=found.at(order), n_workers=len(workers)
    )


def agreement(result: Result, one: Any, other: Any) -> Agreement:
    """Compare workers with workers: two arrays of codes, which may be broadcast to each other.

    How good each of them is, is counted against the truths: probabilities that are too unsure
    would make honest workers look suspiciously alike. Undecided items are no evidence.
    """
    one, other = np.broadcast_arrays(np.asarray(one, np.int64), np.asarray(other, np.int64))
    labels = _Labels(result, np.union1d(one, other))
    a, b = (np.searchsorted(labels.workers, codes) for codes in (one, other))
    pair = a != b  # nobody shares an item with themselves
    shared = pair * _pick(labels.meet(labels.item), a, b)
    same = pair * _pick(labels.meet(labels.said), a, b)
    wrong = pair * _pick(labels.meet(labels.said, labels.is_wrong), a, b)
    apart, apart_wrong = _by_themselves(result, labels, a.ravel(), b.ravel())
    apart, apart_wrong = pair * apart.reshape(a.shape), pair * apart_wrong.reshape(a.shape)
    chance = np.minimum(_at_least(same, shared, apart), _at_least(wrong, shared, apart_wrong))
    habits = _habits(result.data, labels.workers)
    return Agreement(
        shared=shared,
        same=same,
        same_wrong=wrong,
        apart=_ratio(apart, shared),
        apart_wrong=apart_wrong,
        luck=_dots(habits, habits, a.ravel(), b.ravel()).reshape(a.shape),
        chance=np.minimum(1, 2 * chance),  # two questions were asked
    )


def shared_items(result: Result, one: int, other: int) -> pd.DataFrame:
    """One row for each item that both workers labelled: same wrong labels first, then same ones.

    Columns: item (code), one, other, truth (class codes, UNKNOWN if undecided), confidence, same,
    wrong (the same, and not the truth).
    """
    import pandas as pd

    data = result.data
    frames = [
        pd.DataFrame({"item": data.item[rows], name: data.label[rows]})
        for name, rows in (
            ("one", np.flatnonzero(data.worker == one)),
            ("other", np.flatnonzero(data.worker == other)),
        )
    ]
    frame = frames[0].merge(frames[1], on="item")
    truth = result.truth[frame["item"]]
    same = (frame["one"] == frame["other"]).to_numpy()
    frame = frame.assign(
        truth=truth,
        confidence=result.confidence[frame["item"]],
        same=same,
        wrong=same & (truth != UNKNOWN) & (truth != frame["one"].to_numpy()),
    )
    order = ["wrong", "same", "confidence"]
    return frame.sort_values(order, ascending=False, kind="stable", ignore_index=True)


class _Labels:
    """The labels of some workers on items with a truth."""

    def __init__(self, result: Result, workers: Counts) -> None:
        data = result.data
        self.workers = workers
        place = np.full(data.n_workers, UNKNOWN)
        place[workers] = np.arange(len(workers))
        rows = np.flatnonzero((place[data.worker] >= 0) & (result.truth[data.item] != UNKNOWN))
        self.place = place[data.worker[rows]]
        self.item = data.item[rows].astype(np.int64)
        self.label = data.label[rows].astype(np.int64)
        self.truth = result.truth[self.item].astype(np.int64)
        self.said = self.item * data.n_classes + self.label
        self.is_wrong = self.truth != self.label

    def meet(self, row: Counts, keep: Any = slice(None)) -> Any:
        """Count how often two workers stand in the same row, as a sparse matrix [m, m]."""
        from scipy.sparse import csr_array

        _, row = np.unique(row[keep], return_inverse=True)
        place = self.place[keep]
        shape = (int(row.max(initial=-1)) + 1, len(self.workers))
        table = csr_array((np.ones(len(row), np.int64), (row, place)), shape)
        return table.T @ table


def _busiest(data: CrowdData) -> Counts:
    """The workers with the most labels, as many as can be compared with each other."""
    order = np.argsort(-data.labels_per_worker, kind="stable")
    order = order[: int((data.labels_per_worker > 0).sum())]
    most = len(order)
    chosen = np.zeros(data.n_workers, bool)
    while most > 1:
        chosen[:] = False
        chosen[order[:most]] = True
        per_item = np.bincount(data.item[chosen[data.worker]], minlength=data.n_items)
        if int((per_item**2).sum()) <= MOST_MEETINGS:
            break
        most //= 2
    return order[:most]


def _by_themselves(result: Result, labels: _Labels, a: Counts, b: Counts) -> tuple[Floats, Floats]:
    """How many same labels, and same wrong ones, to expect of pairs of workers [P]."""
    matrices = _matrices(result, labels)
    same, right = np.zeros((2, len(a)))
    for true in np.unique(labels.truth):
        met = _pick(labels.meet(labels.item, labels.truth == true), a, b)
        some = np.flatnonzero(met)
        rows = matrices[:, true]
        same[some] += met[some] * _dots(rows, rows, a[some], b[some])
        right[some] += met[some] * rows[a[some], true] * rows[b[some], true]
    return same, np.maximum(same - right, 0)


def _matrices(result: Result, labels: _Labels) -> Floats:
    """P(given | true) of each worker [m, true, given], drawn to the crowd's by one label."""
    k, m = result.data.n_classes, len(labels.workers)
    known = result.truth[result.data.item] != UNKNOWN
    true, given = result.truth[result.data.item[known]], result.data.label[known]
    counts = np.bincount(true.astype(np.int64) * k + given, minlength=k * k)
    crowd = counts.reshape(k, k) + np.eye(k)
    cell = (labels.place * k + labels.truth) * k + labels.label
    own = np.bincount(cell, minlength=m * k * k).reshape(m, k, k)
    shares = own + crowd / crowd.sum(1, keepdims=True)
    matrices: Floats = shares / shares.sum(2, keepdims=True)
    return matrices


def _habits(data: CrowdData, workers: Counts) -> Floats:
    """What part of each worker's labels is each class [m, K]; 0 without labels."""
    cell = data.worker.astype(np.int64) * data.n_classes + data.label
    counts = np.bincount(cell, minlength=data.n_workers * data.n_classes)
    own = counts.reshape(-1, data.n_classes)[workers]
    shares: Floats = own / np.maximum(own.sum(1, keepdims=True), 1)
    return shares


def _dots(left: Floats, right: Floats, a: Counts, b: Counts) -> Floats:
    """The products of some rows with some rows [P]."""
    found = np.empty(len(a))
    for part in _parts(len(a), AT_ONCE // left.shape[1]):
        found[part] = np.einsum("pk,pk->p", left[a[part]], right[b[part]])
    return found


def _parts(n: int, size: int) -> Iterator[slice]:
    return (slice(at, at + max(1, size)) for at in range(0, n, max(1, size)))


def _pick(table: Any, a: Counts, b: Counts) -> Counts:
    """Entries of a sparse matrix, in the shape of their places."""
    if not table.nnz or not a.size:
        return np.zeros(a.shape, np.int64)
    found: Counts = np.asarray(table[a.ravel(), b.ravel()]).reshape(a.shape)
    return found


def _at_least(found: Counts, of: Counts, expected: Floats) -> Floats:
    """How probable it is to find so many or more; the items differ, so this errs on the high side.

    Sums of unlike coins spread less than the binomial of their mean (Hoeffding 1956).
    """
    from scipy.special import betainc

    rate = np.clip(expected / np.maximum(of, 1), DOUBT, 1.0)
    tail: Floats = np.where(found > 0, betainc(np.maximum(found, 1), of - found + 1, rate), 1.0)
    return tail


def _ratio(part: Any, whole: Any) -> Floats:
    nothing = np.full(np.shape(part), np.nan)
    shares: Floats = np.divide(part, whole, out=nothing, where=np.asarray(whole) > 0)
    return shares
