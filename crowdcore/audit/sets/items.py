"""Items with sets of classes: their truths, how disputed they are, and what is unclear."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crowdcore.audit.sets.answer_pairs import AnswerPairs, sets_of, similarity
from crowdcore.data import Floats
from crowdcore.engine.set_answers import ticks_per_item
from crowdcore.export.columns import PROBABILITY, TableColumn, as_categories, build_table
from crowdcore.export.tables import LABEL_COLUMNS, LabelSource
from crowdcore.results.result import Result

APPLIES = "is:"
"""The prefix of columns that say whether a class applies, one per class."""


def as_lists(sets: NDArray[np.bool_], classes: tuple[str, ...]) -> Any:
    """Write sets of classes as JSON lists.

    Parameters
    ----------
    sets
        Which classes each set holds [N, K].
    classes
        The names of the classes.

    Returns
    -------
    pandas array of str
        Such as '["cat", "dog"]'; '[]' for a set without any class.
    """
    different, code = np.unique(sets, axis=0, return_inverse=True)
    names = np.array(classes, dtype=object)
    texts = [json.dumps(names[row].tolist(), ensure_ascii=False) for row in different]
    return pd.array(np.array(texts, dtype=object)[code.ravel()], dtype="str")


class SetItemAudit:
    """Answers of a result's items that several columns share, each computed once."""

    def __init__(self, result: Result) -> None:
        self.result, self.data = result, result.data

    @cached_property
    def majority(self) -> NDArray[np.bool_]:
        """Which classes more than half of an item's workers ticked [N, K]."""
        return 2 * ticks_per_item(self.data) > self.data.labels_per_item[:, None]

    @cached_property
    def disagreement(self) -> Floats:
        """One minus the mean Jaccard similarity of an item's answers [N]; 0 for a single one."""
        pairs = AnswerPairs.of(self.data, np.random.default_rng(0))
        label, sets = self.data.label, sets_of(self.data)
        away = 1 - similarity(sets, label[pairs.first], label[pairs.second])
        item = self.data.item[pairs.first]
        counts = np.bincount(item, minlength=self.data.n_items)
        return np.bincount(item, away, minlength=self.data.n_items) / np.maximum(counts, 1)

    @cached_property
    def changed(self) -> NDArray[np.bool_]:
        """Which truths differ from what more than half of the workers ticked [N]."""
        return np.asarray((self.majority != self.result.truth).any(1))

    @cached_property
    def gold(self) -> Any:
        """The known sets as JSON lists [N]; empty where there is none."""
        if self.data.gold is None:
            return pd.array([""] * self.data.n_items, dtype="str")
        return pd.array(self.data.class_names(self.data.gold), dtype="str")

    @cached_property
    def right(self) -> NDArray[np.int8]:
        """Whether truths are the known sets: 1 or 0, and -1 where there is none [N]."""
        if self.data.gold is None:
            return np.full(self.data.n_items, -1, np.int8)
        known = sets_of(self.data)[self.data.gold]
        equal = (known == self.result.truth).all(1)
        return np.where(self.data.has_gold, equal, -1).astype(np.int8)

    @cached_property
    def unclear(self) -> NDArray[np.intp]:
        """The class of each item whose probability is nearest to even [N]."""
        return np.asarray(np.abs(self.result.probability - 0.5).argmin(1))


TRUTH_COLUMNS: tuple[TableColumn[Result], ...] = (
    TableColumn(
        name="item",
        title="Item",
        help="The item's name.",
        unit="name",
        values=lambda result: pd.array(list(result.data.items), dtype="str"),
    ),
    TableColumn(
        name="truth",
        title="Truth",
        help="The classes that the method inferred, as a JSON list; [] where none applies.",
        unit="class",
        values=lambda result: as_lists(result.truth, result.data.classes),
    ),
    TableColumn(
        name="confidence",
        title="Confidence",
        help="The probability that the whole set is right, if classes err independently.",
        unit="share",
        values=lambda result: result.confidence,
    ),
    TableColumn(
        name="n_classes",
        title="Classes",
        help="How many classes apply.",
        unit="labels",
        values=lambda result: result.truth.sum(1),
    ),
    TableColumn(
        name="n_labels",
        title="Answers",
        help="How many answers to the item took part.",
        unit="labels",
        values=lambda result: result.data.labels_per_item,
    ),
    TableColumn(
        name="tied",
        title="Tied",
        help="Whether a class applies as likely as not; it is left out of the truth.",
        unit="yes or no",
        values=lambda result: result.tied,
    ),
    TableColumn(
        name=APPLIES,
        title="One column per class",
        help="1 where the class belongs to the truth, 0 where it does not.",
        unit="yes or no",
        values=lambda result: dict(
            zip(result.data.classes, result.truth.T.astype(np.int8), strict=True)
        ),
    ),
    TableColumn(
        name=PROBABILITY,
        title="Probabilities",
        help="The probability that each class applies.",
        unit="share",
        values=lambda result: dict(zip(result.data.classes, result.probability.T, strict=True)),
    ),
)
"""Columns of truths.csv for sets."""

COLUMNS: tuple[TableColumn[SetItemAudit], ...] = (
    TableColumn(
        name="disagreement",
        title="Disagree",
        help="How unlike the item's answers are: one minus their mean Jaccard similarity.",
        unit="share",
        values=lambda audit: audit.disagreement,
    ),
    TableColumn(
        name="majority",
        title="Majority",
        help="The classes that more than half of the item's workers ticked.",
        unit="class",
        values=lambda audit: as_lists(audit.majority, audit.data.classes),
    ),
    TableColumn(
        name="changed",
        title="Changed",
        help="Whether the truth differs from what more than half of the workers ticked.",
        unit="yes or no",
        values=lambda audit: audit.changed,
    ),
    TableColumn(
        name="unclear",
        title="Least sure",
        help="The class of which it is least sure whether it applies.",
        unit="class",
        values=lambda audit: as_categories(audit.unclear, audit.data.classes),
    ),
    TableColumn(
        name="gold",
        title="Gold",
        help="The known classes; empty where they are not known.",
        unit="class",
        values=lambda audit: audit.gold,
    ),
    TableColumn(
        name="right",
        title="Right",
        help="1 where the truth is exactly the known set, 0 where it is not, -1 where none is "
        "known.",
        unit="yes or no",
        values=lambda audit: audit.right,
    ),
)
"""What a page adds to the truths of items."""


def compare_items(result: Result) -> pd.DataFrame:
    """Compare the truths of items with plain counting of ticks, and with gold.

    Parameters
    ----------
    result
        The truths, and the answers that they were inferred from.

    Returns
    -------
    pandas.DataFrame
        One row per item, in the order of the codes, with the columns of `COLUMNS`.
    """
    return build_table(COLUMNS, SetItemAudit(result))


def _answer_similarity(source: LabelSource) -> Floats | None:
    if source.result is None:
        return None
    data, truth = source.data, source.result.truth
    sets = sets_of(data)
    ticked = sets[data.label]
    both = (ticked & truth[data.item]).sum(1)
    either = (ticked | truth[data.item]).sum(1)
    return np.where(either > 0, both / np.maximum(either, 1), 1.0)


def _truth_of_labels(source: LabelSource) -> Any:
    if source.result is None:
        return None
    lists = as_lists(source.result.truth, source.data.classes)
    return np.asarray(lists, dtype=object)[source.data.item]


_SHARED = {column.name: column for column in LABEL_COLUMNS}

SET_LABEL_COLUMNS: tuple[TableColumn[LabelSource], ...] = (
    _SHARED["item"],
    _SHARED["worker"],
    TableColumn(
        name="label",
        title="Answer",
        help="The classes that the worker ticked, as a JSON list; [] for an answer without any.",
        unit="class",
        values=lambda source: as_categories(source.data.label, source.data.answers),
    ),
    TableColumn(
        name="truth",
        title="Truth",
        help="The classes that the method inferred for the item.",
        unit="class",
        values=_truth_of_labels,
    ),
    TableColumn(
        name="agrees",
        title="Agrees",
        help="Whether the answer is exactly the truth.",
        unit="yes or no",
        values=lambda source: None if source.result is None else _answer_similarity(source) == 1,
    ),
    TableColumn(
        name="similarity",
        title="Similarity",
        help="Share of the classes in the answer or the truth that are in both.",
        unit="share",
        values=_answer_similarity,
    ),
    _SHARED["time"],
)
"""Columns of labels that are sets."""
