"""Every way to hold out what decides when to stop or how much to trust: groups, rows, folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.data import CrowdData
    from crowdcore.engine.labels import Labels
    from crowdcore.engine.ratings import Ratings
    from crowdcore.run import Run

MIN_HELD_OUT_ROWS = 20
"""With fewer held-out rows, stopping early would be a toss of a coin."""

MIN_LABELS_PER_ITEM = 3
"""Labels that an item must have for one of them to be held out; two are left."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Split:
    """The rows to learn from, and those that decide when to stop.

    Attributes
    ----------
    train : Tensor [T]
        Rows to learn from.
    held_out : Tensor [H]
        Rows that decide when to stop; none where too few could be held out.
    """

    train: Tensor
    held_out: Tensor

    @property
    def all_rows(self) -> Tensor:
        """All rows, in order."""
        import torch

        return torch.cat([self.train, self.held_out]).sort().values


def hold_out_groups(
    labels: Labels | Ratings, groups: NDArray[np.int64], share: float, run: Run
) -> Split:
    """Hold out a share of the groups, each with all of its rows.

    Parameters
    ----------
    labels : Labels or Ratings
        Whose device the rows are put on.
    groups : array of int [R]
        The group of each row, such as the item of each label; `np.arange(R)` holds out single
        rows.
    share : float
        Share of the groups to hold out.
    run : Run
        Whose generator draws the groups.

    Returns
    -------
    Split
        Nothing is held out where fewer than `MIN_HELD_OUT_ROWS` rows, or all of them, would be.
    """
    names = np.unique(groups)
    held = run.rng.permutation(names)[: round(share * len(names))]
    is_held = np.isin(groups, held)
    if is_held.sum() < MIN_HELD_OUT_ROWS or is_held.all():
        is_held[:] = False
    return Split(
        train=labels.tensor(np.flatnonzero(~is_held)),
        held_out=labels.tensor(np.flatnonzero(is_held)),
    )


def hold_out_rows(
    n_rows: int, n_held: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Hold out so many of the rows.

    Parameters
    ----------
    n_rows, n_held : int
        How many rows there are, and how many of them to hold out.
    rng : numpy.random.Generator
        Draws them.

    Returns
    -------
    train, held_out : array of int
        The rows, both in random order.
    """
    order = rng.permutation(n_rows)
    return order[n_held:], order[:n_held]


def one_label_per_item(
    data: CrowdData,
    rng: np.random.Generator,
    items: NDArray[np.bool_] | None = None,
    *,
    min_labels: int = MIN_LABELS_PER_ITEM,
) -> NDArray[np.int64]:
    """Draw one label of every item that has enough, never two of one item.

    Parameters
    ----------
    data : CrowdData
        The labels; their order plays no part.
    rng : numpy.random.Generator
        Draws them.
    items : array of bool [N], optional
        Which items may lose a label; all, if not given.
    min_labels : int
        Labels that an item must have.

    Returns
    -------
    array of int
        Indices of the labels in the data, in random order.
    """
    from crowdcore.engine.labels import canonical_order

    order = rng.permutation(canonical_order(data))
    _, first = np.unique(data.item[order], return_index=True)
    may_lose_one = data.labels_per_item >= min_labels
    if items is not None:
        may_lose_one &= items
    drawn = order[first]
    return rng.permutation(drawn[may_lose_one[data.item[drawn]]])


def folds(
    rows: NDArray[np.int64], n_folds: int, rng: np.random.Generator
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Hold out every row once.

    Parameters
    ----------
    rows : array of int [R]
        What is dealt into folds.
    n_folds : int
        How many; there are never more than rows, and at least one.
    rng : numpy.random.Generator
        Deals them.

    Returns
    -------
    list of (train, held_out)
        For each fold the rows of all others, and its own, both in random order.
    """
    dealt = np.array_split(rng.permutation(rows), max(1, min(n_folds, len(rows))))
    return [
        (np.concatenate([*dealt[:fold], *dealt[fold + 1 :], rows[:0]]), held)
        for fold, held in enumerate(dealt)
    ]
