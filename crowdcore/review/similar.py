"""Items like another one: by their features where there are any, else by who said what."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import CrowdData, Floats

MAX_NUMBERS = 40_000_000
"""Features are compared of so many items that this many numbers are read."""


def similar_items(data: CrowdData, item: int, limit: int = 5) -> tuple[list[int], str]:
    """Find items like one that is looked at.

    Parameters
    ----------
    data
        The labels, with features where there are any.
    item
        The code of the item.
    limit
        Items at most.

    Returns
    -------
    tuple
        Codes of the items, the most similar first, and by what they are similar: "features",
        "labels", or "" where nothing tells.
    """
    if data.features is not None and np.isfinite(data.features[item]).all():
        return _by_features(data, item, limit), "features"
    if data.kind == "classes":
        return _by_labels(data, item, limit), "labels"
    return [], ""


def _by_features(data: CrowdData, item: int, limit: int) -> list[int]:
    assert data.features is not None
    table = data.features.reshape(data.n_items, -1)
    n_read = max(limit + 1, min(data.n_items, MAX_NUMBERS // max(1, table.shape[1])))
    table = table[:n_read]
    own = data.features[item].reshape(-1)
    scale = np.nanstd(table, axis=0)
    scale[~(scale > 0)] = 1
    distance: Floats = np.nanmean(((table - own) / scale) ** 2, axis=1, dtype=np.float64)
    distance = np.where(np.isfinite(distance), distance, np.inf)
    if item < n_read:
        distance[item] = np.inf
    return _smallest(distance, limit)


def _by_labels(data: CrowdData, item: int, limit: int) -> list[int]:
    """Items with the same votes, first those to which the same workers gave the same labels."""
    same_votes = np.flatnonzero((data.votes == data.votes[item]).all(1))
    mine = data.item == item
    given = np.full(data.n_workers, -1)
    given[data.worker[mine]] = data.label[mine]
    candidate = np.zeros(data.n_items, bool)
    candidate[same_votes] = True
    rows = candidate[data.item] & (given[data.worker] == data.label)
    shared = np.bincount(data.item[rows], minlength=data.n_items)
    distance = np.where(candidate, -shared.astype(np.float64), np.inf)
    distance[item] = np.inf
    return _smallest(distance, limit)


def _smallest(distance: NDArray[np.float64], limit: int) -> list[int]:
    n = min(limit, len(distance))
    nearest = np.argpartition(distance, n - 1)[:n] if n else np.array([], np.intp)
    nearest = nearest[np.argsort(distance[nearest], kind="stable")]
    found: list[int] = nearest[np.isfinite(distance[nearest])].tolist()
    return found
