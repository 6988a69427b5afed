"""Labels: CrowdData as tensors on the run's device, with the sums that every method needs."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch.nn.functional import embedding_bag

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.data import Codes, CrowdData
    from crowdcore.result import Beliefs

DOUBLE_BELOW = 200_000
"""Below this many labels float64 costs nothing that a person notices; above, float32 pays."""

BLOCK = 65_536
"""Items or labels that are worked on at a time, so that they stay in the processor's cache."""

FEW_BLOCKS = 4
"""Up to so many blocks of items get their sums at once, which saves putting them together."""

LABELS_PER_BAG = 4
"""A key with fewer labels a block, on average, is added up over all items at once."""

LONGEST_BAG = 4096
"""A float32 sum over more rows than this is cut, and its parts are added in float64."""


class KeyBlock(NamedTuple):
    """The labels of some keys on some items, in the order of the keys."""

    items: slice
    ranks: slice  # of the keys
    places: Tensor  # which of the items
    starts: Tensor  # where the bag of a key starts, or a part of a long one
    owner: Tensor | None  # which of the keys a part belongs to, where long ones are cut


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
        start: Beliefs | None = None,
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
    def _item_block(self) -> int:
        """How many items get their sums at a time; all of them on a GPU, and where they are few."""
        few = self.device.type != "cpu" or self.n_items <= FEW_BLOCKS * BLOCK
        return self.n_items if few else BLOCK

    @cached_property
    def _by_item(self) -> list[tuple[Tensor, Tensor]]:
        """For each block: keys ordered by item, and where each item's keys start."""
        bits = _bits(self.n_workers * self.n_classes)
        packed = self._sorted(lambda item, key: (item.astype(np.int64) << bits) | key)
        cuts = range(self._item_block, self.n_items, self._item_block)
        sizes = np.split(self.data.labels_per_item, cuts)
        keys = torch.split(self._last(packed, bits), [int(one.sum()) for one in sizes])
        return [(own, self.tensor(_starts(one))) for own, one in zip(keys, sizes, strict=True)]

    @cached_property
    def _by_key(self) -> tuple[list[KeyBlock], Tensor | None]:
        """The labels in the order of keys, and the keys' ranks there; None where it is their own.

        Common keys go from block to block of items; rare ones come last, on all items at once, for
        a bag costs as much as a few labels.
        """
        n_keys = self.n_workers * self.n_classes
        n_blocks = -(-self.n_items // BLOCK) if self.device.type == "cpu" else 1
        size = BLOCK if n_blocks > 1 else self.n_items
        rank, n_common = self._ranks(LABELS_PER_BAG * n_blocks if n_blocks > 1 else 0)
        bits = _bits(self.n_items)

        def pack(item: Codes, key: Codes) -> NDArray[np.int64]:
            place = rank[key]
            block = np.where(place < n_common, item // np.int32(size), n_blocks)
            return ((block * np.int64(n_keys) + place) << bits) | item

        packed, bags = self._sorted(pack), []
        number = np.arange(n_blocks + (n_common < n_keys) + 1)
        bounds = np.searchsorted(packed, (number * n_keys) << bits).tolist()
        for block, (begin, end) in enumerate(pairwise(bounds)):
            ranks = slice(0, n_common) if block < n_blocks else slice(n_common, n_keys)
            place = (packed[begin:end] >> bits) - (block * n_keys + ranks.start)
            bags.append((ranks, np.bincount(place, minlength=ranks.stop - ranks.start)))
        places = torch.split(self._last(packed, bits), np.diff(bounds).tolist())
        blocks = []
        for block, (own, (ranks, sizes)) in enumerate(zip(places, bags, strict=True)):
            first, n_rows = (block * size, size) if block < n_blocks else (0, self.n_items)
            rows = slice(first, min(first + n_rows, self.n_items))
            if len(sizes):
                blocks.append(KeyBlock(rows, ranks, own.sub_(first), *self._bags(sizes)))
        return blocks, self.tensor(rank) if n_blocks > 1 else None

    def _ranks(self, fewest: int) -> tuple[NDArray[np.int64], int]:
        """The ranks of the keys, common ones first; and how many have so many labels at least."""
        count = np.zeros(self.n_workers * self.n_classes, np.int64)
        if fewest:
            for _, key in self._keys():
                np.add.at(count, key.astype(np.intp), 1)
        rank = np.empty_like(count)
        rank[np.argsort(count < fewest, kind="stable")] = np.arange(len(count))
        return rank, int((count >= fewest).sum())

    def _keys(self) -> Iterator[tuple[slice, Codes]]:
        """The labels' keys, for some labels at a time.

        Large arrays that live for a moment cost more than what is done with them.
        """
        for at in range(0, self.n_labels, BLOCK):
            part = slice(at, at + BLOCK)
            yield part, self.data.worker[part] * np.int32(self.n_classes) + self.data.label[part]

    def _sorted(self, pack: Callable[[Codes, Codes], NDArray[np.int64]]) -> NDArray[np.int64]:
        """Sort the labels by one integer each, which `pack` makes of item and key."""
        packed = np.empty(self.n_labels, np.int64)
        for part, key in self._keys():
            packed[part] = pack(self.data.item[part], key)
        packed.sort()
        return packed

    def _last(self, packed: NDArray[np.int64], bits: int) -> Tensor:
        """What stands in the last bits of packed integers, which are needed no more."""
        packed &= (1 << bits) - 1
        return self.tensor(packed, torch.int32)

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
        return self.clamp(self.tensor(self._start.about(self.observed), self.dtype), other=0.0)

    @property
    def warm_was_used(self) -> bool:
        """Whether a method has asked for the earlier posterior."""
        return vars(self).get("warm") is not None

    def earlier_of_items(self, name: str, *, otherwise: float) -> Tensor:
        """A score of the items [N] in the earlier result, and another number where it has none."""
        if self._start is None:
            return torch.full_like(self.counts, otherwise)
        return self.tensor(
            self._start.of_items(name, self.observed, otherwise=otherwise), self.dtype
        )

    def earlier_of_workers(self, name: str, *, otherwise: float) -> Tensor:
        """As `earlier_of_items`, of the workers [W]."""
        if self._start is None:
            return torch.full_like(self.worker_counts, otherwise)
        return self.tensor(
            self._start.of_workers(name, self.observed, otherwise=otherwise), self.dtype
        )

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
        blocks, rank = self._by_key
        shape = (self.n_workers * self.n_classes, values.shape[1])
        total = torch.zeros(shape, dtype=torch.float64, device=self.device)
        for items, ranks, places, starts, owner in blocks:
            parts = embedding_bag(places, _rows(values, items), starts, mode="sum")
            if rank is None and owner is None:
                return parts
            if owner is None:
                _rows(total, ranks).add_(parts)
            else:
                _rows(total, ranks).index_add_(0, owner, parts.double())
        total = total.to(values.dtype)
        return total if rank is None else total.index_select(0, rank)

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


def _rows(table: Tensor, part: slice) -> Tensor:
    return table.narrow(0, part.start, part.stop - part.start)


def _starts(sizes: NDArray[np.int64]) -> NDArray[np.int32]:
    return (np.cumsum(sizes) - sizes).astype(np.int32)


def _bits(size: int) -> int:
    """How many bits hold the numbers below `size`."""
    return max(1, (size - 1).bit_length())
