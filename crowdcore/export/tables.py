"""Results and data as tables: one row per item or per label, each column defined in one place.

To add a column, add an entry to the list of its table; files, pages and documentation follow.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crowdcore.artefacts.trained_network import NumberPredictions
from crowdcore.data import UNKNOWN, CrowdData, Floats
from crowdcore.export.columns import (
    DETAIL,
    PROBABILITY,
    SCORE,
    TableColumn,
    as_categories,
    build_table,
)
from crowdcore.results.result import Result


class LabelSource(NamedTuple):
    """What columns of labels are made of; there may be no result yet."""

    data: CrowdData
    result: Result | None


def _texts(values: Sequence[str] | NDArray[Any]) -> Any:
    return pd.array(list(values), dtype="str")


def _gold(data: CrowdData) -> Any:
    if data.kind == "ratings":
        return np.full(data.n_items, np.nan) if data.gold is None else data.gold
    gold = np.full(data.n_items, UNKNOWN) if data.gold is None else data.gold
    return _texts(data.class_names(gold))


def _by_class(classes: Sequence[str], posterior: Floats) -> dict[str, Floats]:
    return {name: posterior[:, code] for code, name in enumerate(classes)}


def _if_result(values: Callable[[Result], Any]) -> Callable[[LabelSource], Any]:
    return lambda source: None if source.result is None else values(source.result)


ITEM_COLUMNS: tuple[TableColumn[CrowdData], ...] = (
    TableColumn(
        name="item",
        title="Item",
        help="The item's name.",
        unit="name",
        values=lambda data: _texts(data.items),
    ),
    TableColumn(
        name="gold",
        title="Gold",
        help="The known answer; empty where there is none.",
        unit="class",
        values=_gold,
    ),
    TableColumn(
        name=DETAIL,
        title="Details",
        help="What the file says of the item besides, such as a text; under the file's own names.",
        unit="text",
        values=lambda data: {name: _texts(texts) for name, texts in data.details.items()},
    ),
    TableColumn(
        name="n_labels",
        title="Labels",
        help="How many labels the item got.",
        unit="labels",
        values=lambda data: data.labels_per_item,
    ),
)
"""Columns of the items of a data set."""

ITEM: TableColumn[Result] = TableColumn(
    name="item",
    title="Item",
    help="The item's name.",
    unit="name",
    values=lambda result: _texts(result.data.items),
)
N_LABELS: TableColumn[Result] = TableColumn(
    name="n_labels",
    title="Labels",
    help="How many labels of the item took part.",
    unit="labels",
    values=lambda result: result.data.labels_per_item,
)

TRUTH_COLUMNS: tuple[TableColumn[Result], ...] = (
    ITEM,
    TableColumn(
        name="truth",
        title="Truth",
        help="The class that the method inferred; empty where it left the item undecided.",
        unit="class",
        values=lambda result: _texts(result.data.class_names(result.truth)),
    ),
    TableColumn(
        name="confidence",
        title="Confidence",
        help="The probability of the likeliest class.",
        unit="share",
        values=lambda result: result.confidence,
    ),
    N_LABELS,
    TableColumn(
        name="tied",
        title="Tied",
        help="Whether two or more classes are equally likely.",
        unit="yes or no",
        values=lambda result: result.tied,
    ),
    TableColumn(
        name=SCORE,
        title="Scores",
        help="What the method tells of the item in its own terms, such as its difficulty. Scores "
        "of different methods do not compare.",
        unit="score",
        values=lambda result: result.item_scores,
    ),
    TableColumn(
        name=PROBABILITY,
        title="Probabilities",
        help="The probability of each class.",
        unit="share",
        values=lambda result: _by_class(result.data.classes, result.posterior),
    ),
)
"""Columns of truths.csv and truths.parquet."""

LABEL_COLUMNS: tuple[TableColumn[LabelSource], ...] = (
    TableColumn(
        name="item",
        title="Item",
        help="The labelled item.",
        unit="name",
        values=lambda source: as_categories(source.data.item, source.data.items),
    ),
    TableColumn(
        name="worker",
        title="Worker",
        help="Who gave the label.",
        unit="name",
        values=lambda source: as_categories(source.data.worker, source.data.workers),
    ),
    TableColumn(
        name="label",
        title="Label",
        help="The class that the worker gave, or the rating.",
        unit="class",
        values=lambda source: (
            source.data.label
            if source.data.kind == "ratings"
            else as_categories(source.data.label, source.data.classes)
        ),
    ),
    TableColumn(
        name="truth",
        title="Truth",
        help="The class that the method inferred for the item; empty where it is undecided.",
        unit="class",
        values=_if_result(
            lambda result: as_categories(result.truth[result.data.item], result.data.classes)
        ),
    ),
    TableColumn(
        name="confidence",
        title="Confidence",
        help="The probability of the item's likeliest class.",
        unit="share",
        values=_if_result(lambda result: result.confidence[result.data.item]),
    ),
    TableColumn(
        name="agrees",
        title="Agrees",
        help="Whether the label is the truth.",
        unit="yes or no",
        values=_if_result(lambda result: result.truth[result.data.item] == result.data.label),
    ),
    TableColumn(
        name="time",
        title="Time",
        help="When the label was given, where the file says so.",
        unit="seconds",
        values=lambda source: source.data.time,
    ),
)
"""Columns of labels; truth, confidence and agrees only beside a result, time where it is known."""


def items(source: CrowdData | Result) -> pd.DataFrame:
    """Make a table of items, one row per item in the order of the codes.

    Parameters
    ----------
    source
        A data set, or a result with its truths.

    Returns
    -------
    pandas.DataFrame
        The columns of `ITEM_COLUMNS` for a data set, those of `TRUTH_COLUMNS` for a result.
    """
    if isinstance(source, Result):
        return source.truths()
    table = build_table(ITEM_COLUMNS, source)
    taken = {column.name for column in ITEM_COLUMNS}
    return table.rename(columns=lambda name: _detail_name(name, taken))


def labels(source: CrowdData | Result) -> pd.DataFrame:
    """Make a table of labels, one row per label in the order of the data.

    Labels of workers whom a run left out are not among those of its result.

    Parameters
    ----------
    source
        A data set, or a result, whose truths then stand beside the labels.

    Returns
    -------
    pandas.DataFrame
        The columns of `LABEL_COLUMNS`, beside a result those of its kind; names are categories,
        ratings numbers.
    """
    from crowdcore.audit.kinds import audit_of

    if isinstance(source, Result):
        columns = audit_of(source.data.kind).label_columns
        return build_table(columns, LabelSource(source.data, source))
    return build_table(LABEL_COLUMNS, LabelSource(source, None))


def predictions(names: Sequence[str], classes: Sequence[str], posterior: Floats) -> pd.DataFrame:
    """Make a table of items that a classifier predicted, with columns as in `TRUTH_COLUMNS`.

    Parameters
    ----------
    names
        The items [N].
    classes
        The classes [K].
    posterior
        The probability of each class [N, K].

    Returns
    -------
    pandas.DataFrame
        Columns item, truth, confidence and a column `p:` per class.
    """
    columns: dict[str, Any] = {
        "item": _texts(names),
        "truth": _texts(np.array(classes, dtype=object)[posterior.argmax(1)]),
        "confidence": posterior.max(1),
    }
    for name, values in _by_class(classes, posterior).items():
        columns[PROBABILITY + name] = values
    return pd.DataFrame(columns)


def number_predictions(names: Sequence[str], numbers: NumberPredictions) -> pd.DataFrame:
    """Make a table of items whose numbers were predicted, with columns as those of truths.

    Parameters
    ----------
    names
        The items [N].
    numbers
        What was predicted of them.

    Returns
    -------
    pandas.DataFrame
        Columns item, truth, spread, low and high.
    """
    columns = {name: getattr(numbers, name) for name in ("truth", "spread", "low", "high")}
    return pd.DataFrame({"item": _texts(names), **columns})


def _detail_name(name: str, taken: Collection[str]) -> str:
    """Show a detail under its own name, unless a column of the table has it."""
    plain = name.removeprefix(DETAIL)
    return f"{plain} (detail)" if plain != name and plain in taken else plain
