"""Labels that are one class each, counted by item and class, without what one worker repeats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.codes import sum_by
from crowdcore.data import Floats

OWNERS_PER_CHUNK = 4096
"""Items whose labels are laid out by class at a time, to keep memory small."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassLabels:
    """Labels that are one class each, of whatever is labelled.

    Attributes
    ----------
    item, worker, label
        Codes of each label [L].
    n_items, classes
        How many items there are, and the names of the classes.
    cluster
        What is resampled together, such as the text of a token [N]; None for the items themselves.
    """

    item: NDArray[Any]
    worker: NDArray[Any]
    label: NDArray[Any]
    n_items: int
    classes: tuple[str, ...]
    cluster: NDArray[np.int64] | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Votes:
    """How often something got a class: only what occurs, so that many classes cost nothing.

    Attributes
    ----------
    owner, label, number
        What was labelled, the class, and how often it was given [entries].
    size
        Labels of each owner [owners].
    """

    owner: NDArray[np.int64]
    label: NDArray[np.int64]
    number: Floats
    size: Floats

    @classmethod
    def of(
        cls, owner: NDArray[np.int64], label: NDArray[Any], n_owners: int, n_classes: int
    ) -> Votes:
        """Count labels by their owner and class."""
        codes, number = np.unique(owner * n_classes + label, return_counts=True)
        return cls(
            owner=codes // n_classes,
            label=codes % n_classes,
            number=number.astype(np.float64),
            size=np.bincount(owner, minlength=n_owners).astype(np.float64),
        )

    def alike(self, weights: Floats | None) -> Floats:
        """Add up how alike ordered pairs of labels of each owner are [owners].

        `weights` says how alike two classes are [K, K]; None for equal or not.
        """
        if weights is None:
            return sum_by(self.owner, self.number**2, len(self.size)) - self.size
        total = np.empty(len(self.size))
        for start in range(0, len(self.size), OWNERS_PER_CHUNK):
            stop = min(start + OWNERS_PER_CHUNK, len(self.size))
            rows = slice(*np.searchsorted(self.owner, (start, stop)))
            votes = np.zeros((stop - start, len(weights)))
            votes[self.owner[rows] - start, self.label[rows]] = self.number[rows]
            total[start:stop] = ((votes @ weights) * votes).sum(1)
        return total - self.size


class ClassCounts:
    """Of each item: its labels by class, and pairs of labels of different workers.

    Parameters
    ----------
    labels
        What was given to which item, by whom.

    Attributes
    ----------
    votes
        Labels of each item by class.
    own
        Labels by class of each worker who labelled an item more than once, and `own_item` the
        item: pairs among these do not count.
    pairs
        Ordered pairs of labels of different workers [N].
    n_repeated
        Labels of a worker who had already labelled the item.
    """

    def __init__(self, labels: ClassLabels) -> None:
        n_classes = len(labels.classes)
        item = labels.item.astype(np.int64)
        self.votes = Votes.of(item, labels.label, labels.n_items, n_classes)
        n_workers = int(labels.worker.max(initial=0)) + 1
        cell = item * n_workers + labels.worker
        ordered = np.sort(cell)
        repeated = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
        rows = np.flatnonzero(np.isin(cell, repeated)) if len(repeated) else np.empty(0, np.int64)
        self.own = Votes.of(
            np.searchsorted(repeated, cell[rows]), labels.label[rows], len(repeated), n_classes
        )
        self.own_item: NDArray[np.int64] = repeated // n_workers
        self.n_repeated = len(rows) - len(repeated)
        size = self.votes.size
        own_pairs = self.own.size * (self.own.size - 1)
        self.pairs: Floats = size * (size - 1) - sum_by(self.own_item, own_pairs, len(size))

    def alike(self, weights: Floats | None = None) -> Floats:
        """Add up how alike the pairs of each item are [N], by the weights of two classes [K, K]."""
        own = sum_by(self.own_item, self.own.alike(weights), len(self.pairs))
        return self.votes.alike(weights) - own
