"""Checks of names: ids that differ by case or blanks only, and one person with two names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from crowdcore.codes import natural_order
from crowdcore.reading.findings import MAX_EXAMPLES, Finding, make_finding
from crowdcore.reading.labels.coded_labels import CodedLabels
from crowdcore.wording import count, join_names

_MIN_SAME = 5
"""Labels that two workers share at the very same times before they may be one person."""

_MIN_SAME_UNTIMED = 20
_MIN_AGAINST = 3
"""Without times: so many of the shared labels must be those that nobody else gave."""

_MIX = np.uint64(0x9E3779B97F4A7C15)


def check_names(labels: CodedLabels) -> list[Finding]:
    """Check the names of items and workers.

    Parameters
    ----------
    labels
        The labels as they will be used.

    Returns
    -------
    list of Finding
    """
    return [
        _similar("similar_items", labels.items),
        _similar("similar_workers", labels.workers),
        _twins(labels),
    ]


def _similar(id: str, names: Sequence[str]) -> Finding:
    """Find names that differ only by case or blanks."""
    folded = [name.casefold().replace(" ", "") for name in names]
    groups: dict[str, list[str]] = defaultdict(list)
    if len(set(folded)) < len(names):
        for key, name in zip(folded, names, strict=True):
            groups[key].append(name)
    alike = [group for group in groups.values() if len(group) > 1]
    examples = (join_names(natural_order(group)) for group in alike)
    n_names = sum(map(len, alike))
    if id == "similar_items":
        return make_finding("similar_items", n_names, severity="warning", examples=examples)
    return make_finding("similar_workers", n_names, severity="warning", examples=examples)


def _twins(labels: CodedLabels) -> Finding:
    """Find workers who gave the same labels to the same items, at the same times where known.

    In easy tasks many workers agree on everything. So times must be equal, too; without times the
    two must share labels that nobody else gave.
    """
    n_workers = len(labels.workers)
    keys = _mixed(labels.item.astype(np.uint64), labels.label.astype(np.uint64))
    timed = labels.time is not None and bool(np.isfinite(labels.time).all())
    if timed and labels.time is not None:
        keys = _mixed(keys, labels.time.view(np.uint64))
    sums = np.zeros(n_workers, np.uint64)
    np.add.at(sums, labels.worker, keys)
    sizes = labels.labels_per_worker
    enough = sizes >= (_MIN_SAME if timed else _MIN_SAME_UNTIMED)
    if timed:
        enough &= _n_distinct_times(labels) > 1
    else:
        enough &= _n_against(labels) >= _MIN_AGAINST
    groups: dict[tuple[int, int], list[int]] = defaultdict(list)
    for worker in np.flatnonzero(enough).tolist():
        groups[int(sizes[worker]), int(sums[worker])].append(worker)
    same = [group for group in groups.values() if len(group) > 1]
    when = " at the same times" if timed else ""
    return make_finding(
        "twin_workers",
        sum(map(len, same)),
        severity="warning",
        examples=(
            f"{join_names([labels.workers[w] for w in group])}: the same "
            f"{count(int(sizes[group[0]]), 'label')}{when}"
            for group in same[:MAX_EXAMPLES]
        ),
    )


def _mixed(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix two arrays of numbers into one, so that sums of it tell sets apart."""
    mixed = (first * _MIX) ^ ((second + _MIX) * _MIX)
    mixed ^= mixed >> np.uint64(29)
    mixed *= _MIX
    return np.asarray(mixed ^ (mixed >> np.uint64(32)), np.uint64)


def _n_distinct_times(labels: CodedLabels) -> NDArray[np.int64]:
    """Count the distinct times of each worker [W]: a batch may be sent in at one time."""
    times = np.unique(labels.time, return_inverse=True)[1] if labels.time is not None else 0
    pairs = np.unique(labels.worker.astype(np.int64) << 32 | times)
    return np.bincount(pairs >> 32, minlength=len(labels.workers))


def _n_against(labels: CodedLabels) -> NDArray[np.int64]:
    """Count for each worker [W] the labels that at most one other gave, against somebody else."""
    pairs = labels.item.astype(np.int64) << 32 | labels.label
    _, inverse, counts = np.unique(pairs, return_inverse=True, return_counts=True)
    n_same = counts[inverse]
    against = (n_same == 2) & (labels.labels_per_item[labels.item] > n_same)  # noqa: PLR2004
    return np.bincount(labels.worker[against], minlength=len(labels.workers))
