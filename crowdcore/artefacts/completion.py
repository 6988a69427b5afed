"""Completion: labels that nobody gave, filled in with a probability, beside those that were given.

Observed labels stay as they are and are not repeated here, so that what was seen and what was
filled in can always be told apart. Cells are one or two bytes; they are counted, not listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from crowdcore.artefacts.artefact import NOT_STORED, Artefact
from crowdcore.data import UNKNOWN, CrowdData, DataError
from crowdcore.distributions import as_array
from crowdcore.errors import ResultError

if TYPE_CHECKING:
    from crowdcore.results.result import Result

MAX_CELLS = 2_000_000_000
"""Most items × workers that are completed: 6 GB of cells and probabilities."""

VALUES_PER_CHUNK = 8_000_000
"""Cells × classes that are worked on together."""

COUNTED_VALUES_PER_CHUNK = 500_000
"""Cells × classes that are counted together: they stay in the processor's cache."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Filled:
    """What a completing method returns, as tensors or arrays.

    Parameters
    ----------
    label
        Class codes [N, W], UNKNOWN where a cell stays empty; observed cells are ignored.
    probability
        How sure the method is of a filled cell [N, W].
    artefacts
        What else it leaves.
    notes
        Sentences that a reader of the result must see.
    """

    label: Any  # [N, W]
    probability: Any  # [N, W]
    artefacts: Sequence[Artefact] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Completion(Artefact):
    """The observed labels, and those that were filled in."""

    name: ClassVar[str] = "completion"
    data: CrowdData  # as observed
    label: NDArray[Any]  # [N, W] class codes; UNKNOWN where nothing was filled in
    probability: NDArray[np.float16]  # [N, W]; 0 where nothing was filled in
    facts: dict[str, Any]  # method, title, params, seconds, notes: JSON
    artefacts: Sequence[Artefact] = field(default=(), metadata=NOT_STORED)
    """What the method left besides; a result keeps each of them beside the completion."""

    @classmethod
    def from_filled(cls, data: CrowdData, filled: Filled, facts: Mapping[str, Any]) -> Self:
        """Hold what a method filled in to its promises.

        Observed cells stay empty. So does whoever has no label: nothing is known of them, and
        they may have been excluded.

        Parameters
        ----------
        data : CrowdData
            The labels as observed.
        filled : Filled
            What the method returned.
        facts : mapping
            How it came about: method, title, params, seed, seconds.

        Raises
        ------
        ResultError
            If a shape, a class or a probability is impossible: a bug of the method.
        """
        label, probability = as_array(filled.label), as_array(filled.probability, np.float16)
        shape = (data.n_items, data.n_workers)
        if label.shape != shape or probability.shape != shape:
            raise ResultError(f"completion: shapes {label.shape}, {probability.shape}, not {shape}")
        if label.min(initial=UNKNOWN) < UNKNOWN or label.max(initial=UNKNOWN) >= data.n_classes:
            raise ResultError("completion: a label is none of the classes")
        if not ((probability >= 0) & (probability <= 1)).all():
            raise ResultError("completion: a probability is not between 0 and 1")
        # One byte holds up to 128 classes.
        label = label.astype(np.int8 if data.n_classes <= np.iinfo(np.int8).max else np.int16)
        label[data.item, data.worker] = UNKNOWN
        label[:, data.labels_per_worker == 0] = UNKNOWN
        probability[label < 0] = 0
        return cls(
            data=data,
            label=label,
            probability=probability,
            facts={**facts, "notes": list(filled.notes)},
            artefacts=filled.artefacts,
        )

    @cached_property
    def n_filled(self) -> int:
        """How many cells were filled in."""
        return int(np.count_nonzero(self.label >= 0))

    @cached_property
    def n_observed(self) -> int:
        """How many cells have an observed label; a pair that was labelled twice is one cell."""
        cells = self.data.item.astype(np.int64) * self.data.n_workers + self.data.worker
        cells.sort()  # np.unique takes many times as long
        return 1 + int(np.count_nonzero(np.diff(cells)))

    @property
    def n_cells(self) -> int:
        """Items × workers."""
        return self.label.size

    @property
    def density(self) -> tuple[float, float]:
        """The share of cells with a label, before and after."""
        after = self.n_observed + self.n_filled
        return self.n_observed / self.n_cells, after / self.n_cells

    def blocks(self) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Go through the filled labels, some items at a time.

        Yields
        ------
        tuple of slice and numpy.ndarray
            Which items, and their filled labels [n, W]; UNKNOWN where nothing was filled in.
        """
        step = max(1, COUNTED_VALUES_PER_CHUNK // (self.data.n_workers * self.data.n_classes))
        for start in range(0, self.data.n_items, step):
            items = slice(start, start + step)
            yield items, self.label[items]

    @cached_property
    def filled_votes(self) -> NDArray[np.int64]:
        """How often each class was filled in for each item [N, K]."""
        counts = np.zeros((self.data.n_items, self.data.n_classes), np.int64)
        for items, label in self.blocks():
            for code in range(self.data.n_classes):
                counts[items, code] = np.count_nonzero(label == code, axis=1)
        return counts

    @cached_property
    def filled_per_worker(self) -> NDArray[np.int64]:
        """How many labels were filled in for each worker [W]."""
        total = np.zeros(self.data.n_workers, np.int64)
        for _, label in self.blocks():
            total += np.count_nonzero(label >= 0, axis=0)
        return total

    def listed(self) -> CrowdData:
        """List observed and filled labels as one data set.

        Returns
        -------
        CrowdData
            The observed labels first, in their order.
        """
        data, end = self.data, self.data.n_labels
        size = end + self.n_filled
        item, worker, given = (np.empty(size, np.int32) for _ in range(3))
        item[:end], worker[:end], given[:end] = data.item, data.worker, data.label
        for items, label in self.blocks():
            is_filled = np.nonzero(label >= 0)
            start, end = end, end + len(is_filled[0])
            item[start:end], worker[start:end] = is_filled[0] + items.start, is_filled[1]
            given[start:end] = label[is_filled]
        return replace(data, item=item, worker=worker, label=given, time=None)

    def add_to(self, result: Result) -> Result:
        """Say in a result that it rests on labels that nobody gave.

        Workers are not judged by these labels, so its confusion matrices go; so do its members,
        which are about observed and filled labels together.

        Parameters
        ----------
        result
            What was inferred from observed and filled labels.

        Returns
        -------
        Result
            The same truths, with a note, and with the completion among its artefacts.
        """
        before, after = self.density
        note = (
            f"{self.n_filled:,} labels that nobody gave were filled in by {self.facts['title']} "
            f"before ({before:.1%} of all cells had a label, now {after:.1%}). Workers are judged "
            "by the labels they gave themselves."
        )
        provenance = replace(
            result.provenance,
            completion={**self.facts, "filled": self.n_filled, "density": [before, after]},
            notes=(note, *self.facts["notes"], *result.provenance.notes),
            seconds=self.facts["seconds"] + result.provenance.seconds,
        )
        with_artefacts = result.with_artefacts(self, *self.artefacts)
        return with_artefacts.with_fields(confusion=None, members=(), provenance=provenance)


def refuse_huge(data: CrowdData) -> None:
    """Refuse to complete more cells than memory holds.

    Parameters
    ----------
    data
        The labels as observed.

    Raises
    ------
    DataError
        If there are too many items × workers.
    """
    cells = data.n_items * data.n_workers
    if cells > MAX_CELLS:
        raise DataError(
            f"{data.n_items:,} items by {data.n_workers:,} workers are {cells:,} cells to fill",
            fix="Leave out workers with few labels, or aggregate without completion.",
        )
