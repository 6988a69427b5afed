"""What a spectral space says: who is near the oracle, and what another centre would change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.artefacts.spectral import SpectralSpace
from crowdcore.data import UNKNOWN, Floats
from crowdcore.results.classes import ClassScore
from crowdcore.results.result import Result

MIN_POINTS = 3
"""Points below which there is no density to draw."""

GRID_SIZE = 72
"""Points along each side of a density."""

MARGIN = 0.15
"""How far a density goes beyond its points, as a share of their width."""


@dataclass(frozen=True, kw_only=True)
class CentreFacts:
    """Where one way to find the oracle leads, against the one that was used."""

    name: str
    n_changed: int  # items with another truth
    distance: float  # between the two oracles, 0 to 1
    score: ClassScore | None  # against gold that the fit has not seen


@dataclass(frozen=True, kw_only=True, eq=False)
class Density:
    """How densely points lie on a plane."""

    x: Floats  # [G]
    y: Floats  # [G]
    height: Floats  # [G of y, G of x], 1 at the peak


def blends(weights: NDArray[Any]) -> Floats:
    """Return weights on the experts as shares of all weight.

    Parameters
    ----------
    weights
        Weights [n, E].

    Returns
    -------
    numpy.ndarray
        Shares [n, E]; zeros where there is no weight.
    """
    weights = np.asarray(weights, np.float64)
    total = weights.sum(1, keepdims=True)
    shares: Floats = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return shares


def distance(weights: NDArray[Any], oracle: NDArray[Any]) -> Floats:
    """Tell what part of each blend is not in the oracle's.

    Parameters
    ----------
    weights
        Weights on the experts [n, E].
    oracle
        The oracle's weights [E].

    Returns
    -------
    numpy.ndarray
        Distances [n]: 0 the same blend, 1 nothing shared.
    """
    shared = np.minimum(blends(weights), blends(oracle[None])).sum(1)
    distances: Floats = np.clip(1 - shared, 0, 1)
    return distances


def comparable_items(result: Result, space: SpectralSpace) -> NDArray[np.bool_]:
    """Tell which items [N] an oracle has a say on: without features, only those with labels."""
    if space.origin == "features":
        return np.ones(result.data.n_items, bool)
    return np.asarray(result.data.labels_per_item > 0)


def changed_items(result: Result, space: SpectralSpace, centre: str) -> NDArray[np.intp]:
    """List the items whose truth a centre changes.

    Parameters
    ----------
    result
        The truths.
    space
        What the method left.
    centre
        Another way to find the oracle than the one that was used.

    Returns
    -------
    numpy.ndarray
        Codes of the items, those first that the centre is surest of.
    """
    used, other = (space.centres.index(name) for name in (space.used, centre))
    differs = (space.truth[used] != space.truth[other]) & comparable_items(result, space)
    items = np.flatnonzero(differs)
    return items[np.argsort(-space.confidence[other][items], kind="stable")]


def centre_facts(result: Result, space: SpectralSpace) -> list[CentreFacts]:
    """Tell what every centre would change, in their order."""
    used = space.oracle[space.centres.index(space.used)]
    return [
        CentreFacts(
            name=name,
            n_changed=len(changed_items(result, space, name)),
            distance=float(distance(space.oracle[[index]], used)[0]),
            score=_score(result, space.truth[index]),
        )
        for index, name in enumerate(space.centres)
    ]


def density(points: Floats) -> Density | None:
    """Estimate a Gaussian density by Scott's rule.

    scipy's `gaussian_kde` takes more than a second to import, which the page would wait for, and
    evaluates every grid point on its own.

    Parameters
    ----------
    points
        Points [n, 2].

    Returns
    -------
    Density or None
        The density on a grid; None where the points are too few or have no width.
    """
    if len(points) < MIN_POINTS or (np.ptp(points, axis=0) <= 1e-9 * np.abs(points).max()).any():
        return None
    width = points.std(0) * len(points) ** (-1 / 6)
    low, high = points.min(0), points.max(0)
    margin = np.maximum(MARGIN * (high - low), 2 * width)
    grid = np.linspace(low - margin, high + margin, GRID_SIZE)  # [G, 2]
    # The kernel is a product, so that the sum over points is a product of two tables [G, n].
    x, y = (np.exp(-0.5 * ((grid[:, [a]] - points[:, a]) / width[a]) ** 2) for a in (0, 1))
    height = y @ x.T
    return Density(x=grid[:, 0], y=grid[:, 1], height=height / height.max())


def _score(result: Result, truth: NDArray[Any]) -> ClassScore | None:
    """Hold other truths than the result's to gold."""
    data = result.data
    if data.gold is None or result.score() is None:
        return None
    truth_of_gold = truth[data.has_gold]
    return ClassScore(
        n=len(truth_of_gold),
        correct=int((truth_of_gold == data.gold[data.has_gold]).sum()),
        undecided=int((truth_of_gold == UNKNOWN).sum()),
    )
