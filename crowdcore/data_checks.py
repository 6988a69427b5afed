"""Kinds of labels, and what the arrays of `CrowdData` of each kind must fulfil."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from crowdcore.codes import check_codes
from crowdcore.errors import DataError

if TYPE_CHECKING:
    from crowdcore.data import CrowdData

Kind = Literal["classes", "ratings", "sets", "comparisons", "sequences"]
"""What the labels are: one class each, numbers, several classes, which of two items is better, or
classes of the tokens of a sequence."""

UNKNOWN = -1
"""The code of an answer that is not known: no gold, or no decided truth."""

OUTCOMES = ("left", "right", "tie")
"""What the label of a comparison can be: which item was preferred."""

NUMBERS: Mapping[Kind, tuple[str, ...]] = {"ratings": ("label", "gold"), "comparisons": ("gold",)}
"""Which arrays of a kind of labels hold numbers instead of codes."""

TABLE_DIMENSIONS, PICTURE_DIMENSIONS = 2, 4
"""Dimensions of features: items × numbers, or items × channels × height × width."""


def check_data(data: CrowdData) -> None:
    """Refuse arrays, codes and names that do not fit together.

    Parameters
    ----------
    data
        The data as they were given.

    Raises
    ------
    DataError
        What does not fit, and where.
    """
    if not len(data.item) == len(data.worker) == len(data.label):
        sizes = f"{len(data.item)}, {len(data.worker)} and {len(data.label)}"
        raise DataError(f"Items, workers and labels must be equally many; there are {sizes}")
    if not len(data.item):
        raise DataError("There is no label in the data", fix="Add rows of item, worker, label.")
    check_codes("item", data.item, data.items)
    check_codes("worker", data.worker, data.workers)
    if data.kind == "comparisons":
        _check_comparisons(data)
    elif data.kind == "sets":
        _check_sets(data)
    elif data.kind != "ratings":
        check_codes("label", data.label, data.classes)
    elif not np.isfinite(data.label).all():
        raise DataError("A rating is not a finite number", column="label")
    if data.gold is not None and "gold" not in NUMBERS.get(data.kind, ()) and len(data.gold):
        low, high = int(np.min(data.gold)), int(np.max(data.gold))
        if low < UNKNOWN or high >= len(data.classes if data.sets is None else data.sets):
            raise DataError("A gold answer is none of the classes", column="gold")
    _check_length("gold answers", data.gold, data.n_items, "items")
    _check_length("rows of features", data.features, data.n_items, "items")
    if data.features is not None and (
        data.features.ndim not in (TABLE_DIMENSIONS, PICTURE_DIMENSIONS) or not data.n_features
    ):
        raise DataError(
            f"The features have the shape {data.features.shape}",
            fix="Give [items, numbers], or pictures as [items, channels, height, width].",
        )
    _check_length("times", data.time, data.n_labels, "labels")
    _check_length("durations", data.duration, data.n_labels, "labels")
    _check_length("rows", data.row, data.n_labels, "labels")
    if data.kind == "sequences":
        _check_offsets(data)
    for name, values in data.details.items():
        _check_length(f"details {name!r}", values, data.n_items, "items")


def _check_comparisons(data: CrowdData) -> None:
    if data.other is None:
        raise DataError("Comparisons need a second item each", column="other")
    if data.classes != OUTCOMES:
        raise DataError(f"The classes of comparisons are {OUTCOMES}", column="label")
    check_codes("label", data.label, OUTCOMES)
    check_codes("other", data.other, data.items)
    _check_length("second items", data.other, data.n_labels, "comparisons")
    if (data.other == data.item).any():
        name = data.items[data.item[np.flatnonzero(data.other == data.item)[0]]]
        raise DataError(f"The item {name!r} is compared with itself", fix="Leave such rows out.")


def _check_sets(data: CrowdData) -> None:
    check_codes("class", np.zeros(1, np.int32), data.classes)
    if data.sets is None or data.sets.ndim != 2 or data.sets.shape[1] != data.n_classes:  # noqa: PLR2004
        raise DataError("Labels that are sets need a row of ticks for each different answer")
    if int(data.label.min()) < 0 or int(data.label.max()) >= len(data.sets):
        raise DataError("A label is none of the sets", column="label")


def _check_offsets(data: CrowdData) -> None:
    offsets = None if data.offsets is None else np.asarray(data.offsets)
    if offsets is None or len(offsets) < 2:  # noqa: PLR2004  (a start and an end)
        raise DataError("Sequences need offsets", fix="Say where each text starts and ends.")
    if offsets[0] != 0 or offsets[-1] != data.n_items or (np.diff(offsets) < 1).any():
        raise DataError(
            "The offsets do not cut the tokens into texts",
            fix="They begin with 0, rise, and end with the number of tokens.",
        )


def _check_length(noun: str, values: Sequence[str] | NDArray[Any] | None, n: int, of: str) -> None:
    if values is not None and len(values) != n:
        raise DataError(f"There are {len(values)} {noun} for {n} {of}")
