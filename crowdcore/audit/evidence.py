"""The labels behind a judgement: what one worker gave, and what others and the truths say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crowdcore.artefacts.spam_habits import SpamHabits
from crowdcore.confusion import cell_counts
from crowdcore.data import UNKNOWN, CrowdData, DataError, Floats
from crowdcore.results.result import Result


def labels_of_worker(result: Result, worker: str) -> pd.DataFrame:
    """List the labels of a worker, the best-known truths first.

    Parameters
    ----------
    result
        The truths, and the labels.
    worker
        The worker's name.

    Returns
    -------
    pandas.DataFrame
        One row per label. Columns: item, given, truth ("" if undecided), confidence, n_labels (of
        the item), same (how many others gave the same), differs (from a decided truth), gold ("" if
        none).

    Raises
    ------
    DataError
        Where there is no such worker.
    """
    data = result.data
    rows = np.flatnonzero(data.worker == worker_code(data, worker))
    item, given = data.item[rows], data.label[rows]
    truth = result.truth[item]
    gold = np.full(len(item), UNKNOWN) if data.gold is None else data.gold[item]
    frame = pd.DataFrame(
        {
            "item": _names(data.items, item),
            "given": _texts(data.class_names(given)),
            "truth": _texts(data.class_names(truth)),
            "confidence": result.confidence[item],
            "n_labels": data.labels_per_item[item],
            "same": data.votes[item, given] - 1,
            "differs": (truth != UNKNOWN) & (truth != given),
            "gold": _texts(data.class_names(gold)),
        }
    )
    return frame.sort_values("confidence", ascending=False, kind="stable", ignore_index=True)


def labels_of_item(data: CrowdData, item: str) -> pd.DataFrame:
    """List the labels of an item, in the order of the data.

    Parameters
    ----------
    data
        The labels.
    item
        The item's name.

    Returns
    -------
    pandas.DataFrame
        One row per label. Columns: worker, label.

    Raises
    ------
    DataError
        Where there is no such item.
    """
    if item not in data.items:
        raise DataError(f"There is no item called {item!r}")
    rows = np.flatnonzero(data.item == data.items.index(item))
    return pd.DataFrame(
        {
            "worker": _names(data.workers, data.worker[rows]),
            "label": _texts(data.class_names(data.label[rows])),
        }
    )


def label_counts(result: Result, worker: str) -> NDArray[np.int64]:
    """Count a worker's labels by truth.

    Parameters
    ----------
    result
        The truths, and the labels.
    worker
        The worker's name.

    Returns
    -------
    numpy.ndarray
        Counts [true, given]; labels on undecided items are left out.
    """
    data = result.data
    return cell_counts(result, np.flatnonzero(data.worker == worker_code(data, worker)))


def spam_habit(result: Result, worker: str) -> tuple[float, Floats] | None:
    """Tell how often a worker does not look at the item, and what they give then.

    Only methods that take a label for either known or spam tell this.

    Parameters
    ----------
    result
        What a method inferred.
    worker
        The worker's name.

    Returns
    -------
    tuple or None
        The share of labels given without looking, and the share of each class among them [K];
        None if that is unknown.
    """
    habits, code = result.artefact(SpamHabits), worker_code(result.data, worker)
    if habits is None or not result.data.labels_per_worker[code]:
        return None
    return float(habits.share[code]), habits.habit[code]


def given_shares(data: CrowdData, worker: str) -> tuple[Floats, Floats]:
    """Compare how often a worker gives each class with how often others do on the same items.

    Every item weighs as often as the worker labelled it, so that the two compare.

    Parameters
    ----------
    data
        The labels.
    worker
        The worker's name.

    Returns
    -------
    by_worker
        The share of each class among the worker's labels [K].
    by_others
        The same of others [K]; NaN where nobody else labelled any of the items.
    """
    rows = np.flatnonzero(data.worker == worker_code(data, worker))
    item, given = data.item[rows], data.label[rows]
    by_worker = np.bincount(given, minlength=data.n_classes) / max(1, len(rows))
    items, position = np.unique(item, return_inverse=True)
    per_item = np.zeros((len(items), data.n_classes), np.int64)
    np.add.at(per_item, (position, given), 1)
    # All of the worker's own labels of the item, also repeated ones, are taken off.
    other_votes = data.votes[item] - per_item[position]
    total = other_votes.sum(1)
    is_shared = total > 0
    if not is_shared.any():
        return by_worker, np.full(data.n_classes, np.nan)
    by_others: Floats = (other_votes[is_shared] / total[is_shared, None]).mean(0)
    return by_worker, by_others


def worker_code(data: CrowdData, worker: str) -> int:
    """Return the code of a worker; an unknown name is a `DataError`."""
    if worker not in data.workers:
        raise DataError(f"There is no worker called {worker!r}")
    return data.workers.index(worker)


def _names(names: Sequence[str], codes: NDArray[Any]) -> pd.Series[str]:
    """The names behind a few codes, without touching the others."""
    return _texts([names[code] for code in codes.tolist()])


def _texts(values: Sequence[str] | NDArray[Any]) -> pd.Series[str]:
    return pd.Series(values, dtype="str")
