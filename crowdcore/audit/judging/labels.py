"""The labels that speak about a worker: one per item, in the order of the workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.codes import sorted_with
from crowdcore.data import UNKNOWN, CrowdData, Floats

Rows = NDArray[np.int64]
Flags = NDArray[np.bool_]

ITEMS_PER_BLOCK = 131_072
"""Items whose beliefs are added up by worker at a time, in large crowds."""

DOUBLE_BELOW_LABELS = 200_000
"""Below this, float64 costs nothing that a person notices; above, float32 halves the time."""


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedLabels:
    """Labels by worker, at most one per worker and item, and which of them can be compared.

    A worker who labels an item twice is no second witness: the last label of the pair counts.
    """

    row: Rows  # [L] rows of the data
    item: Rows  # [L]
    worker: Rows  # [L], ascending
    given: Rows  # [L]
    n_items: int
    n_workers: int
    n_classes: int
    gold: Rows  # [N]; UNKNOWN where there is none
    voice: Rows  # [W] workers who speak with one voice share a number; else each has their own

    @classmethod
    def from_data(cls, data: CrowdData) -> JudgedLabels:
        """Take one label per worker and item, the last one, and order them by worker.

        Parameters
        ----------
        data
            Labels of the kind "classes".

        Returns
        -------
        JudgedLabels
            The labels by worker; those of one worker stand in the order of the data.
        """
        row = sorted_with(data.worker, np.arange(data.n_labels), data.n_labels)
        pair = data.worker.astype(np.int64) * data.n_items + data.item
        if len(repeated := _repeated(pair)):
            doubtful = row[np.isin(pair[row], repeated)]
            last = np.unique(pair[doubtful][::-1], return_index=True)[1]
            is_earlier = np.ones(len(doubtful), bool)
            is_earlier[len(doubtful) - 1 - last] = False
            row = row[~np.isin(row, doubtful[is_earlier])]
        del pair
        gold = np.full(data.n_items, UNKNOWN) if data.gold is None else data.gold
        return cls(
            row=row,
            item=data.item[row].astype(np.int64),
            worker=data.worker[row].astype(np.int64),
            given=data.label[row].astype(np.int64),
            n_items=data.n_items,
            n_workers=data.n_workers,
            n_classes=data.n_classes,
            gold=gold.astype(np.int64),
            voice=np.arange(data.n_workers),
        )

    def with_groups(self, groups: Sequence[Rows]) -> JudgedLabels:
        """Let each group of workers speak with one voice: together they count once per item."""
        voice = np.arange(self.n_workers)
        for members in groups:
            voice[members] = members.min()
        return replace(self, voice=voice)

    @cached_property
    def in_group(self) -> Flags:
        """Whether the worker of each label shares a voice with others [L]."""
        several = np.bincount(self.voice, minlength=self.n_workers)[self.voice] > 1
        return several[self.worker]

    @cached_property
    def weight(self) -> Floats:
        """What part of a vote each label is [L]: 1, but where a group gave several to an item."""
        weight = np.ones(len(self.item))
        rows = np.flatnonzero(self.in_group)
        together = self.voice[self.worker[rows]] * self.n_items + self.item[rows]
        _, index, size = np.unique(together, return_inverse=True, return_counts=True)
        weight[rows] = 1 / size[index]
        return weight

    @cached_property
    def starts(self) -> Rows:
        """Where each worker's labels start, and where the last one's end [W + 1]."""
        sizes = np.bincount(self.worker, minlength=self.n_workers)
        return np.concatenate([[0], np.cumsum(sizes)])

    @property
    def n_active(self) -> int:
        """How many workers have labels."""
        return int((np.diff(self.starts) > 0).sum())

    @cached_property
    def has_gold(self) -> Flags:
        """Whether the item of each label has gold [L]."""
        known: Flags = self.gold[self.item] != UNKNOWN
        return known

    @cached_property
    def comparable(self) -> Flags:
        """Whether gold or another voice speaks about the item of each label [L]."""
        voices = np.bincount(self.item, weights=self.weight, minlength=self.n_items)
        several: Flags = voices[self.item] > 1 + 1e-6
        return several | self.has_gold

    @cached_property
    def given_counts(self) -> Floats:
        """How often each worker gave each class [W, K]."""
        key = self.worker * self.n_classes + self.given
        counts = np.bincount(key, minlength=self.n_workers * self.n_classes)
        return counts.reshape(self.n_workers, self.n_classes).astype(np.float64)

    @property
    def dtype(self) -> type[np.floating[Any]]:
        """The numbers that fits compute with."""
        return np.float64 if len(self.item) < DOUBLE_BELOW_LABELS else np.float32

    @cached_property
    def by_item(self) -> Any:
        """A sparse matrix [N, W × K] of votes; columns are (worker, given)."""
        n_keys = self.n_workers * self.n_classes
        weight = None if not self.in_group.any() else self.weight
        return _sparse(self.item, self._key, (self.n_items, n_keys), self.dtype, weight)

    @cached_property
    def by_given(self) -> Any:
        """A sparse matrix [W × K, N] with a 1 for every label."""
        n_keys = self.n_workers * self.n_classes
        if self.n_items <= 2 * ITEMS_PER_BLOCK:
            return _sparse(self._key, self.item, (n_keys, self.n_items), self.dtype)
        return _ColumnBlocks(self, n_keys)

    @property
    def _key(self) -> Rows:
        """The (worker, given) of each label [L]."""
        key: Rows = self.worker * self.n_classes + self.given
        return key

    def worker_sums(self, values: NDArray[Any]) -> Floats:
        """Add values [L] up by worker [W]."""
        return sums_by(self.worker, values, self.n_workers)


def sums_by(codes: NDArray[Any], values: NDArray[Any], size: int) -> Floats:
    """Add values [n] up by their codes [n], which lie below `size`."""
    sums: NDArray[Any] = np.bincount(codes, weights=values, minlength=size)
    return sums.astype(np.float64, copy=False)


class _ColumnBlocks:
    """A sparse matrix [W × K, N] in blocks of items, whose rows of a table stay in the cache."""

    def __init__(self, labels: JudgedLabels, n_keys: int) -> None:
        self._blocks: list[tuple[slice, Any]] = []
        block, key = labels.item // ITEMS_PER_BLOCK, labels._key
        for number in range(-(-labels.n_items // ITEMS_PER_BLOCK)):
            first = number * ITEMS_PER_BLOCK
            items = slice(first, min(first + ITEMS_PER_BLOCK, labels.n_items))
            rows = np.flatnonzero(block == number)
            shape = (n_keys, items.stop - first)
            matrix = _sparse(key[rows], labels.item[rows] - first, shape, labels.dtype)
            self._blocks.append((items, matrix))

    def __matmul__(self, table: NDArray[Any]) -> NDArray[Any]:
        """The product with a table [N, C]."""
        (items, matrix), *others = self._blocks
        total: NDArray[Any] = matrix @ table[items]
        for items, matrix in others:
            total += matrix @ table[items]
        return total


def _repeated(codes: Rows) -> Rows:
    """The codes that occur more than once, each once."""
    ordered = np.sort(codes)
    return np.unique(ordered[1:][ordered[1:] == ordered[:-1]])


def _sparse(
    row: Rows,
    column: Rows,
    shape: tuple[int, int],
    dtype: type[np.floating[Any]],
    values: Floats | None = None,
) -> Any:
    """A sparse matrix with a 1, or these values, at distinct places; columns ascend in a row."""
    from scipy.sparse import csr_array

    starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=shape[0]))])
    if values is None:
        columns, entries = sorted_with(row, column, shape[1]), np.ones(len(row), dtype)
    else:
        order = np.lexsort((column, row))
        columns, entries = column[order], values[order].astype(dtype)
    if max(len(row), shape[1]) < np.iinfo(np.int32).max:
        columns, starts = columns.astype(np.int32), starts.astype(np.int32)
    return csr_array((entries, columns, starts), shape)
