"""What a manager asks of an item: is the truth sure, was it disputed, did the method change it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crowdcore.data import UNKNOWN, Codes, CrowdData, Floats

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from crowdcore.result import Result

DISPUTED = 0.4
"""An item is disputed where at least this share of its labels is not the commonest one."""

UNSURE = 0.8
"""A confidence below this is low."""


def item_table(result: Result) -> pd.DataFrame:
    """One row an item, in the order of the codes.

    `majority` is what plain counting says, "" where it is tied or nobody labelled the item;
    `changed` marks truths that differ from it. `right` is 1 or 0 where there is gold, else -1.
    The method's own scores of the items, such as their difficulty, follow under their names.
    """
    import pandas as pd

    data = result.data
    majority = majority_vote(data)
    gold = np.full(data.n_items, UNKNOWN, np.int32) if data.gold is None else data.gold
    decided = result.truth != UNKNOWN
    frame = pd.DataFrame(
        {
            "item": pd.array(list(data.items), dtype="str"),
            "truth": _named(result.truth, data),
            "confidence": result.confidence,
            "margin": margin(result.posterior),
            "n_labels": data.labels_per_item,
            "disagreement": disagreement(data),
            "majority": _named(majority, data),
            "changed": (majority != UNKNOWN) & decided & (majority != result.truth),
            "tied": result.tied,
            "gold": _named(gold, data),
            "right": np.where(data.has_gold, result.truth == gold, -1).astype(np.int8),
        }
    )
    return frame.assign(**result.item_scores)


def disagreement(data: CrowdData) -> Floats:
    """What share of an item's labels is not its commonest one [N]; 0 where nobody labelled it."""
    total = data.labels_per_item
    share: Floats = np.where(total > 0, 1 - data.votes.max(1) / np.maximum(total, 1), 0.0)
    return share


def majority_vote(data: CrowdData) -> Codes:
    """The commonest label of each item [N]; UNKNOWN where two are, or nobody labelled it."""
    top = data.votes.max(1, keepdims=True)
    alone = (data.votes == top).sum(1) == 1
    commonest: Codes = np.where(
        alone & (data.labels_per_item > 0), data.votes.argmax(1), UNKNOWN
    ).astype(np.int32)
    return commonest


def margin(posterior: Floats) -> Floats:
    """How far the likeliest class is ahead of the second [N]; 1 where there is one class."""
    if posterior.shape[1] == 1:
        return np.ones(len(posterior))
    best = np.partition(posterior, -2, axis=1)[:, -2:]
    gap: Floats = best[:, 1] - best[:, 0]
    return gap


def _named(codes: NDArray[np.number], data: CrowdData) -> pd.Categorical[str]:
    """Class names in the order of the classes, and "" for UNKNOWN."""
    import pandas as pd

    names = data.classes if "" in data.classes else (*data.classes, "")
    blank = names.index("")
    filled: Codes = np.where(codes == UNKNOWN, blank, codes).astype(np.int32)
    return pd.Categorical.from_codes(filled, categories=pd.Index(list(names)), ordered=True)
