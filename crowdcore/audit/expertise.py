"""How often workers are right about each class: as estimated, and as gold shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdcore.confusion import worker_confusion
from crowdcore.data import CrowdData, Floats
from crowdcore.results.result import Result

MIN_GOLD_ITEMS = 5
"""Gold items of a class that a worker must have labelled for a share of them to be told."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Expertise:
    """P(right | class) of every worker; of two classes, specificity and sensitivity."""

    workers: tuple[str, ...]
    classes: tuple[str, ...]
    n_labels: NDArray[np.int64]  # [W]
    right: Floats  # [W, K] as estimated, on the items that they saw
    gold: Floats  # [W, K] as counted on gold; NaN where there is too little


def expertise(result: Result) -> Expertise:
    """Read every worker's expertise from a result.

    Parameters
    ----------
    result
        What a method inferred; without confusion matrices they come from its posterior.

    Returns
    -------
    Expertise
        Estimates, also where labels are few, and counts on gold, where there is enough.
    """
    data = result.data
    return Expertise(
        workers=data.workers,
        classes=data.classes,
        n_labels=data.labels_per_worker,
        right=np.diagonal(worker_confusion(result), axis1=1, axis2=2).copy(),
        gold=_on_gold(data),
    )


def _on_gold(data: CrowdData) -> Floats:
    """The share of right labels on gold items of each class [W, K]."""
    shape = (data.n_workers, data.n_classes)
    if data.gold is None:
        return np.full(shape, np.nan)
    on_gold = data.has_gold[data.item]
    truth = data.gold[data.item[on_gold]].astype(np.int64)
    cell = data.worker[on_gold] * np.int64(data.n_classes) + truth
    right = (data.label[on_gold] == truth).astype(np.float64)
    n = np.bincount(cell, minlength=shape[0] * shape[1])
    hits = np.bincount(cell, weights=right, minlength=shape[0] * shape[1])
    share: Floats = np.where(n >= MIN_GOLD_ITEMS, hits / np.maximum(n, 1), np.nan)
    return share.reshape(shape)
