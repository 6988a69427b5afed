"""Classes of a result of sets: how common, how well told apart, and which go together."""

from __future__ import annotations

import numpy as np
import pandas as pd

from crowdcore.audit.sets.answer_pairs import sets_of
from crowdcore.confusion import safe_ratio
from crowdcore.data import Floats
from crowdcore.engine.set_answers import ticks_per_item
from crowdcore.results.result import Result

MIN_ITEMS = 3
"""Items in which two classes must meet, or be mistaken, to be spoken of."""


def class_table(result: Result) -> pd.DataFrame:
    """List the classes with how common they are and how far workers agree on them.

    Parameters
    ----------
    result
        A result of sets.

    Returns
    -------
    pandas.DataFrame
        One row per class: `n_items` of which it is a truth, `ticks` of all workers, `found` (the
        share of answers to such items that tick it), `added` (the share of answers to other items
        that tick it), and against gold `gold_precision`, `gold_recall` and `gold_f1`, NaN where
        there is no gold.
    """
    data, truth = result.data, result.truth
    ticks, answers = ticks_per_item(data), data.labels_per_item
    on_truth = (ticks * truth).sum(0).astype(np.float64)
    elsewhere = (ticks * ~truth).sum(0).astype(np.float64)
    there = (answers[:, None] * truth).sum(0).astype(np.float64)
    not_there = (answers[:, None] * ~truth).sum(0).astype(np.float64)
    score = result.score()
    rates = np.full((data.n_classes, 3), np.nan)
    if score is not None:
        rates = np.array([score.by_class[name][:3] for name in data.classes])
    return pd.DataFrame(
        {
            "class": list(data.classes),
            "n_items": truth.sum(0),
            "ticks": ticks.sum(0),
            "found": safe_ratio(on_truth, there),
            "added": safe_ratio(elsewhere, not_there),
            "gold_precision": rates[:, 0],
            "gold_recall": rates[:, 1],
            "gold_f1": rates[:, 2],
        }
    )


def co_occurrence(result: Result) -> pd.DataFrame:
    """List pairs of classes that belong to the same items more often than by chance.

    Parameters
    ----------
    result
        A result of sets.

    Returns
    -------
    pandas.DataFrame
        Columns `first`, `second`, `n_items` with both, `expected` if they were independent, and
        `lift`, the ratio; the highest counts first. Pairs in fewer than `MIN_ITEMS` are left out.
    """
    truth = result.truth.astype(np.float64)
    both = truth.T @ truth
    alone = truth.sum(0)
    expected = np.outer(alone, alone) / max(1, len(truth))
    first, second = np.triu_indices(len(alone), 1)
    keep = both[first, second] >= MIN_ITEMS
    first, second = first[keep], second[keep]
    names = np.array(result.data.classes, dtype=object)
    table = pd.DataFrame(
        {
            "first": names[first],
            "second": names[second],
            "n_items": both[first, second].astype(np.int64),
            "expected": expected[first, second],
            "lift": both[first, second] / np.maximum(expected[first, second], 1e-12),
        }
    )
    return table.sort_values("n_items", ascending=False, kind="stable", ignore_index=True)


def confusable(result: Result) -> pd.DataFrame:
    """List pairs of classes that workers take for each other.

    A worker takes class a for class b where a is in the truth and not ticked, and b is ticked and
    not in the truth. Where several are missed or added, each pairing counts in equal parts.

    Parameters
    ----------
    result
        A result of sets.

    Returns
    -------
    pandas.DataFrame
        Columns `missed`, `ticked_instead`, `n_answers`, and `share` of the answers that missed the
        first class; the commonest first. Pairs in fewer than `MIN_ITEMS` answers are left out.
    """
    data, n_classes = result.data, result.data.n_classes
    taken = np.zeros((n_classes, n_classes))
    missed_total = np.zeros(n_classes)
    for start in range(0, data.n_labels, _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        ticked = sets_of(data)[data.label[rows]]
        right = result.truth[data.item[rows]]
        missed, added = (right & ~ticked).astype(np.float64), (ticked & ~right).astype(np.float64)
        missed_total += missed.sum(0)
        taken += missed.T @ _spread_evenly(added)
    first, second = np.nonzero(taken >= MIN_ITEMS)
    names = np.array(data.classes, dtype=object)
    table = pd.DataFrame(
        {
            "missed": names[first],
            "ticked_instead": names[second],
            "n_answers": taken[first, second],
            "share": taken[first, second] / np.maximum(missed_total[first], 1),
        }
    )
    return table.sort_values("n_answers", ascending=False, kind="stable", ignore_index=True)


_ROWS_AT_ONCE = 20_000


def _spread_evenly(rows: Floats) -> Floats:
    """Let the entries of each row add to one; a row of zeros stays."""
    shares: Floats = rows / np.maximum(rows.sum(1, keepdims=True), 1)
    return shares
