"""Points of many dimensions on a plane: PCA, UMAP or Isomap; the same points give the same plane.

`python -m crowdcore.projection OUT.npy KIND SEED < IN.npy` does it in a process of its own, for
UMAP compiles for many seconds before its first step and lets nothing else run meanwhile.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import DataError, Floats

if TYPE_CHECKING:
    from collections.abc import Sequence

Kind = Literal["pca", "umap", "isomap"]

NEIGHBOURS = 15
"""How many neighbours of a point UMAP and Isomap keep near it."""

EPOCHS = 200
"""How long UMAP moves points about: its own choice for large sets, and enough from PCA's start."""

FEWEST = 5
"""Distinct points below which there are no neighbourhoods to keep, and PCA shows all there is."""


def project(points: NDArray[Any], kind: Kind = "pca", *, seed: int = 0) -> Floats:
    """Place points [n, d] on a plane [n, 2]; equal points fall together."""
    points = _checked(points, kind)
    if kind == "pca":
        return _pca(points)
    # Neighbours at distance 0 would tear the graph of neighbours, so equal points count once.
    distinct, back = np.unique(points, axis=0, return_inverse=True)
    if len(distinct) < FEWEST:
        return _pca(points)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on few points: all of them are handled here
        placed = _umap(distinct, seed) if kind == "umap" else _isomap(distinct)
    return placed[back.ravel()]


def _checked(points: NDArray[Any], kind: Kind) -> Floats:
    if kind not in get_args(Kind):
        raise DataError(f"There is no projection {kind!r}; choose {', '.join(get_args(Kind))}")
    points = np.asarray(points, np.float64)
    if points.ndim != 2:  # noqa: PLR2004  (points by dimensions)
        raise DataError(f"Points are rows of numbers; these have the shape {points.shape}")
    if not np.isfinite(points).all():
        raise DataError("A point to be placed on the plane is not finite")
    return points


def _pca(points: Floats) -> Floats:
    """The two directions of the largest spread; each points to where its largest entry is > 0."""
    placed = np.zeros((len(points), 2))
    if not points.size:
        return placed
    centred = points - points.mean(0)
    scale = np.abs(centred).max()
    if scale <= 1e-12 * max(1.0, np.abs(points).max()):
        return placed  # all in one place; what is left is rounding
    _, axes = np.linalg.eigh((centred / scale).T @ (centred / scale))  # [d, d], ascending
    axes = axes[:, ::-1][:, :2]
    largest = np.abs(axes).argmax(0)
    axes = axes * np.sign(axes[largest, np.arange(axes.shape[1])])
    placed[:, : axes.shape[1]] = centred @ axes
    return placed


def _umap(points: Floats, seed: int) -> Floats:
    from umap import UMAP

    start = _pca(points)  # its own start is random below a handful of points
    if np.ptp(start[:, 1]) <= 1e-9 * np.ptp(start[:, 0]):  # on a line; it divides by the width
        start[:, 1] = np.random.default_rng(seed).normal(size=len(start))
    model = UMAP(
        n_neighbors=min(NEIGHBOURS, len(points) - 1),
        n_epochs=EPOCHS,
        init=start,
        random_state=seed,
        n_jobs=1,
    )
    placed: Floats = np.asarray(model.fit_transform(points), np.float64)
    return placed


def _isomap(points: Floats) -> Floats:
    from sklearn.manifold import Isomap

    neighbours = min(NEIGHBOURS, len(points) - 1)
    # Its own solver starts at random and may fail; the dense one is exact, and quick enough here.
    model = Isomap(n_neighbors=neighbours, eigen_solver="dense")
    placed: Floats = np.asarray(model.fit_transform(points), np.float64)
    return placed * np.where(placed[np.abs(placed).argmax(0), [0, 1]] < 0, -1.0, 1.0)


def main(arguments: Sequence[str]) -> None:
    """Project the points of one file into another, which appears whole or not at all."""
    from crowdcore.atomic import atomic

    target, kind, seed = arguments
    if hasattr(os, "nice"):
        os.nice(5)  # whoever clicks meanwhile goes first
    points = np.load(sys.stdin.buffer, allow_pickle=False)
    placed = project(points, cast("Kind", kind), seed=int(seed))
    with atomic(target) as path:
        np.save(path, placed, allow_pickle=False)


if __name__ == "__main__":
    main(sys.argv[1:])
