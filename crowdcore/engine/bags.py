"""The labels of some items at a time, for losses that need all that was said of an item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.nn.functional import embedding_bag, pad

from crowdcore.engine.train import Triples

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.labels import Labels


@dataclass(frozen=True, kw_only=True, eq=False)
class Bags:
    """What was said of n items, one label after the other; sums leave out what follows the last."""

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
    most: NDArray[np.int64]  # [N + 1]: the labels that so many items can have at most

    @classmethod
    def of(cls, labels: Labels) -> LabelsByItem:
        """Put the labels in order."""
        said = Triples.of(labels)
        sizes = labels.data.labels_per_item.astype(np.int64)
        return cls(
            key=said.worker * labels.n_classes + said.given,
            start=labels.tensor(np.cumsum(sizes) - sizes),
            size=labels.tensor(sizes),
            most=np.concatenate([[0], np.cumsum(np.sort(sizes)[::-1])]),
        )

    def about(self, items: Tensor) -> Bags:
        """Gather the labels of different items [n]; there must be some.

        As many rows are made as n items can have at most, so that a GPU need not be asked how
        many they are.
        """
        ends = self.size.index_select(0, items).cumsum(0)
        starts = pad(ends, (1, 0))
        row = torch.arange(int(self.most[len(items)]), device=ends.device)
        owner = torch.searchsorted(ends, row, right=True)
        first = pad(self.start.index_select(0, items), (0, 1))
        place = row - starts.index_select(0, owner) + first.index_select(0, owner)
        key = self.key.index_select(0, place.clamp(max=len(self.key) - 1))
        return Bags(key=key, starts=starts)
