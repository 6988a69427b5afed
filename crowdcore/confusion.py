"""Confusion matrices of workers, P(given | true), counted under a result's posterior."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import UNKNOWN, Floats

if TYPE_CHECKING:
    from crowdcore.results.result import Result


def worker_confusion(result: Result) -> Floats:
    """Return P(given | true) of each worker: the method's, else counted under the posterior.

    Parameters
    ----------
    result
        Of any method.

    Returns
    -------
    numpy.ndarray
        Matrices [W, true, given], whose rows sum to 1.
    """
    fitted: Floats | None = result.confusion
    if fitted is not None:
        return fitted
    return crowd_shrunk(given_counts(result))


def crowd_shrunk(counts: Floats) -> Floats:
    """Make confusion matrices of counts, each row drawn to the crowd's by one label.

    Parameters
    ----------
    counts
        Labels of each worker [W, true, given].

    Returns
    -------
    numpy.ndarray
        Matrices [W, true, given], whose rows sum to 1.
    """
    crowd = counts.sum(0) + np.eye(counts.shape[-1])
    crowd /= crowd.sum(1, keepdims=True)
    confusion: Floats = (counts + crowd) / (counts.sum(2, keepdims=True) + 1)
    return confusion


def given_counts(result: Result) -> Floats:
    """Count labels under the posterior.

    Parameters
    ----------
    result
        Of any method.

    Returns
    -------
    numpy.ndarray
        Soft counts [W, true, given]: a label counts for each class as much as it is likely.
    """
    data, posterior = result.data, result.posterior
    key = data.worker.astype(np.int64) * data.n_classes + data.label
    size = data.n_workers * data.n_classes
    counts = np.empty((data.n_classes, size))
    for code in range(data.n_classes):
        counts[code] = np.bincount(key, weights=posterior[data.item, code], minlength=size)
    return counts.reshape(-1, data.n_workers, data.n_classes).transpose(1, 0, 2)


def cell_counts(result: Result, rows: NDArray[np.intp]) -> NDArray[np.int64]:
    """Count some labels against the truths.

    Parameters
    ----------
    result
        Of any method.
    rows
        Which labels.

    Returns
    -------
    numpy.ndarray
        Counts [true, given]; labels of undecided items are left out.
    """
    data = result.data
    truth, given = result.truth[data.item[rows]], data.label[rows]
    decided = truth != UNKNOWN
    cell = truth[decided].astype(np.int64) * data.n_classes + given[decided]
    return np.bincount(cell, minlength=data.n_classes**2).reshape(data.n_classes, data.n_classes)


def safe_ratio(numerator: NDArray[Any], denominator: NDArray[Any]) -> Floats:
    """Divide arrays of one shape, with NaN where there is nothing to divide by.

    Parameters
    ----------
    numerator, denominator
        Counts or sums of one shape.

    Returns
    -------
    numpy.ndarray
        The ratios; NaN where the denominator is not above 0.
    """
    nothing = np.full(np.shape(denominator), np.nan)
    ratio: Floats = np.divide(numerator, denominator, out=nothing, where=denominator > 0)
    return ratio
