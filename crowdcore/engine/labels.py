"""Labels: CrowdData as tensors on the run's device, with the sums that every method needs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch.nn.functional import embedding_bag

from crowdcore.engine.bags import bag_starts, cut_long_bags
from crowdcore.parts import Alone, Parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.data import Codes, CrowdData
    from crowdcore.engine.kept_counts import KeptCounts
    from crowdcore.warm_start import WarmStart

DOUBLE_BELOW_LABELS = 200_000
"""Below this many labels float64 costs nothing that a person notices; above, float32 pays."""

ROWS_PER_CHUNK = 65_536
"""Items or labels that are worked on at a time, so that they stay in the processor's cache."""

MAX_JOINT_CHUNKS = 4
"""Up to so many chunks of items get their sums at once, which saves putting them together."""

MIN_LABELS_PER_CHUNK = 4
"""A key with fewer labels per chunk, on average, is added up over all items at once."""


def canonical_order(data: CrowdData) -> NDArray[np.int64]:
    """Return the order of the labels by item, worker and class given [L].

    Whatever is drawn or added up in this order does not depend on the order of the file.

    Parameters
    ----------
    data : CrowdData
        The labels.

    Returns
    -------
    array of int [L]
        Index of each label in the data.
    """
    return np.lexsort((data.label, data.worker, data.item))


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelRows:
    """The labels one by one, in canonical order."""

    item: Tensor  # [L]
    worker: Tensor  # [L]
    given: Tensor  # [L] class codes
    order: NDArray[np.int64]  # [L] index of each row in the data


class KeyChunk(NamedTuple):
    """The labels of some keys on some items, in the order of the keys."""

    items: slice
    ranks: slice  # of the keys
    item_index: Tensor  # of each label, within `items`
    starts: Tensor  # where the bag of a key starts, or a piece of a long one
    owner: Tensor | None  # the key that a piece belongs to, where long bags are cut


class Labels:
    """The labels in two orders: by item for E steps, by (worker, given class) for M steps.

    A label's `key` is `worker * K + given`. Both orders are made once, on first use, by
    sorting packed integers, so the order of the input never changes a sum.

    Parameters
    ----------
    data : CrowdData
        The labels, and the items, workers and classes that they are about.
    device : torch.device
        Where the tensors live.
    use_gold : bool
        Whether items with gold are held at their gold class.
    start : WarmStart, optional
        An earlier result that a fit begins from.
    parts : Parts, optional
        The parts of which these labels are one; everything, unless given.
    """

    kept: KeptCounts | None = None
    """What a run that was broken off had counted last, to go on from."""

    def __init__(
        self,
        data: CrowdData,
        device: torch.device,
        *,
        use_gold: bool = False,
        start: WarmStart | None = None,
        parts: Parts | None = None,
    ) -> None:
        self.data = data
        self.parts = parts or Alone()
        self.device = device
        self.use_gold = use_gold
        self._start = start
        self.n_labels, self.n_items = data.n_labels, data.n_items
        self.n_workers, self.n_classes = data.n_workers, data.n_classes
        self.dtype = torch.float64 if data.n_labels < DOUBLE_BELOW_LABELS else torch.float32

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

    def with_data(self, data: CrowdData) -> Labels:
        """Return other labels on the same device."""
        return type(self)(data, self.device, parts=self.parts)

    def tensor(self, array: NDArray[np.generic], dtype: torch.dtype | None = None) -> Tensor:
        """Put a copy of a numpy array on the device."""
        # A copy: torch warns about read-only memory, and data must never change. Numpy makes it,
        # because it asks for large pages; torch's small ones cost more than the copying.
        kind = None if dtype is None else np.dtype(str(dtype).removeprefix("torch."))
        return torch.from_numpy(np.array(array, kind, order="C")).to(self.device)

    @property
    def n_all_items(self) -> int:
        """How many items there are in all parts; `n_items` are those of this one."""
        return int(self.parts.sum(torch.tensor(self.n_items)))

    @cached_property
    def rows(self) -> LabelRows:
        """The labels one by one, ordered by item, worker and class given."""
        order = canonical_order(self.data)
        item, worker, given = (
            self.tensor(codes[order].astype(np.int64))
            for codes in (self.data.item, self.data.worker, self.data.label)
        )
        return LabelRows(item=item, worker=worker, given=given, order=order)

    @cached_property
    def _items_per_chunk(self) -> int:
        """How many items get their sums at a time; all of them on a GPU, and where they are few."""
        joint = self.device.type != "cpu" or self.n_items <= MAX_JOINT_CHUNKS * ROWS_PER_CHUNK
        return self.n_items if joint else ROWS_PER_CHUNK

    @cached_property
    def _by_item(self) -> list[tuple[Tensor, Tensor]]:
        """For each chunk of items: keys ordered by item, and where each item's keys start."""
        bits = _bits(self.n_workers * self.n_classes)
        packed = self._sorted(lambda item, key: (item.astype(np.int64) << bits) | key)
        cuts = range(self._items_per_chunk, self.n_items, self._items_per_chunk)
        sizes = np.split(self.data.labels_per_item, cuts)
        keys = torch.split(self._last_bits(packed, bits), [int(chunk.sum()) for chunk in sizes])
        return [
            (chunk, self.tensor(bag_starts(per_item), torch.int32))
            for chunk, per_item in zip(keys, sizes, strict=True)
        ]

    @cached_property
    def _by_key(self) -> tuple[list[KeyChunk], Tensor | None]:
        """The labels in the order of keys, and the keys' ranks there; None where it is their own.

        Common keys go from chunk to chunk of items; rare ones come last, on all items at once, for
        a bag costs as much as a few labels.
        """
        n_keys = self.n_workers * self.n_classes
        n_chunks = -(-self.n_items // ROWS_PER_CHUNK) if self.device.type == "cpu" else 1
        size = ROWS_PER_CHUNK if n_chunks > 1 else self.n_items
        rank, n_common = self._ranks(MIN_LABELS_PER_CHUNK * n_chunks if n_chunks > 1 else 0)
        bits = _bits(self.n_items)

        def pack(item: Codes, key: Codes) -> NDArray[np.int64]:
            key_rank = rank[key]
            chunk = np.where(key_rank < n_common, item // np.int32(size), n_chunks)
            return ((chunk * np.int64(n_keys) + key_rank) << bits) | item

        packed, bags = self._sorted(pack), []
        number = np.arange(n_chunks + (n_common < n_keys) + 1)
        bounds = np.searchsorted(packed, (number * n_keys) << bits).tolist()
        for chunk, (begin, end) in enumerate(pairwise(bounds)):
            ranks = slice(0, n_common) if chunk < n_chunks else slice(n_common, n_keys)
            key_rank = (packed[begin:end] >> bits) - (chunk * n_keys + ranks.start)
            bags.append((ranks, np.bincount(key_rank, minlength=ranks.stop - ranks.start)))
        item_index = torch.split(self._last_bits(packed, bits), np.diff(bounds).tolist())
        chunks = []
        for chunk, (index, (ranks, sizes)) in enumerate(zip(item_index, bags, strict=True)):
            first, n_rows = (chunk * size, size) if chunk < n_chunks else (0, self.n_items)
            items = slice(first, min(first + n_rows, self.n_items))
            if len(sizes):
                chunks.append(KeyChunk(items, ranks, index.sub_(first), *self._bags(sizes)))
        return chunks, self.tensor(rank) if n_chunks > 1 else None

    def _ranks(self, min_labels: int) -> tuple[NDArray[np.int64], int]:
        """The ranks of the keys, common ones first; and how many have so many labels at least."""
        count = np.zeros(self.n_workers * self.n_classes, np.int64)
        if min_labels:
            for _, key in self._keys():
                np.add.at(count, key.astype(np.intp), 1)
        rank = np.empty_like(count)
        rank[np.argsort(count < min_labels, kind="stable")] = np.arange(len(count))
        return rank, int((count >= min_labels).sum())

    def _keys(self) -> Iterator[tuple[slice, Codes]]:
        """The labels' keys, for some labels at a time.

        Large arrays that live for a moment cost more than what is done with them.
        """
        for begin in range(0, self.n_labels, ROWS_PER_CHUNK):
            rows = slice(begin, begin + ROWS_PER_CHUNK)
            yield rows, self.data.worker[rows] * np.int32(self.n_classes) + self.data.label[rows]

    def _sorted(self, pack: Callable[[Codes, Codes], NDArray[np.int64]]) -> NDArray[np.int64]:
        """Sort the labels by one integer each, which `pack` makes of item and key."""
        packed = np.empty(self.n_labels, np.int64)
        for rows, key in self._keys():
            packed[rows] = pack(self.data.item[rows], key)
        packed.sort()
        return packed

    def _last_bits(self, packed: NDArray[np.int64], bits: int) -> Tensor:
        """What stands in the last bits of packed integers, which are needed no more."""
        packed &= (1 << bits) - 1
        return self.tensor(packed, torch.int32)

    def _bags(self, sizes: NDArray[np.int64]) -> tuple[Tensor, Tensor | None]:
        """Where bags of these sizes start; long ones are cut in float32, and have an owner then."""
        if self.dtype == torch.float64:
            return self.tensor(bag_starts(sizes), torch.int32), None
        starts, owner = cut_long_bags(sizes)
        any_cut = len(owner) > len(sizes)
        return self.tensor(starts, torch.int32), self.tensor(owner) if any_cut else None

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
        has_gold = self.data.has_gold
        codes = np.zeros(self.n_items) if self.data.gold is None else self.data.gold
        return self.tensor(np.flatnonzero(has_gold)), self.tensor(codes[has_gold].astype(np.int64))

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
    def warm_start(self) -> Tensor | None:
        """The posterior [N, K] of an earlier result to start from, if there is one."""
        if self._start is None:
            return None
        return self.clamp(
            self.tensor(self._start.posterior_for(self.observed), self.dtype), other=0.0
        )

    @property
    def warm_start_was_used(self) -> bool:
        """Whether a method has asked for the earlier posterior."""
        return vars(self).get("warm_start") is not None

    def earlier_item_scores(self, name: str, *, default: float) -> Tensor:
        """A score of the items [N] in the earlier result; the default where it has none."""
        if self._start is None:
            return torch.full_like(self.counts, default)
        scores = self._start.item_scores_for(name, self.observed, default=default)
        return self.tensor(scores, self.dtype)

    def earlier_worker_scores(self, name: str, *, default: float) -> Tensor:
        """A score of the workers [W] in the earlier result; the default where it has none."""
        if self._start is None:
            return torch.full_like(self.worker_counts, default)
        scores = self._start.worker_scores_for(name, self.observed, default=default)
        return self.tensor(scores, self.dtype)

    def blocks(
        self, rows: Tensor, generator: torch.Generator
    ) -> Iterator[tuple[Tensor, torch.Generator]]:
        """Cut a table of items [N, ...] into blocks that draw by themselves; here it is one."""
        yield rows, generator

    def sum_over_items(self, table: Tensor, buffer: Tensor | None = None) -> Tensor:
        """Add, for each item, the rows [W * K, C] of its labels' keys -> [N, C].

        `buffer` is a table like the sums that nobody needs any more: they may take its memory,
        because new memory in every step costs more than the sums.
        """
        bags = (embedding_bag(keys, table, starts, mode="sum") for keys, starts in self._by_item)
        if len(self._by_item) == 1:
            return next(bags)
        if table.requires_grad:
            return torch.cat(list(bags))
        total = table.new_empty((self.n_items, table.shape[1])) if buffer is None else buffer
        for rows, sums in zip(torch.split(total, self._items_per_chunk), bags, strict=True):
            rows.copy_(sums)
        return total

    def sum_over_keys(self, values: Tensor) -> Tensor:
        """Add, for each (worker, given), the rows [N, C] of the items so labelled -> [W * K, C].

        The items are those of all parts.
        """
        return self.parts.sum(self._own_sum_over_keys(values)).to(values.dtype)

    def _own_sum_over_keys(self, values: Tensor) -> Tensor:
        """The same over the items of this part."""
        chunks, rank = self._by_key
        shape = (self.n_workers * self.n_classes, values.shape[1])
        total = torch.zeros(shape, dtype=torch.float64, device=self.device)
        for items, ranks, item_index, starts, owner in chunks:
            sums = embedding_bag(item_index, _narrow(values, items), starts, mode="sum")
            if rank is None and owner is None:
                return sums
            if owner is None:
                _narrow(total, ranks).add_(sums)
            else:
                _narrow(total, ranks).index_add_(0, owner, sums.double())
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


def _narrow(table: Tensor, rows: slice) -> Tensor:
    return table.narrow(0, rows.start, rows.stop - rows.start)


def _bits(size: int) -> int:
    """How many bits hold the numbers below `size`."""
    return max(1, (size - 1).bit_length())
