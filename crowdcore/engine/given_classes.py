"""Only the classes that somebody gave: a compact E step for models whose errors are alike.

Where a model spreads a worker's errors without regard to the truth, all classes that nobody
gave to an item have the same probability. A *cell* is an (item, class) that somebody gave;
there are at most as many as labels, however many classes there are. Values of cells are
[C, S], with one column per start.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.nn.functional import embedding_bag

from crowdcore.codes import sorted_with
from crowdcore.engine.bags import bag_starts, cut_long_bags

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.engine.labels import Labels


MIN_UNSEEN_PRIOR = 1e-30
"""The smallest prior of the classes that nobody gave to an item."""

MAX_PLAIN_SCORE = 40.0
"""How far from 0 scores may be, where items need no common factor against too large numbers."""


class GivenClasses:
    """The cells in the order of their items, and the cell of every label.

    Parameters
    ----------
    labels : Labels
        The labels; gold is held where they say so.

    Attributes
    ----------
    code : Tensor [C]
        item * K + class of each cell.
    item, given : Tensor [C]
        The item and the class of each cell.
    counts : Tensor [C]
        Number of labels in each cell.
    label_cell, label_item, label_worker : Tensor [L]
        The cell, item and worker of each label, in the order of the cells.
    key_counts : Tensor [W * K]
        Number of labels of each worker and class, in all parts.
    n_unseen : Tensor [N, 1]
        Number of classes that nobody gave to an item and that are possible.
    """

    def __init__(self, labels: Labels) -> None:
        self.labels = labels
        data, n_classes = labels.data, labels.n_classes
        code = data.item.astype(np.int64) * n_classes + data.label
        size = np.bincount(code, minlength=labels.n_items * n_classes)
        cells = np.flatnonzero(size)
        size = size[cells]
        item, given = np.divmod(cells, n_classes)
        bits = max(1, (labels.n_workers - 1).bit_length())
        packed = (code << bits) | data.worker
        packed.sort()
        packed &= (1 << bits) - 1  # the workers, in the order of the cells
        rank = np.repeat(np.arange(len(cells)), size)  # the cell of each sorted label
        key = packed * n_classes
        key += np.repeat(given, size)
        per_item = np.bincount(item, minlength=labels.n_items)

        self.code = labels.tensor(cells)
        self.item = labels.tensor(item)
        self.given = self._index(given)
        self.counts = labels.tensor(size, labels.dtype)
        self.label_cell = self._index(rank)
        self.label_item = self._index(np.repeat(item, size))
        self.label_worker = self._index(packed)
        self._keys = self._index(key), self._index(bag_starts(size))
        self._items = self._index(np.arange(len(cells))), self._index(bag_starts(per_item))
        self._cells = self._index(sorted_with(key, rank, len(cells)))
        keys = np.bincount(key, minlength=labels.n_workers * n_classes)
        self.key_counts = labels.parts.sum(labels.tensor(keys)).to(labels.dtype)
        starts, owner = cut_long_bags(keys)
        self._key_starts = self._index(starts), labels.tensor(owner)
        by_class = sorted_with(given, np.arange(len(cells)), len(cells))
        starts, owner = cut_long_bags(np.bincount(given, minlength=n_classes))
        self._classes = self._index(by_class), self._index(item[by_class])
        self._class_starts = self._index(starts), labels.tensor(owner)
        self._set_unseen(n_classes - per_item, item, given)

    def _index(self, array: NDArray[np.int64]) -> Tensor:
        return self.labels.tensor(array, torch.int32)

    def _set_unseen(
        self, n_unseen: NDArray[np.int64], item: NDArray[np.int64], given: NDArray[np.int64]
    ) -> None:
        """How many classes nobody gave; with gold, only its class, and only if nobody gave it."""
        labels = self.labels
        self._ruled_out: Tensor | None = None  # [C] minus infinity for cells that gold rules out
        has_gold = labels.data.has_gold & labels.use_gold
        if labels.data.gold is not None and has_gold.any():
            right = given == labels.data.gold[item]
            ruled_out = np.where(has_gold[item] & ~right, -np.inf, 0.0)
            self._ruled_out = labels.tensor(ruled_out, labels.dtype)
            gold_given = np.bincount(item[right], minlength=labels.n_items) > 0
            n_unseen = np.where(has_gold, ~gold_given, n_unseen)

        def column(values: NDArray[np.generic]) -> Tensor:
            return labels.tensor(values[:, None], labels.dtype)

        self.n_unseen = column(n_unseen)
        self._open, self._certain = column((n_unseen > 0) & ~has_gold), column(n_unseen * has_gold)
        self._unseen_score = column(np.where(n_unseen > 0, 0.0, -np.inf))

    def sum_by_cell(self, table: Tensor) -> Tensor:
        """Add, for each cell, the rows [W * K, S] of the labels in it -> [C, S]."""
        keys, starts = self._keys
        return embedding_bag(keys, table, starts, mode="sum")

    def sum_by_key(self, values: Tensor) -> Tensor:
        """Add, for each (worker, given), the rows [C, S] of the cells so labelled -> [W * K, S]."""
        total = _sum_bags(self._cells, values, self._key_starts, len(self.key_counts))
        return self.labels.parts.sum(total).to(values.dtype)

    def normalise(
        self, scores: Tensor, prior: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Turn log scores, relative to a class that nobody gave, into probabilities.

        Parameters
        ----------
        scores : Tensor [C, S]
            Log-odds of each cell's class against a class that nobody gave.
        prior : Tensor [K, S], optional
            Weights of the classes, which need not sum to 1; all alike, if not given.

        Returns
        -------
        given : Tensor [C, S]
            Probabilities of the cells' classes.
        unseen : Tensor [N, S]
            Probability of any one class that nobody gave; with a prior, to be multiplied by it.
        log_total : Tensor [S]
            The log totals, added up over items.
        """
        cells, starts = self._items
        unseen_weight = self.n_unseen  # [N, 1]
        if prior is not None:
            prior = prior.to(scores.dtype)
            unseen_prior = prior.sum(0) - embedding_bag(self.given, prior, starts, mode="sum")
            # With gold nothing else is possible, however rare its class.
            unseen_prior = unseen_prior.clamp_(min=MIN_UNSEEN_PRIOR)
            unseen_weight = unseen_prior.mul_(self._open).add_(self._certain)
            scores = prior.log().index_select(0, self.given).add_(scores)
        if self._ruled_out is not None:
            scores = scores + self._ruled_out.unsqueeze(1)
        if scores.device.type == "cpu" and len(scores) and scores.amax() < MAX_PLAIN_SCORE:
            odds = scores.exp()
            total = embedding_bag(cells, odds, starts, mode="sum") + unseen_weight
            if total.amin() > math.exp(-MAX_PLAIN_SCORE):
                odds /= total.index_select(0, self.item)
                return odds, total.reciprocal(), self._log_total(total.log())
        top = embedding_bag(cells, scores, starts, mode="max")
        top = torch.maximum(top, self._unseen_score)
        odds = top.index_select(0, self.item).neg_().add_(scores).exp_()
        unseen = top.clamp(min=0).neg_().exp_()  # not used where every class was given
        total = embedding_bag(cells, odds, starts, mode="sum") + unseen_weight * unseen
        odds /= total.index_select(0, self.item)
        return odds, unseen.div_(total), self._log_total(top + total.log())

    def _log_total(self, logs: Tensor) -> Tensor:
        """Add logs [N, S] up over the items of all parts."""
        # Torch adds columns in cascades: float32 is exact enough, and fifteen times faster.
        return self.labels.parts.sum(logs.sum(0).double())

    def class_totals(self, given: Tensor, unseen: Tensor, prior: Tensor) -> Tensor:
        """Count softly the items with labels in each class [K, S], after `normalise`."""
        cells, items = self._classes
        from_given, unseen_where_given = (
            _sum_bags(index, values, self._class_starts, self.labels.n_classes)
            for index, values in ((cells, given), (items, unseen))
        )
        unseen_total = unseen.sum(0) - unseen.index_select(0, self.labels.unlabelled).sum(0)
        own = from_given + prior * (unseen_total - unseen_where_given).clamp_(min=0)
        return self.labels.parts.sum(own)

    def to_table(self, given: Tensor, unseen: Tensor, prior: Tensor | None = None) -> Tensor:
        """Fill a table [N, K] with the values of cells [C], and of unseen classes [N] elsewhere."""
        labels = self.labels
        weight = unseen.new_ones(labels.n_classes) if prior is None else prior.to(unseen.dtype)
        table = (unseen.unsqueeze(1) * weight).reshape(-1).index_copy(0, self.code, given)
        return labels.clamp(table.reshape(-1, labels.n_classes), other=0.0)

    def from_table(self, table: Tensor) -> Tensor:
        """Return the values of the cells [C] in a table [N, K]."""
        return table.reshape(-1).index_select(0, self.code)


def _sum_bags(index: Tensor, values: Tensor, bags: tuple[Tensor, Tensor], size: int) -> Tensor:
    """Add the rows of `values` at an index; the pieces of one owner are added in float64."""
    starts, owner = bags
    sums = embedding_bag(index, values, starts, mode="sum").double()
    return sums.new_zeros((size, values.shape[1])).index_add_(0, owner, sums)
