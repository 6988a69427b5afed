"""Files in which there is nothing to audit: what they seem to be, and what to export instead."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crowdcore.reading.candidates.kinds import numbers_of
from crowdcore.reading.candidates.measures import Measures
from crowdcore.reading.candidates.reading import Refusal
from crowdcore.reading.columns.names import (
    is_derived_name,
    item_strength,
    label_strength,
    words_of,
    worker_strength,
)
from crowdcore.wording import join_names

EXPORT_EACH = "Export the single answers, one row per worker and item, with the worker's id."

_MOST = 0.9
_MIN_COLUMNS = 2


def vote_counts(measures: Measures, columns: Sequence[str]) -> bool:
    """Tell whether columns count votes per class rather than hold labels.

    Counts of one row add up to the same number everywhere, or to a column of totals; shares
    add up to one.

    Parameters
    ----------
    measures
        The table.
    columns
        Columns of numbers.

    Returns
    -------
    bool
    """
    if len(columns) < _MIN_COLUMNS:
        return False
    numbers = [_numbers(measures, column) for column in columns]
    if any(values is None for values in numbers):
        return False
    table = np.nan_to_num(np.array(numbers, float))
    sums = table.sum(0)
    if (table < 0).any() or not len(sums):
        return False
    if sum("count" in words_of(c) or "votes" in words_of(c) for c in columns) > len(columns) / 2:
        return True
    typical = float(np.median(sums))
    is_same = np.isclose(sums, typical, rtol=0, atol=0.02)
    if typical > 0 and is_same.mean() >= _MOST and np.unique(table).size > 1:
        whole = np.equal(table, np.round(table)).all()
        binary = bool(np.isin(table, (0, 1)).all())
        return not (whole and binary and typical > 1)  # k of n ticked: several workers may agree
    totals = [c for c in measures.profile.columns if c not in columns and is_derived_name(c)]
    return any(
        (values := _numbers(measures, column)) is not None
        and np.isclose(np.nan_to_num(values), sums).mean() >= _MOST
        for column in totals
    )


def _numbers(measures: Measures, column: str) -> np.ndarray | None:
    if numbers_of(measures.facts(column).values) is None:
        return None
    coded = measures.profile.coded(column)
    values = np.array([_number(name) for name in coded.names])
    return values[coded.codes]


def _number(text: str) -> float:
    try:
        return float(text.strip().rstrip("%"))
    except ValueError:
        return float("nan")


def describe(measures: Measures) -> Refusal:
    """Say what a table without readable labels seems to be.

    Parameters
    ----------
    measures
        The table.

    Returns
    -------
    Refusal
    """
    columns = measures.profile.columns
    counted = [c for c in columns if numbers_of(measures.facts(c).values) is not None]
    workers = [c for c in columns if worker_strength(c) > 1 and measures.facts(c).n_distinct]
    derived = [c for c in columns if is_derived_name(c)]
    if workers and all(measures.facts(column).is_constant for column in workers):
        name = measures.facts(workers[0]).values[0]
        return Refusal(
            seems=f"the work of one annotator: {workers[0]!r} is always {name!r}",
            advice="One annotator cannot be checked against others. Give the files of all "
            "annotators together, in a zip or a folder.",
        )
    if workers and all(measures.facts(column).is_unique for column in workers):
        return Refusal(
            seems=f"a list of workers: {workers[0]!r} never comes twice, so nobody labelled two "
            "items",
            advice=EXPORT_EACH,
        )
    if derived and not workers:
        return Refusal(
            seems=f"an aggregated report: {join_names(derived[:3])} "
            f"{'say' if len(derived) > 1 else 'says'} what became of the answers, and no column "
            "says who gave them",
            advice=EXPORT_EACH,
        )
    groups = [c for c in counted if not item_strength(c) and not worker_strength(c)]
    if vote_counts(measures, groups):
        return Refusal(
            seems=f"votes that were already counted: {join_names(groups[:4])} are numbers for each "
            "class",
            advice=EXPORT_EACH,
        )
    labels = [column for column in columns if label_strength(column)]
    if not workers:
        about = f" ({join_names(labels[:2])})" if labels else ""
        return Refusal(
            seems=f"labels{about} without annotators: no column says who gave which label",
            advice=f"{EXPORT_EACH} If a column does name the worker, choose it by hand.",
        )
    return Refusal(
        seems=f"a table in which no column is an answer: {join_names(workers[:2])} may be the "
        "worker, and nothing varies as labels do",
        advice=f"{EXPORT_EACH} If a column does hold the labels, choose it by hand.",
    )
