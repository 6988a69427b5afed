"""Completion: labels that nobody gave, filled in with a probability, beside those that were given.

Observed labels stay as they are and are not repeated here, so that what was seen and what was
filled in can always be told apart. Cells are one or two bytes; they are counted, not listed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import UNKNOWN, CrowdData, DataError

if TYPE_CHECKING:
    from crowdcore.result import Result

NAME = "completion"

MOST_CELLS = 2_000_000_000
"""Most items × workers that are completed: 6 GB of cells and probabilities."""

AT_ONCE = 8_000_000
"""Cells × classes that are worked on together."""

COUNTED_AT_ONCE = 500_000
"""Cells × classes that are counted together: they stay in the processor's cache."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Filled:
    """What a completing method returns."""

    label: Any  # [N, W] class codes, UNKNOWN where a cell stays empty; observed cells are ignored
    probability: Any  # [N, W] how sure the method is of a filled cell
    artefacts: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class Completion:
    """The observed labels, and those that were filled in."""

    data: CrowdData  # as observed
    label: NDArray[Any]  # [N, W] class codes; UNKNOWN where nothing was filled in
    probability: NDArray[np.float16]  # [N, W]; 0 where nothing was filled in
    facts: dict[str, Any]  # method, title, params, seconds, notes: JSON
    artefacts: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, result: Result) -> Completion | None:
        """The completion that a result was made from, if there was one."""
        found = result.artefacts.get(NAME)
        if found is None:
            return None
        cells = (found["label"], found["probability"])
        more = {
            name.removeprefix(_PREFIX): one
            for name, one in result.artefacts.items()
            if name.startswith(_PREFIX)
        }
        return cls(
            data=result.data,
            label=cells[0],
            probability=cells[1],
            facts=found["facts"],
            artefacts=more,
        )

    def parts(self) -> dict[str, dict[str, Any]]:
        """What goes into a result's artefacts."""
        own = {"label": self.label, "probability": self.probability, "facts": self.facts}
        return {NAME: own} | {_PREFIX + name: one for name, one in self.artefacts.items()}

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
        """The filled labels of some items at a time, with the items' places."""
        step = max(1, COUNTED_AT_ONCE // (self.data.n_workers * self.data.n_classes))
        for at in range(0, self.data.n_items, step):
            yield slice(at, at + step), self.label[at : at + step]

    @cached_property
    def filled_votes(self) -> NDArray[np.int64]:
        """How often each class was filled in for each item [N, K]."""
        counts = np.zeros((self.data.n_items, self.data.n_classes), np.int64)
        for rows, label in self.blocks():
            for code in range(self.data.n_classes):
                counts[rows, code] = np.count_nonzero(label == code, axis=1)
        return counts

    @cached_property
    def filled_per_worker(self) -> NDArray[np.int64]:
        """How many labels were filled in for each worker [W]."""
        total = np.zeros(self.data.n_workers, np.int64)
        for _, label in self.blocks():
            total += np.count_nonzero(label >= 0, axis=0)
        return total

    def listed(self) -> CrowdData:
        """Observed and filled labels as one list, the observed ones first."""
        data, n = self.data, self.data.n_labels
        size = n + self.n_filled
        item, worker, given = (np.empty(size, np.int32) for _ in range(3))
        item[:n], worker[:n], given[:n] = data.item, data.worker, data.label
        for rows, label in self.blocks():
            where = np.nonzero(label >= 0)
            end = n + len(where[0])
            item[n:end], worker[n:end] = where[0] + rows.start, where[1]
            given[n:end] = label[where]
            n = end
        return replace(data, item=item, worker=worker, label=given, time=None)


_PREFIX = "completion:"


def checked(data: CrowdData, filled: Filled, facts: dict[str, Any]) -> Completion:
    """Hold what a method filled in to its promises; observed cells stay out of it.

    So does whoever has no label: nothing is known of them, and they may have been excluded.
    """
    from crowdcore.result import ResultError, as_array

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
    facts = {**facts, "notes": list(filled.notes)}
    artefacts = dict(filled.artefacts)
    return Completion(
        data=data, label=label, probability=probability, facts=facts, artefacts=artefacts
    )


def refuse_huge(data: CrowdData) -> None:
    """Say so before memory runs out."""
    cells = data.n_items * data.n_workers
    if cells > MOST_CELLS:
        raise DataError(
            f"{data.n_items:,} items by {data.n_workers:,} workers are {cells:,} cells to fill",
            fix="Leave out workers with few labels, or aggregate without completion.",
        )
