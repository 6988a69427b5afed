"""Ridge regression whose penalty is the one that foretells left-out items best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import Floats

PENALTIES = 10.0 ** np.arange(-6, 1.01, 0.25)
"""Penalties that are tried, as shares of the largest eigenvalue of the features' products."""

MIN_FREEDOM = 1e-6
"""The least share of an item's residual that its own target leaves; less is rounding."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Ridge:
    """A linear function of features.

    Attributes
    ----------
    weight : array [D]
        Of each feature.
    intercept : float
        What is predicted where all features are 0.
    left_out : array [n]
        The error for each item by all others: target less prediction.
    """

    weight: Floats
    intercept: float
    left_out: Floats

    @property
    def left_out_variance(self) -> float:
        """The mean squared error for items that were left out."""
        return float((self.left_out**2).mean())


def fit_ridge(x: NDArray[Any], y: NDArray[Any]) -> Ridge:
    """Fit targets by a linear function of features, with a penalty chosen by leaving one out.

    The smaller of the two matrices of products, items × items or features × features, is
    decomposed once; errors of left-out items follow from it for every penalty.

    Parameters
    ----------
    x : array [n, D]
        Features of the items.
    y : array [n]
        Their targets.

    Returns
    -------
    Ridge
    """
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    mean_x, mean_y = x.mean(0), float(y.mean())
    x, y = x - mean_x, y - mean_y
    if len(x) <= x.shape[1]:
        values, vectors = np.linalg.eigh(x @ x.T)
        values = values.clip(min=0)
        scores = vectors * np.sqrt(values)  # [n, R]: the items along the main directions
    else:
        values, vectors = np.linalg.eigh(x.T @ x)
        values = values.clip(min=0)
        scores = x @ vectors
    largest = float(values[-1]) or 1.0
    products, squares = scores.T @ y, scores**2
    best: tuple[float, Floats, float] | None = None
    for penalty in largest * PENALTIES:
        own = squares @ (1 / (values + penalty)) + 1 / len(x)  # the diagonal of the hat matrix
        residual = y - scores @ (products / (values + penalty))
        left_out = residual / (1 - own).clip(min=MIN_FREEDOM)
        error = float((left_out**2).mean())
        if best is None or error < best[0]:
            best = error, left_out, penalty
    assert best is not None
    _, left_out, penalty = best
    if len(x) <= x.shape[1]:
        weight = x.T @ (vectors @ ((vectors.T @ y) / (values + penalty)))
    else:
        weight = vectors @ (products / (values + penalty))
    return Ridge(weight=weight, intercept=mean_y - float(mean_x @ weight), left_out=left_out)
