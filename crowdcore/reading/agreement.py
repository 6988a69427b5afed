"""How much alike answers are within groups of rows, beyond chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_CODE_BITS = 32


def chance_corrected(groups: Ints, values: Ints) -> float:
    """Return the agreement of values within groups, corrected for chance.

    Parameters
    ----------
    groups, values
        Codes [rows].

    Returns
    -------
    float
        Scott's pi over all pairs of rows of a group; 0 where no group has two rows.
    """
    if not len(groups):
        return 0.0
    sizes = np.bincount(groups)
    in_pairs = sizes[groups] > 1
    groups, values = groups[in_pairs], values[in_pairs]
    if not len(groups):
        return 0.0
    sizes = sizes[sizes > 1]
    counts = np.unique(groups << _CODE_BITS | values, return_counts=True)[1]
    observed = float((counts * (counts - 1)).sum() / (sizes * (sizes - 1)).sum())
    totals = np.unique(values, return_counts=True)[1] / len(values)
    expected = float((totals**2).sum())
    return 0.0 if expected >= 1 else (observed - expected) / (1 - expected)


def numeric_agreement(groups: Ints, values: NDArray[np.float64]) -> float:
    """Return the share of the variance of numbers that groups explain beyond chance.

    Parameters
    ----------
    groups
        Codes [rows].
    values
        Numbers [rows].

    Returns
    -------
    float
        Krippendorff's alpha with squared differences; 0 where no group has two rows.
    """
    sizes = np.bincount(groups)
    in_pairs = sizes[groups] > 1
    groups, values = groups[in_pairs], values[in_pairs]
    if len(groups) < 2:  # noqa: PLR2004
        return 0.0
    sizes = np.bincount(groups)
    several = sizes > 1
    with np.errstate(over="ignore", invalid="ignore"):  # numbers near the end of the range
        sums = np.bincount(groups, values)
        squares = np.bincount(groups, values**2)
        within = squares[several] - sums[several] ** 2 / sizes[several]
        observed = 2 * float((within * sizes[several] / (sizes[several] - 1)).sum()) / len(values)
        expected = 2 * float(values.var()) * len(values) / (len(values) - 1)
    if not (np.isfinite(observed) and np.isfinite(expected)) or expected <= 0:
        return 0.0
    return 1 - observed / expected
