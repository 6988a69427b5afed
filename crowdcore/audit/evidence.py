"""The labels behind a judgement: what one worker gave, and what others and the truths say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crowdcore.data import UNKNOWN, Codes, CrowdData, DataError, Floats

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from crowdcore.result import Result


def labels_of_worker(result: Result, worker: str) -> pd.DataFrame:
    """One row for each label of a worker, the best-known truths first.

    Columns: item, given, truth ("" if undecided), confidence, n_labels (of the item), same (how
    many others gave the same), differs (from a decided truth), gold ("" if none).
    """
    import pandas as pd

    data = result.data
    rows = np.flatnonzero(data.worker == worker_code(data, worker))
    item, given = data.item[rows], data.label[rows]
    truth = result.truth[item]
    gold = np.full(len(item), UNKNOWN) if data.gold is None else data.gold[item]
    frame = pd.DataFrame(
        {
            "item": _names(data.items, item),
            "given": _names(data.classes, given),
            "truth": _names(data.classes, truth),
            "confidence": result.confidence[item],
            "n_labels": data.labels_per_item[item],
            "same": data.votes[item, given] - 1,
            "differs": (truth != UNKNOWN) & (truth != given),
            "gold": _names(data.classes, gold),
        }
    )
    return frame.sort_values("confidence", ascending=False, kind="stable", ignore_index=True)


def labels_of_item(data: CrowdData, item: str) -> pd.DataFrame:
    """One row for each label of an item: worker and label, in the order of the data."""
    import pandas as pd

    if item not in data.items:
        raise DataError(f"There is no item called {item!r}")
    rows = np.flatnonzero(data.item == data.items.index(item))
    return pd.DataFrame(
        {
            "worker": _names(data.workers, data.worker[rows]),
            "label": _names(data.classes, data.label[rows]),
        }
    )


def label_counts(result: Result, worker: str) -> NDArray[np.int64]:
    """Count a worker's labels [true, given]; labels on undecided items are left out."""
    data = result.data
    return cell_counts(result, np.flatnonzero(data.worker == worker_code(data, worker)))


def cell_counts(result: Result, rows: NDArray[np.intp]) -> NDArray[np.int64]:
    """Count some labels [true, given]; those on undecided items are left out."""
    data = result.data
    truth, given = result.truth[data.item[rows]], data.label[rows]
    known = truth != UNKNOWN
    cell = truth[known].astype(np.int64) * data.n_classes + given[known]
    return np.bincount(cell, minlength=data.n_classes**2).reshape(data.n_classes, data.n_classes)


def habit(result: Result, worker: str) -> tuple[float, Floats] | None:
    """How often a worker does not look at the item, and what they give then [K]; None if unknown.

    Only methods that take a label for either known or spam tell this.
    """
    found, code = result.artefacts.get("spamming"), worker_code(result.data, worker)
    if found is None or not result.data.labels_per_worker[code]:
        return None
    return float(found["share"][code]), np.asarray(found["habit"][code])


def given_shares(data: CrowdData, worker: str) -> tuple[Floats, Floats]:
    """How often a worker gives each class [K], and how often others do on the same items [K].

    Every item weighs as often as the worker labelled it, so that the two compare; where nobody
    else labelled any of them, the second is NaN.
    """
    rows = np.flatnonzero(data.worker == worker_code(data, worker))
    item, given = data.item[rows], data.label[rows]
    own = np.bincount(given, minlength=data.n_classes) / max(1, len(rows))
    places, back = np.unique(item, return_inverse=True)
    per_item = np.zeros((len(places), data.n_classes), np.int64)
    np.add.at(per_item, (back, given), 1)
    mine = per_item[back]  # all of the worker's own labels of the item, also repeated ones
    rest = data.votes[item] - mine
    total = rest.sum(1)
    shared = total > 0
    if not shared.any():
        return own, np.full(data.n_classes, np.nan)
    others: Floats = (rest[shared] / total[shared, None]).mean(0)
    return own, others


def worker_code(data: CrowdData, worker: str) -> int:
    """Return the code of a worker; an unknown name is a `DataError`."""
    if worker not in data.workers:
        raise DataError(f"There is no worker called {worker!r}")
    return data.workers.index(worker)


def _names(names: Sequence[str], codes: Codes | NDArray[np.number]) -> pd.Series[str]:
    """Return the names behind some codes; "" for UNKNOWN."""
    import pandas as pd

    whole = codes.astype(np.int64)
    return pd.Series([names[code] if code != UNKNOWN else "" for code in whole], dtype="str")
