"""Answers that hold several classes, as one yes/no question for every item and class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import UNKNOWN, Codes, CrowdData, DataError, Floats

if TYPE_CHECKING:
    import torch

    from crowdcore.warm_start import WarmStart

NO, YES = 0, 1
"""Codes of the answers to a yes/no question."""

MAX_LABELS = 20_000_000
"""Yes/no labels up to which all questions are asked: beyond, only of classes that somebody of the
item's workers ticked."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Questions:
    """One yes/no question for an item and a class.

    Parameters
    ----------
    data : CrowdData
        The answers; its items are the questions.
    item, class_ : array [Q]
        The item and the class of each question.
    n_workers : int
        Workers of the original data.
    per_class : bool
        Whether a worker counts as another one for each class.
    complete : bool
        Whether every item has a question for every class.
    """

    data: CrowdData
    item: Codes
    class_: Codes
    n_workers: int
    per_class: bool
    complete: bool

    def table(self, values: Floats, n_items: int, n_classes: int, default: float) -> Floats:
        """Put values of questions [Q] into a table of items and classes [N, K].

        Parameters
        ----------
        values : array [Q]
            A value for each question.
        n_items, n_classes : int
            The size of the table.
        default : float
            The value where there is no question.

        Returns
        -------
        array [N, K]
        """
        table = np.full((n_items, n_classes), default)
        table[self.item, self.class_] = values
        return table


class SetAnswers:
    """The container that methods for sets get their labels in.

    Parameters
    ----------
    data : CrowdData
        Labels that are sets.
    device : torch.device
        What computes; the method for classes puts the questions there.
    use_gold : bool
        Whether the method may see the gold.
    start : WarmStart, optional
        Not used: fits of sets begin anew.
    """

    warm_start_was_used = False

    def __init__(
        self,
        data: CrowdData,
        device: torch.device,
        *,
        use_gold: bool = False,
        start: WarmStart | None = None,
    ) -> None:
        del start
        if data.sets is None:
            raise DataError("These labels are not sets of classes")
        self.data, self.device, self.use_gold = data, device, use_gold
        self.sets = data.sets

    @cached_property
    def ticks(self) -> NDArray[np.int64]:
        """How often each item [N] was given each class [K]."""
        return ticks_per_item(self.data)

    def questions(self, *, per_class: bool) -> Questions:
        """Ask for every item and class whether the class applies.

        Parameters
        ----------
        per_class : bool
            Whether a worker counts as another one for each class, so that what is learnt of them
            is learnt for each class apart.

        Returns
        -------
        Questions
        """
        data, n_classes = self.data, self.data.n_classes
        complete = data.n_labels * n_classes <= MAX_LABELS
        asked = np.ones((data.n_items, n_classes), bool) if complete else self.ticks > 0
        if not asked.any():
            raise DataError("Nobody ticked any class: there is nothing to decide")
        item, class_ = (each.astype(np.int32) for each in np.nonzero(asked))
        number = np.cumsum(asked.ravel()) - 1  # of each question, in the table of all
        row, column = self._cells(asked)
        question = number[data.item[row].astype(np.int64) * n_classes + column]
        worker = data.worker[row].astype(np.int64)
        workers = data.workers
        if per_class:
            worker = worker * n_classes + column
            workers = tuple(str(code) for code in range(data.n_workers * n_classes))
        gold = None
        if data.gold is not None:
            known = self.sets[data.gold[item], class_].astype(np.int32)
            gold = np.where(data.has_gold[item], known, UNKNOWN)
        binary = CrowdData(
            item=question,
            worker=worker,
            label=self.sets[data.label[row], column].astype(np.int32),
            items=tuple(str(code) for code in range(len(item))),
            workers=workers,
            classes=("no", "yes"),
            gold=gold,
        )
        return Questions(
            data=binary,
            item=item,
            class_=class_,
            n_workers=data.n_workers,
            per_class=per_class,
            complete=complete,
        )

    def _cells(self, asked: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The label and the class of every answer to a question."""
        if asked.all():
            cells = np.arange(self.data.n_labels * self.data.n_classes)
            return np.divmod(cells, self.data.n_classes)
        sizes = asked.sum(1)[self.data.item]
        row = np.repeat(np.arange(self.data.n_labels), sizes)
        classes = np.nonzero(asked)[1]
        starts = np.cumsum(asked.sum(1)) - asked.sum(1)
        nth = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return row, classes[np.repeat(starts[self.data.item], sizes) + nth]


def ticks_per_item(data: CrowdData) -> NDArray[np.int64]:
    """Count how often each item was given each class.

    Parameters
    ----------
    data : CrowdData
        Labels that are sets.

    Returns
    -------
    array [N, K]
    """
    from scipy import sparse

    if data.sets is None:
        raise DataError("These labels are not sets of classes")
    ones = np.ones(data.n_labels, np.int64)
    shape = (data.n_items, len(data.sets))
    given = sparse.coo_array((ones, (data.item, data.label)), shape=shape).tocsr()
    counts: NDArray[np.int64] = (given @ sparse.csr_array(data.sets.astype(np.int64))).toarray()
    return counts
