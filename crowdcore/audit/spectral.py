"""What a spectral space says: who is near the oracle, and what another centre would change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import UNKNOWN
from crowdcore.result import Score

if TYPE_CHECKING:
    from crowdcore.artefacts.spectral import SpectralSpace
    from crowdcore.data import Floats
    from crowdcore.result import Result

FEWEST = 3
"""Points below which there is no density to draw."""

GRID = 72
"""Places along each side of a density."""

ROOM = 0.15
"""How far a density goes beyond its points, as a share of their width."""


@dataclass(frozen=True, kw_only=True)
class CentreFacts:
    """Where one way to find the oracle leads, against the one that was used."""

    name: str
    changed: int  # items with another truth
    apart: float  # how far the two oracles are apart, 0 to 1
    score: Score | None  # against gold that the fit has not seen


@dataclass(frozen=True, kw_only=True, eq=False)
class Density:
    """How thick points lie on a plane."""

    x: Floats  # [G]
    y: Floats  # [G]
    height: Floats  # [G of y, G of x], 1 at the peak


def blends(weights: NDArray[Any]) -> Floats:
    """Weights on the experts [n, E] as shares of all weight; zeros where there is none."""
    weights = np.asarray(weights, np.float64)
    total = weights.sum(1, keepdims=True)
    shares: Floats = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return shares


def distance(weights: NDArray[Any], oracle: NDArray[Any]) -> Floats:
    """What part of each blend [n, E] is not in the oracle's [E]: 0 the same, 1 nothing shared."""
    shared = np.minimum(blends(weights), blends(oracle[None])).sum(1)
    apart: Floats = np.clip(1 - shared, 0, 1)
    return apart


def comparable(result: Result, space: SpectralSpace) -> NDArray[np.bool_]:
    """Which items [N] an oracle has a say on: without features, only those with labels."""
    if space.origin == "features":
        return np.ones(result.data.n_items, bool)
    return np.asarray(result.data.labels_per_item > 0)


def changed_items(result: Result, space: SpectralSpace, centre: str) -> NDArray[np.intp]:
    """The items whose truth a centre changes, those it is surest of first."""
    now, then = (space.centres.index(name) for name in (space.used, centre))
    other = (space.truth[now] != space.truth[then]) & comparable(result, space)
    rows = np.flatnonzero(other)
    return rows[np.argsort(-space.confidence[then][rows], kind="stable")]


def centre_facts(result: Result, space: SpectralSpace) -> list[CentreFacts]:
    """What every centre would change, in their order."""
    used = space.oracle[space.centres.index(space.used)]
    return [
        CentreFacts(
            name=name,
            changed=len(changed_items(result, space, name)),
            apart=float(distance(space.oracle[[place]], used)[0]),
            score=_score(result, space.truth[place]),
        )
        for place, name in enumerate(space.centres)
    ]


def _score(result: Result, truth: NDArray[Any]) -> Score | None:
    data = result.data
    if data.gold is None or result.score() is None:
        return None
    found = truth[data.has_gold]
    return Score(
        n=len(found),
        correct=int((found == data.gold[data.has_gold]).sum()),
        undecided=int((found == UNKNOWN).sum()),
    )


def density(places: Floats) -> Density | None:
    """A Gaussian density of points [n, 2] by Scott's rule; None where they have no width."""
    if len(places) < FEWEST or (np.ptp(places, axis=0) <= 1e-9 * np.abs(places).max()).any():
        return None
    width = places.std(0) * len(places) ** (-1 / 6)
    low, high = places.min(0), places.max(0)
    room = np.maximum(ROOM * (high - low), 2 * width)
    grid = np.linspace(low - room, high + room, GRID)  # [G, 2]
    # The kernel is a product, so that the sum over points is a product of two tables [G, n].
    x, y = (np.exp(-0.5 * ((grid[:, [a]] - places[:, a]) / width[a]) ** 2) for a in (0, 1))
    height = y @ x.T
    return Density(x=grid[:, 0], y=grid[:, 1], height=height / height.max())
