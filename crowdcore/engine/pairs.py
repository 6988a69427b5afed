"""How often every two workers agree, and robust means over a worker's comparisons."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import CrowdData, DataError, Floats

MOST_PAIRS = 10_000_000
"""Most ordered pairs of workers with a common item; about 1 GB while they are compared."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Pairs:
    """Ordered pairs of workers with common items, ordered by the first worker."""

    one: NDArray[np.int64]
    other: NDArray[np.int64]
    common: Floats  # how many items both labelled
    skill: Floats  # agreement above chance, whose mean is skill x skill
    starts: NDArray[np.int64]  # [W + 1], where each first worker's pairs start
    chance: float  # how often two workers would agree who answer blindly

    @property
    def agreement(self) -> Floats:
        """The share of the common items on which both say the same."""
        return self.chance + (1 - self.chance) * self.skill


def compare(data: CrowdData) -> Pairs:
    """Count common items and agreements of all pairs, by two sparse products."""
    from scipy.sparse import csr_array

    workers, classes = data.n_workers, data.n_classes
    most = min(int((data.labels_per_item**2).sum()), workers**2)
    if most > MOST_PAIRS:
        raise DataError(
            f"M-MSR compares every two workers with a common item, here up to {most:,} pairs; "
            f"it takes at most {MOST_PAIRS:,}",
            fix="Use kos, zc or iwmv, which look at one worker at a time.",
        )
    ones, given = np.ones(data.n_labels), data.item.astype(np.int64) * classes + data.label
    seen = csr_array((ones, (data.worker, data.item)), (workers, data.n_items))
    said = csr_array((ones, (data.worker, given)), (workers, data.n_items * classes))
    both = (seen @ seen.T + 1j * (said @ said.T)).tocoo()  # common items + i x agreements
    order = np.flatnonzero(both.row != both.col)
    one, value = both.row[order].astype(np.int64), both.data[order]
    chance = 1 / max(2, classes)
    return Pairs(
        one=one,
        other=both.col[order].astype(np.int64),
        common=value.real,
        skill=(value.imag / value.real - chance) / (1 - chance),
        starts=np.concatenate([[0], np.cumsum(np.bincount(one, minlength=workers))]),
        chance=chance,
    )


def signs(pairs: Pairs, n_labels: NDArray[np.int64]) -> Floats:
    """Which workers are better (+1) and worse (-1) than chance: the leading eigenvector.

    The agreements above chance count as often as they were seen; most labels are thought to
    come from workers who are better than chance.
    """
    from scipy.sparse import csr_array

    size = (len(n_labels), len(n_labels))
    degree = np.bincount(pairs.one, pairs.common, minlength=len(n_labels))
    scale = 1 / np.sqrt(np.maximum(degree, 1))
    values = pairs.common * pairs.skill * scale[pairs.one] * scale[pairs.other]
    matrix = csr_array((values, pairs.other, pairs.starts), size)
    vector = np.sqrt(degree)
    for _ in range(100):
        vector = vector + matrix @ vector
        vector /= max(float(np.abs(vector).max()), 1e-300)
    sign = np.where(vector < 0, -1.0, 1.0)
    return sign if sign @ n_labels >= 0 else -sign


def trimmed_mean(pairs: Pairs, ratio: Floats, own: Floats, trim: float) -> Floats:
    """Mean over each worker's pairs, without the extremes on either side of their own value.

    A pair counts as least squares would have it: common items x the other's skill squared.
    """
    # One sort orders all workers' ratios: a ratio is squeezed into 0..1 behind its worker's code.
    squeezed = 0.5 + 0.5 * ratio / (1 + np.abs(ratio))
    order = np.argsort(pairs.one + squeezed)
    weight = (pairs.common * own[pairs.other] ** 2)[order]
    total = np.concatenate([[0], np.cumsum(weight)])
    amount = np.concatenate([[0], np.cumsum(weight * ratio[order])])
    size, level = len(own), own[pairs.one]
    most = np.floor(trim * np.diff(pairs.starts)).astype(np.int64)
    below = np.bincount(pairs.one[ratio < level], minlength=size)
    above = np.bincount(pairs.one[ratio > level], minlength=size)
    low = pairs.starts[:-1] + np.minimum(below, most)
    high = pairs.starts[1:] - np.minimum(above, most)
    left = total[high] - total[low]
    mean = (amount[high] - amount[low]) / np.where(left > 0, left, 1)
    return np.where(left > 0, mean, own)
