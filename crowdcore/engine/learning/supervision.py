"""Whose answers a network learns from: gold, or the clearest majorities of the crowd."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from crowdcore.data import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.data import CrowdData
    from crowdcore.engine.labels import Labels

TeacherChoice = Literal["auto", "gold", "consensus"]

ROUNDING = {4: 1e-6, 8: 1e-9}
"""How far below the mean a share still counts as the mean, by the bytes of its numbers: items
that all have the same share are all at it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Teacher:
    """Items with labels whose answers are taught, and where these come from.

    Attributes
    ----------
    items : array of int [T]
        The items, in order.
    answers : array of int [T]
        Their classes.
    is_gold : bool
        Whether the answers are gold.
    note : str
        Where they come from, as a sentence for the result.
    """

    items: NDArray[np.int64]
    answers: NDArray[np.int64]
    is_gold: bool
    note: str


def find_teacher(data: CrowdData, choice: TeacherChoice) -> Teacher:
    """Choose the answers that a network learns from.

    Parameters
    ----------
    data : CrowdData
        The labels, with or without gold.
    choice : {"auto", "gold", "consensus"}
        Gold, the crowd's clearest majorities, or gold only where there is some.

    Returns
    -------
    Teacher

    Raises
    ------
    DataError
        If there are no such answers.
    """
    if choice == "consensus" or (choice == "auto" and not data.n_gold):
        return _consensus(data)
    labelled = data.has_gold & (data.labels_per_item > 0)
    if data.gold is None or not labelled.any():
        raise DataError(
            "No item with gold has a label" if data.n_gold else "There is no gold to learn from",
            fix='Add gold for items with labels, or set teacher to "consensus".',
        )
    items = np.flatnonzero(labelled)
    note = f"Learnt from {len(items):,} gold items; they keep their gold answer."
    return Teacher(items=items, answers=data.gold[items].astype(np.int64), is_gold=True, note=note)


def _consensus(data: CrowdData) -> Teacher:
    """The answers of the clearest majorities, without ties."""
    votes = data.votes
    top, answer = votes.max(1), votes.argmax(1)
    untied = ((votes == top[:, None]).sum(1) == 1) & (top > 0)
    share = top / np.maximum(1, data.labels_per_item)
    items = np.flatnonzero(clear_majorities(share, answer, untied))
    if not len(items):
        raise DataError(
            "No item has a clear majority to learn from", fix="Add gold, or more labels per item."
        )
    note = (
        f"No gold was used: learnt from the majority on the {len(items):,} items where it is "
        "clearest, so errors that the crowd shares are learnt too."
    )
    return Teacher(items=items, answers=answer[items].astype(np.int64), is_gold=False, note=note)


def clear_majorities(
    share: NDArray[Any], answer: NDArray[np.integer], counted: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Find the items whose majority is at least as large as the mean majority of its class.

    A threshold for every class keeps items of the rare ones.

    Parameters
    ----------
    share : array of float [N]
        Share of each item's votes that its majority has.
    answer : array of int [N]
        The majority's class.
    counted : array of bool [N]
        Which items count at all: for the mean, and to be found.

    Returns
    -------
    array of bool [N]
    """
    n_classes = int(answer.max(initial=0)) + 1
    n = np.bincount(answer[counted], minlength=n_classes)
    mean = np.bincount(answer[counted], share[counted], minlength=n_classes) / np.maximum(n, 1)
    clear: NDArray[np.bool_] = share >= mean[answer] - ROUNDING[share.dtype.itemsize]
    return counted & clear


def hold_at_gold(labels: Labels, posterior: Tensor) -> Tensor:
    """Put all of the probability of items with gold on their gold answer [N, K]."""
    from torch.nn.functional import one_hot

    items, answers = labels.gold
    certain = one_hot(answers, labels.n_classes).to(posterior.dtype)
    return posterior.index_copy(0, items, certain)
