"""What a method returned, as arrays that keep its promises: distributions, truths, scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import Floats
from crowdcore.errors import ResultError

Z_95 = 1.959963984540054
"""Standard deviations on either side of a 95 % interval."""

TIE_TOLERANCE = 1e-6
"""Two classes whose probabilities differ by less are tied."""

SUM_TOLERANCE = 1e-3
"""How far a distribution may sum to something else than 1: float32 rows are off by 1e-6 K."""

ROWS_PER_CHUNK = 16_384
"""Rows of a table that are checked at a time, so that they stay in the processor's cache."""

MAX_CLASSES_ONE_BY_ONE = 8
"""Up to so many classes are compared one by one: numpy is slow with short rows."""


def as_array(value: Any, dtype: Any = None) -> NDArray[Any]:
    """Copy a tensor on any device, or anything that numpy takes, as an array.

    Parameters
    ----------
    value
        The tensor, or what numpy takes.
    dtype
        The array's type; None keeps that of the value.
    """
    detach = getattr(value, "detach", None)
    return np.array(value if detach is None else detach().cpu().numpy(), dtype=dtype)


def checked_distributions(value: Any, shape: tuple[int, ...], name: str) -> Floats:
    """Copy distributions over the last axis, normalised to the last digit.

    Parameters
    ----------
    value
        An array or a tensor.
    shape
        What its shape must be.
    name
        What it is, for the error.

    Raises
    ------
    ResultError
        If the shape is another, a probability negative, or a sum not 1.
    """
    array = as_array(value, np.float64)
    if array.shape != shape:
        raise ResultError(f"{name}: shape {array.shape} instead of {shape}")
    for rows in _chunks(array.reshape(-1, shape[-1])):
        lowest = rows.min()
        if not lowest >= -TIE_TOLERANCE:  # also where one is not a number
            raise ResultError(f"{name}: a probability is negative or not a number")
        total = rows @ np.ones((shape[-1], 1))  # several times faster than sum(-1)
        if np.abs(total - 1).max() > SUM_TOLERANCE:
            raise ResultError(f"{name}: a row does not sum to 1")
        if lowest < 0:
            np.maximum(rows, 0, out=rows)
        np.divide(rows, total, out=rows)
    return array


def likeliest_classes(posterior: Floats) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Choose the likeliest class of every item, the first of those that are tied.

    Parameters
    ----------
    posterior
        The probability of each class of each item [N, K].

    Returns
    -------
    tuple of numpy.ndarray
        The codes of the classes [N], and whether they are tied with another [N].
    """
    truth, tied = np.zeros(len(posterior), np.int32), np.zeros(len(posterior), np.bool_)
    chunks = zip(_chunks(posterior), _chunks(truth), _chunks(tied), strict=True)
    for rows, likeliest, is_tied in chunks:
        if rows.shape[1] > MAX_CLASSES_ONE_BY_ONE:
            likeliest[:] = rows.argmax(1)
            top = np.take_along_axis(rows, likeliest[:, None], 1)
            doubtful = np.flatnonzero(top <= 0.5 + TIE_TOLERANCE)  # above a half is never tied
            at_top = rows[doubtful] >= top[doubtful] - TIE_TOLERANCE
            is_tied[doubtful] = np.count_nonzero(at_top, axis=1) > 1
            continue
        best, second = rows[:, 0].copy(), np.full(len(rows), -1.0)
        for code in range(1, rows.shape[1]):
            column = rows[:, code].copy()
            np.copyto(likeliest, code, where=column > best)
            np.maximum(second, np.minimum(column, best), out=second)
            np.maximum(best, column, out=best)
        np.greater_equal(second, best - TIE_TOLERANCE, out=is_tied)
    return truth, tied


def checked_scores(scores: Mapping[str, Any], size: int) -> dict[str, Floats]:
    """Copy scores by name, each so many finite numbers.

    Parameters
    ----------
    scores
        Arrays or tensors by name.
    size
        How many numbers each must have.

    Raises
    ------
    ResultError
        If one has another shape, or a number that is not finite.
    """
    arrays = {name: as_array(value, np.float64) for name, value in scores.items()}
    for name, array in arrays.items():
        if array.shape != (size,) or not np.isfinite(array).all():
            raise ResultError(f"{name}: {size} finite numbers expected")
    return arrays


def _chunks(table: NDArray[Any]) -> Iterator[NDArray[Any]]:
    starts = range(0, len(table), ROWS_PER_CHUNK)
    return (table[start : start + ROWS_PER_CHUNK] for start in starts)
