"""How well columns fit together as items, workers and labels, measured on codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from crowdcore.reading.agreement import Ints, chance_corrected
from crowdcore.reading.columns.facts import ColumnFacts
from crowdcore.reading.columns.profile import TableProfile

Key = tuple[str, ...]
"""One column, or several that name a thing together."""

_CODE_BITS = 32


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """How items and workers cross.

    Parameters
    ----------
    n_items, n_workers
        How many there are.
    unique_share
        Distinct pairs of item and worker, as a share of the rows.
    shared_share
        The share of rows whose item has several workers.
    items_per_worker
        How many items a worker has on average.
    """

    n_items: int
    n_workers: int
    unique_share: float
    shared_share: float
    items_per_worker: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Measures:
    """Measures of the columns of one table; each is made once.

    Parameters
    ----------
    profile
        The rows that are looked at.
    """

    profile: TableProfile
    _facts: dict[str, ColumnFacts] = field(default_factory=dict, repr=False)
    _codes: dict[Key, Ints] = field(default_factory=dict, repr=False)
    _crossings: dict[tuple[Key, str], Crossing] = field(default_factory=dict, repr=False)

    def facts(self, column: str) -> ColumnFacts:
        """Return what the values of a column look like."""
        if column not in self._facts:
            self._facts[column] = ColumnFacts(name=column, profile=self.profile)
        return self._facts[column]

    def codes(self, key: Key) -> Ints:
        """Return a code for each row [rows]; -1 where every column of the key is blank."""
        if key not in self._codes:
            self._codes[key] = self._encode(key)
        return self._codes[key]

    def _encode(self, key: Key) -> Ints:
        if len(key) == 1:
            coded = self.profile.coded(key[0])
            codes = coded.codes.astype(np.int64)
            return np.where(self.profile.filled(key[0]), codes, -1)
        first, last = self.codes(key[:-1]), self.codes(key[-1:])
        blank = (first < 0) & (last < 0)
        joined = (first + 1) << _CODE_BITS | (last + 1)
        codes = np.unique(joined, return_inverse=True)[1].astype(np.int64)
        return np.where(blank, -1, codes)

    def n_distinct(self, key: Key) -> int:
        """Return how many distinct keys there are."""
        codes = self.codes(key)
        return len(np.unique(codes[codes >= 0]))

    def crossing(self, item: Key, worker: str) -> Crossing:
        """Measure how items and workers cross."""
        if (item, worker) not in self._crossings:
            self._crossings[item, worker] = self._cross(item, worker)
        return self._crossings[item, worker]

    def _cross(self, item: Key, worker: str) -> Crossing:
        items, workers = self.codes(item), self.codes((worker,))
        rows = (items >= 0) & (workers >= 0)
        items, workers = items[rows], workers[rows]
        if not len(items):
            return Crossing(
                n_items=0, n_workers=0, unique_share=0, shared_share=0, items_per_worker=0
            )
        pairs, counts = np.unique(items << _CODE_BITS | workers, return_counts=True)
        item_of_pair = pairs >> _CODE_BITS
        n_workers_of = np.bincount(item_of_pair)
        n_workers = len(np.unique(workers))
        return Crossing(
            n_items=int((n_workers_of > 0).sum()),
            n_workers=n_workers,
            unique_share=len(pairs) / len(items),
            shared_share=float(counts[n_workers_of[item_of_pair] > 1].sum() / len(items)),
            items_per_worker=len(pairs) / n_workers,
        )

    def variation(self, column: str, within: Key) -> float:
        """Return the share of groups of several rows in which a column has several values."""
        groups, values = self.codes(within), self.codes((column,))
        rows = (groups >= 0) & (values >= 0)
        groups, values = groups[rows], values[rows]
        if not len(groups):
            return 0.0
        sizes = np.bincount(groups)
        pairs = np.unique(groups << _CODE_BITS | values)
        n_values = np.bincount(pairs >> _CODE_BITS, minlength=len(sizes))
        several = sizes > 1
        return float((n_values[several] > 1).mean()) if several.any() else 0.0

    def splits(self, column: str, item: Key, worker: str) -> float:
        """Return the share of items, of those that no worker meets twice, that a column splits.

        What tells items apart leaves these alone; an answer, on which workers differ, does not.
        """
        items, workers = self.codes(item), self.codes((worker,))
        rows = (items >= 0) & (workers >= 0)
        pairs, counts = np.unique(items[rows] << _CODE_BITS | workers[rows], return_counts=True)
        is_repeated = np.zeros(int(items.max(initial=0)) + 1, bool)
        is_repeated[pairs[counts > 1] >> _CODE_BITS] = True
        rows &= ~is_repeated[items]
        groups, values = items[rows], self.codes((column,))[rows] + 1
        if not len(groups):
            return 0.0
        distinct = np.unique(groups << _CODE_BITS | values)
        n_values = np.bincount(distinct >> _CODE_BITS)
        return float((n_values[n_values > 0] > 1).mean())

    def agreement(self, column: str, within: Key) -> float:
        """Return how much more alike a column is within groups than by chance; 1 is entirely."""
        groups, values = self.codes(within), self.codes((column,))
        rows = (groups >= 0) & (values >= 0)
        return chance_corrected(groups[rows], values[rows])

    def same_partition(self, first: Key, second: Key, slack: float = 1.02) -> bool:
        """Tell whether two keys cut the rows into (nearly) the same groups."""
        n_first, n_second = self.n_distinct(first), self.n_distinct(second)
        if min(n_first, n_second) * slack < max(n_first, n_second):
            return False
        a, b = self.codes(first), self.codes(second)
        n_both = len(np.unique((a + 1) << _CODE_BITS | (b + 1)))
        return n_both <= slack * max(n_first, n_second) + 1


def joined_name(key: Sequence[str]) -> str:
    """Name a key: its column, or its columns with a plus between them."""
    return " + ".join(key)
