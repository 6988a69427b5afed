"""Only the classes that somebody gave: a compact E step for models whose errors are alike.

Where a model spreads a worker's errors without regard to the truth, all classes that nobody
gave to an item have the same probability. A *cell* is an (item, class) that somebody gave;
there are at most as many as labels, however many classes there are. Values of cells are
[C, S], with a column a start.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.nn.functional import embedding_bag

from crowdcore.labels import LONGEST_BAG

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.labels import Labels


LEAST = 1e-30
"""The smallest prior of the classes that nobody gave to an item."""

LARGEST = 40.0
"""How far from 0 scores may be, where items need no common factor against too large numbers."""


class Cells:
    """The cells in the order of their items, and where every label stands among them."""

    def __init__(self, labels: Labels) -> None:
        self.labels = labels
        data, n_classes = labels.data, labels.n_classes
        code = data.item.astype(np.int64) * n_classes + data.label
        size = np.bincount(code, minlength=labels.n_items * n_classes)
        given = np.flatnonzero(size)
        bits = max(1, (labels.n_workers - 1).bit_length())
        packed = (code << bits) | data.worker
        packed.sort()
        worker = packed & ((1 << bits) - 1)
        rank = np.repeat(np.arange(len(given)), size[given])  # the cell of each sorted label
        key = worker * n_classes + (given % n_classes)[rank]
        per_item = np.bincount(given // n_classes, minlength=labels.n_items)

        self.code = labels.tensor(given)  # [C] item * K + class
        self.item = labels.tensor(given // n_classes)  # [C]
        self.given = self._places(given % n_classes)  # [C]
        self.counts = labels.tensor(size[given], labels.dtype)  # [C] labels of each cell
        self.label_cell = self._places(rank)  # [L]
        self.label_item = self._places(given[rank] // n_classes)  # [L]
        self.label_worker = self._places(worker)  # [L]
        self._keys = self._places(key), self._places(_starts(size[given]))
        self._items = self._places(np.arange(len(given))), self._places(_starts(per_item))
        self._cells = self._places(rank[np.argsort(key, kind="stable")])
        keys = np.bincount(key, minlength=labels.n_workers * n_classes)
        self.key_counts = labels.tensor(keys, labels.dtype)  # [W * K]
        starts, owner = _cut(keys)
        self._key_starts = self._places(starts), labels.tensor(owner)
        by_class = np.argsort(given % n_classes, kind="stable")
        starts, owner = _cut(np.bincount(given % n_classes, minlength=n_classes))
        self._classes = self._places(by_class), self._places((given // n_classes)[by_class])
        self._class_starts = self._places(starts), labels.tensor(owner)
        self._set_unseen(n_classes - per_item, given)

    def _places(self, array: NDArray[np.int64]) -> Tensor:
        return self.labels.tensor(array.astype(np.int32))

    def _set_unseen(self, unseen: NDArray[np.int64], given: NDArray[np.int64]) -> None:
        """How many classes nobody gave; with gold, only its class, and only if nobody gave it."""
        labels = self.labels
        self._held: Tensor | None = None  # [C] minus infinity for cells that gold rules out
        known = labels.data.has_gold & labels.use_gold
        if labels.data.gold is not None and known.any():
            item, cls = np.divmod(given, labels.n_classes)
            right = cls == labels.data.gold[item]
            self._held = labels.tensor(np.where(known[item] & ~right, -np.inf, 0.0), labels.dtype)
            hit = np.bincount(item[right], minlength=labels.n_items) > 0
            unseen = np.where(known, ~hit, unseen)

        def column(values: NDArray[np.generic]) -> Tensor:
            return labels.tensor(values[:, None], labels.dtype)

        self.unseen = column(unseen)  # [N, 1]
        self._open, self._sure = column((unseen > 0) & ~known), column(unseen * known)
        self._floor = column(np.where(unseen > 0, 0.0, -np.inf))  # the score of such a class

    def add_keys(self, table: Tensor) -> Tensor:
        """Add, for each cell, the rows [W * K, S] of the labels in it -> [C, S]."""
        keys, starts = self._keys
        return embedding_bag(keys, table, starts, mode="sum")

    def add_cells(self, values: Tensor) -> Tensor:
        """Add, for each (worker, given), the rows [C, S] of the cells so labelled -> [W * K, S]."""
        return _add(self._cells, values, self._key_starts, len(self.key_counts)).to(values.dtype)

    def normalise(
        self, scores: Tensor, prior: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Turn log scores [C, S], relative to a class that nobody gave, into probabilities.

        Returns those of the cells [C, S], that of any one class that nobody gave [N, S], and
        the log totals, summed over items [S]. With a `prior` [K, S], which need not sum to 1,
        the second is to be multiplied by it.
        """
        cells, starts = self._items
        unseen = self.unseen  # [N, 1]
        if prior is not None:
            prior = prior.to(scores.dtype)
            left = prior.sum(0) - embedding_bag(self.given, prior, starts, mode="sum")
            # With gold nothing else is possible, however rare its class.
            unseen = left.clamp_(min=LEAST).mul_(self._open).add_(self._sure)
            scores = prior.log().index_select(0, self.given).add_(scores)
        if self._held is not None:
            scores = scores + self._held.unsqueeze(1)
        if scores.device.type == "cpu" and scores.amax() < LARGEST:
            odds = scores.exp()
            total = embedding_bag(cells, odds, starts, mode="sum") + unseen
            if total.amin() > math.exp(-LARGEST):
                odds /= total.index_select(0, self.item)
                return odds, total.reciprocal(), total.log().sum(0).double()
        top = embedding_bag(cells, scores, starts, mode="max")
        top = torch.maximum(top, self._floor)
        odds = top.index_select(0, self.item).neg_().add_(scores).exp_()
        rest = top.clamp(min=0).neg_().exp_()  # not used where every class was given
        total = embedding_bag(cells, odds, starts, mode="sum") + unseen * rest
        odds /= total.index_select(0, self.item)
        # Torch adds columns in cascades: float32 is exact enough, and fifteen times faster.
        return odds, rest.div_(total), (top + total.log()).sum(0).double()

    def class_totals(self, cell: Tensor, rest: Tensor, prior: Tensor) -> Tensor:
        """How many items with labels belong to each class [K, S], after `normalise`."""
        cells, items = self._classes
        seen, taken = (
            _add(places, values, self._class_starts, self.labels.n_classes)
            for places, values in ((cells, cell), (items, rest))
        )
        rests = rest.sum(0) - rest.index_select(0, self.labels.unlabelled).sum(0)
        return seen + prior * (rests - taken).clamp_(min=0)

    def spread(self, values: Tensor, rest: Tensor, prior: Tensor | None = None) -> Tensor:
        """Fill a table [N, K] with the cells' values [C], and with `rest` [N] where nobody gave."""
        labels = self.labels
        each = rest.new_ones(labels.n_classes) if prior is None else prior.to(rest.dtype)
        table = (rest.unsqueeze(1) * each).reshape(-1).index_copy(0, self.code, values)
        return labels.clamp(table.reshape(-1, labels.n_classes), other=0.0)

    def pick(self, table: Tensor) -> Tensor:
        """The values of the cells [C] in a table [N, K]."""
        return table.reshape(-1).index_select(0, self.code)


def _add(places: Tensor, values: Tensor, bags: tuple[Tensor, Tensor], size: int) -> Tensor:
    """Add the rows of `values` at these places; the bags of one owner are added in float64."""
    starts, owner = bags
    parts = embedding_bag(places, values, starts, mode="sum").double()
    return parts.new_zeros((size, values.shape[1])).index_add_(0, owner, parts)


def _starts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.cumsum(sizes) - sizes


def _cut(sizes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cut long bags, so that float32 never adds up more than a few thousand numbers."""
    parts = np.maximum(1, -(-sizes // LONGEST_BAG))
    owner = np.repeat(np.arange(len(sizes)), parts)
    first = np.repeat(_starts(parts), parts)
    return np.repeat(_starts(sizes), parts) + (np.arange(len(owner)) - first) * LONGEST_BAG, owner
