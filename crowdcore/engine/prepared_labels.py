"""PreparedLabels: the labels of some buckets of a prepared folder, mapped from the disk.

Both orders lie on the disk as they are used, so nothing is sorted, and the system may take the
memory back that they occupy: a fit holds a few tables of items × classes, and no labels.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch.nn.functional import embedding_bag

from crowdcore.engine.bags import bag_starts, cut_long_bags
from crowdcore.engine.labels import DOUBLE_BELOW_LABELS, ROWS_PER_CHUNK, Labels
from crowdcore.prepared.layout import BY_ITEM, BY_KEY, KEY_SIZES, KEYS
from crowdcore.prepared.part import PreparedPart

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.parts import Parts


class KeyBags(NamedTuple):
    """The labels of a bucket in the order of the keys."""

    items: slice
    item_index: Tensor  # of each label, within the bucket
    starts: Tensor  # of the bag of each key, or of a piece of a long one
    keys: Tensor  # the key of each bag


class PreparedLabels(Labels):
    """Labels whose two orders are read from the disk, a bucket at a time.

    Parameters
    ----------
    data : PreparedPart
        The buckets of this part.
    device : torch.device
        Where the tensors live; on a GPU the orders are copied there once.
    use_gold : bool
        Whether items with gold are held at their gold class.
    parts : Parts, optional
        The parts of which this is one.
    """

    data: PreparedPart

    def __init__(
        self,
        data: PreparedPart,
        device: torch.device,
        *,
        use_gold: bool = False,
        parts: Parts | None = None,
    ) -> None:
        super().__init__(data, device, use_gold=use_gold, parts=parts)
        manifest = data.folder.manifest
        self.n_labels = manifest.n_labels
        self.dtype = torch.float64 if self.n_labels < DOUBLE_BELOW_LABELS else torch.float32
        self._n_draws = 0

    @property
    def labels_per_worker(self) -> NDArray[np.int64]:
        """How many labels each worker gave [W], in all parts."""
        return self.data.folder.labels_per_worker

    @cached_property
    def votes(self) -> Tensor:
        """How often each item got each class [N, K]."""
        return self.weighted_votes(torch.ones_like(self.worker_counts))

    def blocks(
        self, rows: Tensor, generator: torch.Generator
    ) -> Iterator[tuple[Tensor, torch.Generator]]:
        """Cut a table of items by bucket, each with draws of its own: by seed, bucket and step."""
        self._n_draws += 1
        starts = self.data.bucket_starts
        for number, first, end in zip(self.data.buckets, starts[:-1], starts[1:], strict=True):
            mixed = np.random.SeedSequence((generator.initial_seed(), number, self._n_draws))
            seed = int(mixed.generate_state(1, np.uint64)[0] >> np.uint64(1))
            draws = torch.Generator(device=generator.device).manual_seed(seed)
            yield rows[first:end], draws

    @cached_property
    def _item_chunks(self) -> list[tuple[slice, Tensor, Tensor]]:
        """Some items at a time: which, their keys, and where each item's begin."""
        chunks, folder = [], self.data.folder
        sizes, starts = self.data.labels_per_item, self.data.bucket_starts
        for number, first, end in zip(self.data.buckets, starts[:-1], starts[1:], strict=True):
            keys = self._mapped(folder.bucket(number) / BY_ITEM)
            begin = 0
            for at in range(int(first), int(end), ROWS_PER_CHUNK):
                items = slice(at, min(at + ROWS_PER_CHUNK, int(end)))
                own = sizes[items]
                n_labels = int(own.sum())
                bags = self.tensor(bag_starts(own), torch.int32)
                chunks.append((items, keys[begin : begin + n_labels], bags))
                begin += n_labels
        return chunks

    @cached_property
    def _key_bags(self) -> list[KeyBags]:
        bags, starts = [], self.data.bucket_starts
        for number, first, end in zip(self.data.buckets, starts[:-1], starts[1:], strict=True):
            folder = self.data.folder.bucket(number)
            keys, sizes = np.load(folder / KEYS), np.load(folder / KEY_SIZES).astype(np.int64)
            offsets, owner = cut_long_bags(sizes)
            bags.append(
                KeyBags(
                    items=slice(int(first), int(end)),
                    item_index=self._mapped(folder / BY_KEY),
                    starts=self.tensor(offsets, torch.int32),
                    keys=self.tensor(keys[owner], torch.int64),
                )
            )
        return bags

    def _mapped(self, path: Any) -> Tensor:
        # Copy on write: nobody writes, and torch warns of memory that cannot be written to.
        return torch.from_numpy(np.load(path, mmap_mode="c")).to(self.device)

    def sum_over_items(self, table: Tensor, buffer: Tensor | None = None) -> Tensor:
        """Add, for each item, the rows [W * K, C] of its labels' keys -> [N, C]."""
        shape = (self.n_items, table.shape[1])
        fits = buffer is not None and buffer.shape == shape and buffer.dtype == table.dtype
        total = buffer if fits else table.new_empty(shape)
        assert total is not None
        for items, keys, starts in self._item_chunks:
            total[items] = embedding_bag(keys, table, starts, mode="sum")
        return total

    def _own_sum_over_keys(self, values: Tensor) -> Tensor:
        """Add, for each (worker, given), the rows of the items so labelled, in float64."""
        shape = (self.n_workers * self.n_classes, values.shape[1])
        total = torch.zeros(shape, dtype=torch.float64, device=self.device)
        for bags in self._key_bags:
            sums = embedding_bag(bags.item_index, values[bags.items], bags.starts, mode="sum")
            total.index_add_(0, bags.keys, sums.double())
        return total
