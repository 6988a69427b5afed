"""The labels of some items at a time, for losses that need all labels of an item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.nn.functional import embedding_bag, pad

from crowdcore.engine.bags import bag_starts

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.engine.labels import Labels


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelBags:
    """The labels of n items, one after the other; sums leave out what follows the last."""

    key: Tensor  # [m] worker * K + given
    starts: Tensor  # [n + 1] where the labels of an item begin; the last is where nobody's do

    def sums(self, table: Tensor) -> Tensor:
        """Add, for each item, the rows [W * K, C] of its labels' keys -> [n, C]."""
        total = embedding_bag(self.key, table, self.starts, mode="sum")
        return total.narrow(0, 0, len(self.starts) - 1)


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelsByItem:
    """The labels in the order of the items, so that those of any items can be gathered."""

    key: Tensor  # [L]
    start: Tensor  # [N]
    size: Tensor  # [N]
    max_labels: NDArray[np.int64]  # [N + 1] labels that so many items can have at most

    @classmethod
    def from_labels(cls, labels: Labels) -> LabelsByItem:
        """Put the labels in order."""
        observed = labels.rows
        sizes = labels.data.labels_per_item.astype(np.int64)
        return cls(
            key=observed.worker * labels.n_classes + observed.given,
            start=labels.tensor(bag_starts(sizes)),
            size=labels.tensor(sizes),
            max_labels=np.concatenate([[0], np.cumsum(np.sort(sizes)[::-1])]),
        )

    def gather(self, items: Tensor) -> LabelBags:
        """Gather the labels of different items [n]; there must be some.

        As many rows are made as n items can have at most, so that a GPU need not be asked how
        many they are.
        """
        ends = self.size.index_select(0, items).cumsum(0)
        starts = pad(ends, (1, 0))
        row = torch.arange(int(self.max_labels[len(items)]), device=ends.device)
        owner = torch.searchsorted(ends, row, right=True)
        first = pad(self.start.index_select(0, items), (0, 1))
        index = row - starts.index_select(0, owner) + first.index_select(0, owner)
        key = self.key.index_select(0, index.clamp(max=len(self.key) - 1))
        return LabelBags(key=key, starts=starts)
