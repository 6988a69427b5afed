"""Labels: CrowdData as tensors on the run's device, with the sums that every method needs."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.nn.functional import embedding_bag

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.data import Codes, CrowdData, Floats

DOUBLE_BELOW = 200_000
"""Below this many labels float64 costs nothing that a person notices; above, float32 pays."""

BLOCK = 262_144
"""Items or labels that are worked on at a time, so that they stay in the processor's cache."""

SMALL_BLOCK = 65_536
"""Items whose sums are made at a time; it can be smaller, for no table of keys is added up."""

LONGEST_BAG = 4096
"""A float32 sum over more rows than this is cut, and its parts are added in float64."""


class Labels:
    """The labels in two orders: by item for E steps, by (worker, given class) for M steps.

    A label's `key` is `worker * K + given`. Both orders are made once, on first use, by
    sorting packed integers, so the order of the input never changes a sum.
    """

    def __init__(
        self,
        data: CrowdData,
        device: torch.device,
        *,
        use_gold: bool = False,
        start: Floats | None = None,
    ) -> None:
        self.data = data
        self.device = device
        self.use_gold = use_gold
        self._start = start
        self.n_labels, self.n_items = data.n_labels, data.n_items
        self.n_workers, self.n_classes = data.n_workers, data.n_classes
        self.dtype = torch.float64 if data.n_labels < DOUBLE_BELOW else torch.float32

    @property
    def observed(self) -> CrowdData:
        """The data without any label that was filled in: items, features, gold, and who is who."""
        return self.data

    @property
    def listable(self) -> bool:
        """Whether `data` can be had; labels of a large completed matrix can only be counted."""
        return True

    @property
    def labels_per_item(self) -> NDArray[np.int64]:
        """How many labels each item has [N], on the host."""
        return self.data.labels_per_item

    @property
    def labels_per_worker(self) -> NDArray[np.int64]:
        """How many labels each worker gave [W], on the host."""
        return self.data.labels_per_worker

    def of(self, data: CrowdData) -> Labels:
        """Other labels on the same device."""
        return type(self)(data, self.device)

    def tensor(self, array: NDArray[np.generic], dtype: torch.dtype | None = None) -> Tensor:
        """Put a numpy array on the device."""
        # A copy: torch warns about read-only memory, and data must never change. Numpy makes it,
        # because it asks for large pages; torch's small ones cost more than the copying.
        kind = None if dtype is None else np.dtype(str(dtype).removeprefix("torch."))
        return torch.from_numpy(np.array(array, kind, order="C")).to(self.device)

    @cached_property
    def _block(self) -> int:
        """How many items are worked on at a time; all of them on a GPU, and where they are few.

        There are never so many blocks that adding up their tables costs more than the labels.
        """
        most = self.n_labels // (self.n_workers * self.n_classes)
        wanted = -(-self.n_items // BLOCK) if self.device.type == "cpu" else 1
        return -(-self.n_items // max(1, min(most, wanted)))

    @cached_property
    def _item_block(self) -> int:
        """How many items get their sums at a time; all of them on a GPU, and where they are few."""
        few = self.device.type != "cpu" or self.n_items <= BLOCK
        return self.n_items if few else min(BLOCK, SMALL_BLOCK)

    @cached_property
    def _by_item(self) -> list[tuple[Tensor, Tensor]]:
        """For each block: keys ordered by item, and where each item's keys start."""
        bits = _bits(self.n_workers * self.n_classes)
        packed = self._sorted(lambda item, key: (item.astype(np.int64) << bits) | key)
        mask = (1 << bits) - 1
        return [
            (self.tensor(packed[own] & mask, torch.int32), self.tensor(_starts(sizes)))
            for own, sizes in self._labels_of_blocks(self._item_block)
        ]

    @cached_property
    def _by_key(self) -> list[tuple[Tensor, Tensor, Tensor | None]]:
        """For each block: places of items ordered by key, where bags start, and whose they are."""
        n_keys, bits = self.n_workers * self.n_classes, _bits(self._block)

        def pack(item: Codes, key: Codes) -> NDArray[np.int64]:
            block, place = np.divmod(item, np.int32(self._block))
            return ((block * np.int64(n_keys) + key) << bits) | place

        packed, mask = self._sorted(pack), (1 << bits) - 1
        blocks = []
        for number, (own, _) in enumerate(self._labels_of_blocks(self._block)):
            sizes = np.bincount((packed[own] >> bits) - number * n_keys, minlength=n_keys)
            blocks.append((self.tensor(packed[own] & mask, torch.int32), *self._bags(sizes)))
        return blocks

    def _sorted(self, pack: Callable[[Codes, Codes], NDArray[np.int64]]) -> NDArray[np.int64]:
        """Sort the labels by one integer each, which `pack` makes of item and key.

        It is called for some labels at a time: large arrays that live for a moment cost more
        than the sorting.
        """
        data, packed = self.data, np.empty(self.n_labels, np.int64)
        for at in range(0, self.n_labels, BLOCK):
            part = slice(at, at + BLOCK)
            key = data.worker[part] * np.int32(self.n_classes) + data.label[part]
            packed[part] = pack(data.item[part], key)
        packed.sort()
        return packed

    def _labels_of_blocks(self, size: int) -> Iterator[tuple[slice, NDArray[np.int64]]]:
        """For each block of items: where its labels are when sorted, and how many an item has."""
        begin = 0
        for at in range(0, self.n_items, size):
            sizes = self.data.labels_per_item[at : at + size]
            end = begin + int(sizes.sum())
            yield slice(begin, end), sizes
            begin = end

    def _bags(self, sizes: NDArray[np.int64]) -> tuple[Tensor, Tensor | None]:
        """Where bags of these sizes start; long ones are cut, and then say whose part they are."""
        parts = np.maximum(1, -(-sizes // LONGEST_BAG))
        if parts.max() == 1 or self.dtype == torch.float64:
            return self.tensor(_starts(sizes)), None
        owner = np.repeat(np.arange(len(sizes)), parts)
        first = np.repeat(np.cumsum(parts) - parts, parts)
        offsets = np.repeat(_starts(sizes), parts) + (np.arange(len(owner)) - first) * LONGEST_BAG
        return self.tensor(offsets.astype(np.int32)), self.tensor(owner)

    @cached_property
    def counts(self) -> Tensor:
        """How many labels each item has [N]."""
        return self.tensor(self.labels_per_item, self.dtype)

    @cached_property
    def votes(self) -> Tensor:
        """How often each item got each class [N, K]."""
        return self.tensor(self.data.votes, self.dtype)

    @cached_property
    def worker_counts(self) -> Tensor:
        """How many labels each worker gave [W]."""
        return self.tensor(self.labels_per_worker, self.dtype)

    @cached_property
    def unlabelled(self) -> Tensor:
        """The items that nobody labelled; they must not shape a class prior."""
        return self.tensor(np.flatnonzero(self.labels_per_item == 0))

    @cached_property
    def gold(self) -> tuple[Tensor, Tensor]:
        """The items with gold, and their classes."""
        known = self.data.has_gold
        codes = np.zeros(self.n_items) if self.data.gold is None else self.data.gold
        return self.tensor(np.flatnonzero(known)), self.tensor(codes[known].astype(np.int64))

    def clamp(self, values: Tensor, *, other: float) -> Tensor:
        """Where gold is used, give all but the gold class of its items the value `other`.

        Nothing happens where gold is not used. With log scores `other` is minus infinity.
        """
        if not self.use_gold:
            return values
        items, classes = self.gold
        kept = values.index_select(0, items).gather(1, classes.unsqueeze(1))
        rows = values.new_full((len(items), values.shape[1]), other)
        rows.scatter_(1, classes.unsqueeze(1), kept if other else torch.ones_like(kept))
        return values.index_copy(0, items, rows)

    def shares(self, votes: Tensor | None = None) -> Tensor:
        """Each item's vote shares [N, K]; uniform where nobody voted, gold where it is used.

        Votes that somebody has already, and needs no more, are turned into the shares.
        """
        total = self.counts.clamp(min=1).unsqueeze(1)
        shares = self.votes / total if votes is None else votes.div_(total)
        shares.index_fill_(0, self.unlabelled, 1 / self.n_classes)
        return self.clamp(shares, other=0.0)

    @cached_property
    def warm(self) -> Tensor | None:
        """The posterior [N, K] of an earlier result to start from, if there is one."""
        if self._start is None:
            return None
        return self.clamp(self.tensor(self._start, self.dtype), other=0.0)

    @property
    def warm_was_used(self) -> bool:
        """Whether a method has asked for the earlier posterior."""
        return vars(self).get("warm") is not None

    def sum_over_items(self, table: Tensor, spent: Tensor | None = None) -> Tensor:
        """Add, for each item, the rows [W * K, C] of its labels' keys -> [N, C].

        `spent` is a table like the answer that nobody needs any more: the answer may take its
        memory, because new memory in every step costs more than the sums.
        """
        bags = (embedding_bag(keys, table, starts, mode="sum") for keys, starts in self._by_item)
        if len(self._by_item) == 1:
            return next(bags)
        if table.requires_grad:
            return torch.cat(list(bags))
        total = table.new_empty((self.n_items, table.shape[1])) if spent is None else spent
        for rows, part in zip(torch.split(total, self._item_block), bags, strict=True):
            rows.copy_(part)
        return total

    def sum_over_keys(self, values: Tensor) -> Tensor:
        """Add, for each (worker, given), the rows [N, C] of the items so labelled -> [W * K, C]."""
        shape = (self.n_workers * self.n_classes, values.shape[1])
        total = torch.zeros(shape, dtype=torch.float64, device=self.device)
        for rows, (places, starts, owner) in zip(
            torch.split(values, self._block), self._by_key, strict=True
        ):
            parts = embedding_bag(places, rows, starts, mode="sum")
            if owner is None and len(self._by_key) == 1:
                return parts
            if owner is None:
                total += parts
            else:
                total.index_add_(0, owner, parts.double())
        return total.to(values.dtype)

    def weighted_votes(self, weight: Tensor) -> Tensor:
        """Add the workers' weights [W] to the classes they gave -> [N, K]."""
        eye = torch.eye(self.n_classes, dtype=self.dtype, device=self.device)
        table = weight.to(self.dtype).reshape(-1, 1, 1) * eye
        return self.sum_over_items(table.reshape(-1, self.n_classes))

    def hits(self, posterior: Tensor) -> Tensor:
        """Sum, for each worker, the probability that their labels are right -> [W]."""
        size = (self.n_workers, self.n_classes, self.n_classes)
        given = self.sum_over_keys(posterior).reshape(size)
        return given.diagonal(dim1=1, dim2=2).sum(1)


def _starts(sizes: NDArray[np.int64]) -> NDArray[np.int32]:
    return (np.cumsum(sizes) - sizes).astype(np.int32)


def _bits(size: int) -> int:
    """How many bits hold the numbers below `size`."""
    return max(1, (size - 1).bit_length())
