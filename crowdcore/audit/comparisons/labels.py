"""Columns of comparisons beside a result: who was preferred, and whether the ranking agrees."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from crowdcore.data import CrowdData, Floats
from crowdcore.engine.comparisons import POINTS
from crowdcore.export.columns import TableColumn, as_categories
from crowdcore.export.tables import LABEL_COLUMNS, LabelSource

_SHARED = {column.name: column for column in LABEL_COLUMNS}


def _other(data: CrowdData) -> Any:
    return None if data.other is None else as_categories(data.other, data.items)


def _left_chance(source: LabelSource) -> Floats | None:
    if source.result is None or source.data.other is None:
        return None
    scores = source.result.truth
    return np.asarray(expit(scores[source.data.item] - scores[source.data.other]))


def _agrees(source: LabelSource) -> Any:
    chance = _left_chance(source)
    if chance is None:
        return None
    return (POINTS[source.data.label] - 0.5) * (chance - 0.5) > 0


COMPARISON_LABEL_COLUMNS: tuple[TableColumn[LabelSource], ...] = (
    TableColumn(
        name="left",
        title="Left",
        help="The item on the left.",
        unit="name",
        values=lambda source: as_categories(source.data.item, source.data.items),
    ),
    TableColumn(
        name="right",
        title="Right",
        help="The item on the right.",
        unit="name",
        values=lambda source: _other(source.data),
    ),
    _SHARED["worker"],
    TableColumn(
        name="label",
        title="Answer",
        help="Which of the two the worker preferred: left, right, or tie.",
        unit="class",
        values=lambda source: as_categories(source.data.label, source.data.classes),
    ),
    TableColumn(
        name="left_expected",
        title="Left expected",
        help="How likely the scores make the left item the winner, ties aside.",
        unit="share",
        values=_left_chance,
    ),
    TableColumn(
        name="agrees",
        title="Agrees",
        help="Whether the item with the higher score won.",
        unit="yes or no",
        values=_agrees,
    ),
    _SHARED["time"],
)
"""Columns of labels that are comparisons."""
