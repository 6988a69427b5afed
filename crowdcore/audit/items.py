"""What a manager asks of an item: was it disputed, did the method change it, is it right."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crowdcore.data import UNKNOWN, Codes, CrowdData, Floats
from crowdcore.export.columns import TableColumn, as_categories, build_table
from crowdcore.results.result import Result

MIN_DISPUTED_SHARE = 0.4
"""An item is disputed where at least this share of its labels is not the commonest one."""

LOW_CONFIDENCE = 0.8
"""A confidence below this is low."""


def disagreement(data: CrowdData) -> Floats:
    """Return the share of an item's labels that are not its commonest one [N].

    It is 0 where nobody labelled the item.
    """
    total = data.labels_per_item
    share: Floats = np.where(total > 0, 1 - data.votes.max(1) / np.maximum(total, 1), 0.0)
    return share


def majority_vote(data: CrowdData) -> Codes:
    """Return the commonest label of each item [N]; UNKNOWN where two are, or nobody labelled it."""
    top = data.votes.max(1, keepdims=True)
    is_single = (data.votes == top).sum(1) == 1
    commonest: Codes = np.where(
        is_single & (data.labels_per_item > 0), data.votes.argmax(1), UNKNOWN
    ).astype(np.int32)
    return commonest


class ItemAudit:
    """Answers of a result's items that several columns share, each computed once."""

    def __init__(self, result: Result) -> None:
        self.result = result
        self.data = result.data

    @cached_property
    def majority(self) -> Codes:
        """What plain counting says [N]; UNKNOWN where it is tied or nobody labelled the item."""
        return majority_vote(self.data)

    @cached_property
    def gold(self) -> Codes:
        """The known answers [N]; UNKNOWN where there is none."""
        return self.data.gold if self.data.gold is not None else np.full(self.data.n_items, UNKNOWN)

    @property
    def changed(self) -> NDArray[np.bool_]:
        """Which truths [N] differ from a clear majority; an undecided one does not."""
        truth = self.result.truth
        decided = (self.majority != UNKNOWN) & (truth != UNKNOWN)
        changed: NDArray[np.bool_] = decided & (self.majority != truth)
        return changed

    @property
    def right(self) -> NDArray[np.int8]:
        """Whether truths [N] are the known answer: 1 or 0, and -1 where there is none."""
        is_right = self.result.truth == self.gold
        return np.where(self.data.has_gold, is_right, -1).astype(np.int8)


COLUMNS: tuple[TableColumn[ItemAudit], ...] = (
    TableColumn(
        name="disagreement",
        title="Disagree",
        help="Share of the item's labels that are not its commonest one.",
        unit="share",
        values=lambda audit: disagreement(audit.data),
    ),
    TableColumn(
        name="majority",
        title="Majority",
        help="The commonest label; empty where two are.",
        unit="class",
        values=lambda audit: as_categories(audit.majority, audit.data.classes),
    ),
    TableColumn(
        name="changed",
        title="Changed",
        help="Whether the truth differs from what plain counting of labels says.",
        unit="yes or no",
        values=lambda audit: audit.changed,
    ),
    TableColumn(
        name="gold",
        title="Gold",
        help="The known answer; empty where there is none.",
        unit="class",
        values=lambda audit: as_categories(audit.gold, audit.data.classes),
    ),
    TableColumn(
        name="right",
        title="Right",
        help="1 where the truth is the known answer, 0 where it is not, -1 where there is none.",
        unit="yes or no",
        values=lambda audit: audit.right,
    ),
)
"""What a page adds to the truths of items."""


def compare_items(result: Result) -> pd.DataFrame:
    """Compare the truths of items with plain counting of their labels, and with gold.

    Parameters
    ----------
    result
        The truths, and the labels that they were inferred from.

    Returns
    -------
    pandas.DataFrame
        One row per item, in the order of the codes, with the columns of `COLUMNS`.
    """
    return build_table(COLUMNS, ItemAudit(result))
