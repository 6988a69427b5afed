"""How often every two workers agree, and robust means over a worker's comparisons."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import CrowdData, DataError, Floats
from crowdcore.engine.bags import bag_starts

MAX_PAIRS = 10_000_000
"""Ordered pairs of workers with a common item; about 1 GB while they are compared."""

POWER_ITERATIONS = 100
"""Iterations that find the leading eigenvector."""


@dataclass(frozen=True, kw_only=True, eq=False)
class WorkerPairs:
    """Ordered pairs of workers with common items, ordered by the first worker.

    Attributes
    ----------
    first, second : array of int [P]
        The two workers.
    common : array of float [P]
        How many items both labelled.
    skill : array of float [P]
        Agreement above chance, whose mean is the product of the two workers' skills.
    starts : array of int [W + 1]
        Where each first worker's pairs start.
    chance : float
        How often two workers would agree who answer blindly.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    common: Floats
    skill: Floats
    starts: NDArray[np.int64]
    chance: float

    @property
    def agreement(self) -> Floats:
        """The share of the common items to which both gave the same class [P]."""
        return self.chance + (1 - self.chance) * self.skill


def compare_workers(data: CrowdData) -> WorkerPairs:
    """Count common items and agreements of all pairs of workers, by two sparse products.

    Parameters
    ----------
    data : CrowdData
        The labels.

    Returns
    -------
    WorkerPairs

    Raises
    ------
    DataError
        If there may be more than `MAX_PAIRS` pairs.
    """
    from scipy.sparse import csr_array

    workers, classes = data.n_workers, data.n_classes
    max_pairs = min(int((data.labels_per_item**2).sum()), workers**2)
    if max_pairs > MAX_PAIRS:
        raise DataError(
            f"This method compares every two workers with a common item, here up to {max_pairs:,} "
            f"pairs; it takes at most {MAX_PAIRS:,}",
            fix="Use kos, zc or iwmv, which look at one worker at a time.",
        )
    ones, cell = np.ones(data.n_labels), data.item.astype(np.int64) * classes + data.label
    labelled = csr_array((ones, (data.worker, data.item)), (workers, data.n_items))
    given = csr_array((ones, (data.worker, cell)), (workers, data.n_items * classes))
    both = (labelled @ labelled.T + 1j * (given @ given.T)).tocoo()  # common + i x agreements
    off_diagonal = np.flatnonzero(both.row != both.col)
    first, value = both.row[off_diagonal].astype(np.int64), both.data[off_diagonal]
    chance = 1 / max(2, classes)
    return WorkerPairs(
        first=first,
        second=both.col[off_diagonal].astype(np.int64),
        common=value.real,
        skill=(value.imag / value.real - chance) / (1 - chance),
        starts=np.append(bag_starts(np.bincount(first, minlength=workers)), len(first)),
        chance=chance,
    )


def skill_signs(pairs: WorkerPairs, n_labels: NDArray[np.int64]) -> Floats:
    """Tell which workers are better and worse than chance, by the leading eigenvector.

    Parameters
    ----------
    pairs : WorkerPairs
        Agreements above chance, which count by the number of common items.
    n_labels : array of int [W]
        Labels per worker; most labels are thought to come from workers better than chance.

    Returns
    -------
    array of float [W]
        +1 for better than chance, -1 for worse.
    """
    from scipy.sparse import csr_array

    size = (len(n_labels), len(n_labels))
    degree = np.bincount(pairs.first, pairs.common, minlength=len(n_labels))
    scale = 1 / np.sqrt(np.maximum(degree, 1))
    values = pairs.common * pairs.skill * scale[pairs.first] * scale[pairs.second]
    matrix = csr_array((values, pairs.second, pairs.starts), size)
    vector = np.sqrt(degree)
    for _ in range(POWER_ITERATIONS):
        vector = vector + matrix @ vector
        vector /= max(float(np.abs(vector).max()), 1e-300)
    sign = np.where(vector < 0, -1.0, 1.0)
    return sign if sign @ n_labels >= 0 else -sign


def trimmed_mean(pairs: WorkerPairs, ratio: Floats, skill: Floats, trim: float) -> Floats:
    """Average each worker's pairs, without the extremes on either side of their own skill.

    A pair counts as least squares would have it: common items x the second's skill squared.

    Parameters
    ----------
    pairs : WorkerPairs
        Pairs of workers.
    ratio : array of float [P]
        What each pair says about the first worker's skill.
    skill : array of float [W]
        The workers' skills so far.
    trim : float
        Share of a worker's pairs that is left out at either end.

    Returns
    -------
    array of float [W]
        The means; the skill so far where nothing is left.
    """
    # One sort orders all workers' ratios: a ratio is squeezed into 0..1 behind its worker's code.
    squeezed = 0.5 + 0.5 * ratio / (1 + np.abs(ratio))
    order = np.argsort(pairs.first + squeezed)
    weight = (pairs.common * skill[pairs.second] ** 2)[order]
    weight_before = np.concatenate([[0], np.cumsum(weight)])
    sum_before = np.concatenate([[0], np.cumsum(weight * ratio[order])])
    size, level = len(skill), skill[pairs.first]
    max_trimmed = np.floor(trim * np.diff(pairs.starts)).astype(np.int64)
    below = np.bincount(pairs.first[ratio < level], minlength=size)
    above = np.bincount(pairs.first[ratio > level], minlength=size)
    low = pairs.starts[:-1] + np.minimum(below, max_trimmed)
    high = pairs.starts[1:] - np.minimum(above, max_trimmed)
    remaining = weight_before[high] - weight_before[low]
    mean = (sum_before[high] - sum_before[low]) / np.where(remaining > 0, remaining, 1)
    return np.where(remaining > 0, mean, skill)
