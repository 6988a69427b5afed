"""Ratings: numbers that workers gave to items, as tensors, with the sums that methods need."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from torch.nn.functional import embedding_bag

from crowdcore.distributions import Z_95
from crowdcore.engine.bags import bag_starts
from crowdcore.errors import DataError
from crowdcore.parts import Alone, Parts
from crowdcore.results.numbers import NumberEstimate

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.data import CrowdData, Floats
    from crowdcore.warm_start import WarmStart

Scale = Literal["linear", "log"]


@dataclass(frozen=True, kw_only=True, eq=False)
class RatingRows:
    """The ratings one by one, ordered by item and worker."""

    item: Tensor  # [L]
    worker: Tensor  # [L]
    value: Tensor  # [L]
    order: NDArray[np.int64]  # [L] index of each row in the data


class Ratings:
    """Ratings in two orders, by item and by worker, standardised over all of them.

    Methods work on `values`, whose mean is 0 and whose standard deviation is 1, so that nothing
    depends on the unit or the zero of the scale; `estimate` brings truths back. All sums are in
    float64: a rating is one number, so there is little to save.

    Parameters
    ----------
    data : CrowdData
        The ratings, and the items and workers that they are about.
    device : torch.device
        Where the tensors live.
    use_gold : bool
        Whether a method may learn from the gold.
    start : WarmStart, optional
        Ignored: no method for ratings begins from an earlier result.
    scale : {"linear", "log"}
        Whether to work on the ratings as they are, or on their logarithms.
    parts : Parts, optional
        The parts of which these ratings are one; everything, unless given. Sums by worker go over
        the ratings of all parts.
    """

    warm_start_was_used = False
    dtype = torch.float64

    def __init__(
        self,
        data: CrowdData,
        device: torch.device,
        *,
        use_gold: bool = False,
        start: WarmStart | None = None,
        scale: Scale = "linear",
        parts: Parts | None = None,
    ) -> None:
        del start
        self.parts = parts or Alone()
        self.data = data
        self.device = device
        self.use_gold = use_gold
        self.scale = scale
        self.n_labels, self.n_items, self.n_workers = data.n_labels, data.n_items, data.n_workers
        given = data.label
        if scale == "log":
            least = float(self.parts.max(torch.tensor(-data.label.min(initial=np.inf)))) * -1
            if least <= 0:
                raise DataError(
                    f"Logarithms need ratings above 0; the least is {least:g}",
                    fix='Set scale to "linear", or correct these ratings.',
                )
            given = np.log(data.label)
        self.centre, self.unit = self._moments(given)
        if self.unit <= 1e-12 * max(1.0, abs(self.centre)):
            self.unit = 0.0  # all ratings are the same
        self._standard = (given - self.centre) / (self.unit or 1.0)
        own = self.tensor(data.labels_per_worker, self.dtype)
        self.worker_counts = self.parts.sum(own)  # [W] how many ratings each worker gave
        self._worker_sums: tuple[Tensor, Tensor] | None = None

    def _moments(self, given: NDArray[np.float64]) -> tuple[float, float]:
        """The mean and the standard deviation over all parts."""
        if self.parts.n == 1:
            return float(given.mean()), float(given.std())
        total, n = self.parts.sum(torch.tensor([given.sum(), len(given)], dtype=torch.float64))
        self.n_labels = int(n)
        centre = float(total / n)
        squares = self.parts.sum(torch.tensor(((given - centre) ** 2).sum(), dtype=torch.float64))
        return centre, float((squares / n).sqrt())

    @property
    def labels_per_item(self) -> NDArray[np.int64]:
        """How many ratings each item has [N], on the host."""
        return self.data.labels_per_item

    @property
    def is_constant(self) -> bool:
        """Whether all ratings are the same number."""
        return self.unit == 0

    def standardise(self, numbers: Floats) -> Tensor:
        """Bring numbers on the scale of the ratings [n] to that of `values`."""
        values = np.log(numbers) if self.scale == "log" else numbers
        return self.tensor((values - self.centre) / (self.unit or 1.0), self.dtype)

    @property
    def standard_by_item(self) -> Floats:
        """The standardised ratings [L] on the host, in the order of `rows`."""
        return self._standard[self._by_item_order]

    def host_means(self) -> tuple[Floats, float]:
        """Mean standardised ratings [N] on the host, and the variance of ratings around them."""
        n = self.data.labels_per_item
        means = np.bincount(self.data.item, self._standard, self.n_items) / np.maximum(n, 1)
        freedom = self.n_labels - int((n > 0).sum())
        squares = float(((self._standard - means[self.data.item]) ** 2).sum())
        return means, squares / max(freedom, 1)

    def tensor(self, array: NDArray[np.generic], dtype: torch.dtype | None = None) -> Tensor:
        """Put a copy of a numpy array on the device."""
        kind = None if dtype is None else np.dtype(str(dtype).removeprefix("torch."))
        return torch.from_numpy(np.array(array, kind, order="C")).to(self.device)

    @cached_property
    def rows(self) -> RatingRows:
        """The ratings one by one, ordered by item and worker."""
        order = self._by_item_order
        item, worker = (
            self.tensor(codes[order].astype(np.int64))
            for codes in (self.data.item, self.data.worker)
        )
        return RatingRows(item=item, worker=worker, value=self.values, order=order)

    @cached_property
    def counts(self) -> Tensor:
        """How many ratings each item has [N]."""
        return self.tensor(self.data.labels_per_item, self.dtype)

    @cached_property
    def values(self) -> Tensor:
        """The standardised ratings [L], in the order of the items."""
        return self.tensor(self.standard_by_item)

    @cached_property
    def mean(self) -> Tensor:
        """The mean standardised rating of each item [N]; 0, the mean of all, without any."""
        return self.sum_by_item(self.values) / self.counts.clamp(min=1)

    @property
    def worker_sums(self) -> tuple[Tensor, Tensor]:
        """Sums of each worker's standardised ratings, and of their squares [W]."""
        if self._worker_sums is None:
            # Not a cached property: its lock is shared by parts that are threads.
            values = self.values
            self._worker_sums = self.sum_by_worker(values), self.sum_by_worker(values**2)
        return self._worker_sums

    def sum_over_items(self, *columns: Tensor) -> tuple[Tensor, ...]:
        """Add, for each item, its raters' numbers [W] -> [N] for each column."""
        bags = (self._worker_index, self._item_starts, self._ones)
        return tuple(_bag_sums(column, *bags) for column in columns)

    def weigh_over_items(self, column: Tensor) -> Tensor:
        """Add, for each item, its ratings times their raters' numbers [W] -> [N]."""
        return _bag_sums(column, self._worker_index, self._item_starts, self.values)

    def sum_over_workers(self, *columns: Tensor) -> tuple[Tensor, ...]:
        """Add, for each worker, the numbers [N] of the items that they rated -> [W] each."""
        bags = (self._item_index, self._worker_starts, self._ones)
        return tuple(self.parts.sum(_bag_sums(column, *bags)) for column in columns)

    def weigh_over_workers(self, column: Tensor) -> Tensor:
        """Add, for each worker, their ratings times the numbers [N] of the items -> [W]."""
        return self.parts.sum(
            _bag_sums(column, self._item_index, self._worker_starts, self._values_by_worker)
        )

    def of_item(self, values: Tensor) -> Tensor:
        """Give each rating the number [N] of its item -> [L]."""
        return values.index_select(0, self.rows.item)

    def of_worker(self, values: Tensor) -> Tensor:
        """Give each rating the number [W] of its worker -> [L]."""
        return values.index_select(0, self.rows.worker)

    def sum_by_item(self, values: Tensor) -> Tensor:
        """Add numbers [L], one per row, for each item -> [N]."""
        return torch.zeros(self.n_items, dtype=self.dtype, device=self.device).index_add_(
            0, self.rows.item, values
        )

    def sum_by_worker(self, values: Tensor) -> Tensor:
        """Add numbers [L], one per row, for each worker -> [W]."""
        own = torch.zeros(self.n_workers, dtype=self.dtype, device=self.device)
        return self.parts.sum(own.index_add_(0, self.rows.worker, values))

    def estimate(
        self, truth: Tensor, spread: Tensor, *, quantile: Tensor | float = Z_95, **fields: Any
    ) -> NumberEstimate:
        """Bring standardised truths back to the scale of the ratings.

        Parameters
        ----------
        truth, spread
            Standardised truths and their standard errors [N]; NaN where nothing is known.
        quantile
            How many spreads lie on either side of a 95 % interval.
        **fields
            What else the estimate has.

        Returns
        -------
        NumberEstimate
            On the scale of the ratings; of logarithms the truth is a median.
        """
        truth, spread = self.centre + self.unit * truth, self.unit * spread
        low, high = truth - quantile * spread, truth + quantile * spread
        if self.scale == "log":
            truth, low, high = (torch.exp(end) for end in (truth, low, high))
            spread = truth * spread
            fields["notes"] = (
                *fields.get("notes", ()),
                "It worked on logarithms: a truth is the middle of what the ratings say in ratios, "
                "not their mean; what it tells of workers is on logarithms too.",
            )
        return NumberEstimate(truth=truth, spread=spread, low=low, high=high, **fields)

    @cached_property
    def _by_item_order(self) -> NDArray[np.int64]:
        packed = self.data.item.astype(np.int64) * self.n_workers + self.data.worker
        return np.argsort(packed, kind="stable")

    @cached_property
    def _by_worker_order(self) -> NDArray[np.int64]:
        packed = self.data.worker.astype(np.int64) * self.n_items + self.data.item
        return np.argsort(packed, kind="stable")

    @cached_property
    def _worker_index(self) -> Tensor:
        return self.tensor(self.data.worker[self._by_item_order], torch.int32)

    @cached_property
    def _item_index(self) -> Tensor:
        return self.tensor(self.data.item[self._by_worker_order], torch.int32)

    @cached_property
    def _values_by_worker(self) -> Tensor:
        return self.tensor(self._standard[self._by_worker_order])

    @cached_property
    def _ones(self) -> Tensor:
        return torch.ones(self.data.n_labels, dtype=self.dtype, device=self.device)

    @cached_property
    def _item_starts(self) -> Tensor:
        return self.tensor(bag_starts(self.data.labels_per_item), torch.int32)

    @cached_property
    def _worker_starts(self) -> Tensor:
        return self.tensor(bag_starts(self.data.labels_per_worker), torch.int32)


def _bag_sums(column: Tensor, index: Tensor, starts: Tensor, weight: Tensor) -> Tensor:
    """Add weighted numbers in bags; one weighted column at a time is ten times faster."""
    sums = embedding_bag(index, column.unsqueeze(1), starts, mode="sum", per_sample_weights=weight)
    return sums.squeeze(1)
