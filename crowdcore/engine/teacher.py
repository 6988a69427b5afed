"""Teacher: whose answers a network learns from, gold or the clearest majorities of the crowd."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from crowdcore.data import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.data import CrowdData
    from crowdcore.labels import Labels

Wish = Literal["auto", "gold", "consensus"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Teacher:
    """Items with labels whose answers are taught, and where these come from."""

    items: NDArray[np.int64]  # [T], ordered
    answers: NDArray[np.int64]  # [T]
    is_gold: bool
    note: str


def find_teacher(data: CrowdData, wish: Wish) -> Teacher:
    """Gold where it is wished for or, with "auto", where there is some; else the consensus."""
    if wish == "consensus" or (wish == "auto" and not data.n_gold):
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
    """Items whose majority is clear, and at least as large as is usual for its class.

    A threshold for every class keeps the rare ones among what is taught.
    """
    votes = data.votes
    top, answer = votes.max(1), votes.argmax(1)
    clear = ((votes == top[:, None]).sum(1) == 1) & (top > 0)
    share = top / np.maximum(1, data.labels_per_item)
    total = np.bincount(answer[clear], share[clear], minlength=data.n_classes)
    usual = total / np.maximum(1, np.bincount(answer[clear], minlength=data.n_classes))
    # A hair below the mean: items that all have the same share are all at it.
    items = np.flatnonzero(clear & (share >= usual[answer] - 1e-9))
    if not len(items):
        raise DataError(
            "No item has a clear majority to learn from", fix="Add gold, or more labels an item."
        )
    note = (
        f"No gold was used: learnt from the majority on the {len(items):,} items where it is "
        "clearest, so errors that the crowd shares are learnt too."
    )
    return Teacher(items=items, answers=answer[items].astype(np.int64), is_gold=False, note=note)


def hold_at_gold(labels: Labels, posterior: Tensor) -> Tensor:
    """Put all of the probability of items with gold on their gold answer [N, K]."""
    from torch.nn.functional import one_hot

    items, answers = labels.gold
    known = one_hot(answers, labels.n_classes).to(posterior.dtype)
    return posterior.index_copy(0, items, known)
