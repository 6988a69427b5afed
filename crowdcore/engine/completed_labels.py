"""CompletedLabels: observed and filled labels together, counted in blocks instead of listed."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from crowdcore.data import DataError
from crowdcore.engine.labels import DOUBLE_BELOW_LABELS, Labels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.artefacts.completion import Completion
    from crowdcore.data import CrowdData
    from crowdcore.warm_start import WarmStart

MAX_LISTED_LABELS = 40_000_000
"""Labels that are listed for a method that cannot count them: about 5 GB in all."""


class CompletedLabels(Labels):
    """Labels of a completed matrix, with the same sums as any others.

    Observed labels are summed as ever. Filled ones are taken some items at a time as one 0/1
    matrix [items, workers] for each class, so sums over them are matrix products and a hundred
    million cells need no more memory than a few.

    Parameters
    ----------
    completion : Completion
        The observed and the filled labels.
    device : torch.device
        Where the tensors live.
    use_gold : bool
        Whether items with gold are held at their gold class.
    start : Beliefs, optional
        An earlier result that a fit begins from.
    """

    def __init__(
        self,
        completion: Completion,
        device: torch.device,
        *,
        use_gold: bool = False,
        start: WarmStart | None = None,
    ) -> None:
        # Not the parent's: `data`, the list of all labels, is made only when somebody asks.
        observed = completion.data
        self.completion = completion
        self.device = device
        self.use_gold = use_gold
        self._start = start
        self.n_labels = observed.n_labels + completion.n_filled
        self.n_items, self.n_workers = observed.n_items, observed.n_workers
        self.n_classes = observed.n_classes
        self.dtype = torch.float64 if self.n_labels < DOUBLE_BELOW_LABELS else torch.float32
        self._observed = Labels(observed, device, use_gold=use_gold)
        self._observed.dtype = self.dtype
        self.parts = self._observed.parts

    def __getattr__(self, name: str) -> Any:
        if name != "data":
            raise AttributeError(name)
        if not self.listable:
            raise DataError(
                f"The {self.n_labels:,} observed and filled labels are too many for this method, "
                "which must list them all",
                fix="Choose one that counts them, such as mv, ds, ibcc or zc, or complete fewer "
                "workers.",
            )
        self.data: CrowdData = self.completion.listed()
        return self.data

    @property
    def observed(self) -> CrowdData:
        """The data without any label that was filled in."""
        return self.completion.data

    @property
    def listable(self) -> bool:
        """Whether the labels are few enough for a list of all."""
        return self.n_labels <= MAX_LISTED_LABELS

    @cached_property
    def labels_per_item(self) -> NDArray[np.int64]:
        """How many labels each item has [N], on the host."""
        filled: NDArray[np.int64] = self.completion.filled_votes.sum(1)
        return self.observed.labels_per_item + filled

    @cached_property
    def labels_per_worker(self) -> NDArray[np.int64]:
        """How many labels each worker gave, observed and filled [W], on the host."""
        return self.observed.labels_per_worker + self.completion.filled_per_worker

    def with_data(self, data: CrowdData) -> Labels:
        """Return other labels on the same device, none of them filled in."""
        return Labels(data, self.device)

    @cached_property
    def votes(self) -> Tensor:
        """How often each item got each class [N, K]."""
        return self.tensor(self.observed.votes + self.completion.filled_votes, self.dtype)

    @cached_property
    def gold(self) -> tuple[Tensor, Tensor]:
        """The items with gold, and their classes."""
        return self._observed.gold

    def sum_over_items(self, table: Tensor, buffer: Tensor | None = None) -> Tensor:
        """Add, for each item, the rows [W * K, C] of its labels' keys -> [N, C]."""
        observed = self._observed.sum_over_items(table, buffer)
        by_class = table.reshape(self.n_workers, self.n_classes, -1)
        filled = []
        for _, given in self._chunks(table.dtype):
            sums = [cells @ by_class.select(1, code) for code, cells in enumerate(given)]
            filled.append(torch.stack(sums).sum(0))
        return observed + torch.cat(filled)

    def sum_over_keys(self, values: Tensor) -> Tensor:
        """Add, for each (worker, given), the rows [N, C] of the items so labelled -> [W * K, C]."""
        shape = (self.n_workers, self.n_classes, values.shape[1])
        total = torch.zeros(shape, dtype=torch.float64, device=self.device)
        for rows, given in self._chunks(values.dtype):
            chunk = values.narrow(0, rows.start, given.shape[1])
            total += (given.transpose(1, 2) @ chunk).transpose(0, 1)
        return self._observed.sum_over_keys(values) + total.reshape(-1, shape[2]).to(values.dtype)

    def _chunks(self, dtype: torch.dtype) -> Iterator[tuple[slice, Tensor]]:
        """For some items at a time: which class [K, items, workers] was filled in, as 0 and 1."""
        for rows, label in self.completion.blocks():
            filled = self.tensor(label)
            given = torch.empty((self.n_classes, *label.shape), dtype=dtype, device=self.device)
            for code, cells in enumerate(given):
                torch.eq(filled, code, out=cells)  # four times as fast as turning bools to numbers
            yield rows, given
