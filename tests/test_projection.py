from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from crowdcore.data import DataError
from crowdcore.projection import FEWEST, Kind, project

QUICK: list[Kind] = ["pca", "isomap"]


def two_clouds(n: int = 40, d: int = 6) -> NDArray[np.float64]:
    rng = np.random.default_rng(1)
    return rng.normal(size=(n, d)) + 12 * (np.arange(n) % 2)[:, None]


@pytest.mark.parametrize("kind", QUICK)
@pytest.mark.parametrize("n", [0, 1, 2, 3, FEWEST, FEWEST + 1, 20])
@pytest.mark.parametrize("d", [1, 2, 7])
def test_few_equal_and_flat_points_have_finite_places(kind: Kind, n: int, d: int) -> None:
    rng = np.random.default_rng(n)
    line = np.outer(rng.normal(size=n), np.ones(d))
    for points in (rng.normal(size=(n, d)), np.full((n, d), 1 / 3), line, line.round()):
        placed = project(points, kind)
        assert placed.shape == (n, 2)
        assert np.isfinite(placed).all()


@pytest.mark.parametrize("kind", QUICK)
def test_the_same_points_have_the_same_places_in_any_order(kind: Kind) -> None:
    points = two_clouds()
    placed = project(points, kind)
    np.testing.assert_array_equal(placed, project(points.copy(), kind))
    turned = np.random.default_rng(0).permutation(len(points))
    np.testing.assert_allclose(project(points[turned], kind), placed[turned], atol=1e-8)


@pytest.mark.parametrize("kind", QUICK)
def test_what_is_apart_stays_apart_and_equal_points_fall_together(kind: Kind) -> None:
    points = np.repeat(two_clouds(), 2, axis=0)
    placed = project(points, kind)
    np.testing.assert_allclose(placed[::2], placed[1::2])
    odd = (np.arange(len(points)) // 2) % 2 == 1
    middles = placed[odd].mean(0), placed[~odd].mean(0)
    assert np.linalg.norm(middles[0] - middles[1]) > 4 * placed[odd].std(0).max()


def test_pca_keeps_the_largest_spread_and_all_of_two_dimensions() -> None:
    points = np.array([[0.0, 0, 5], [3, 0, 5], [0, 1, 5], [3, 1, 5]])
    placed = project(points)
    assert np.ptp(placed[:, 0]) == pytest.approx(3)
    assert np.ptp(placed[:, 1]) == pytest.approx(1)
    np.testing.assert_array_equal(project(np.full((4, 3), 0.1 + 0.2)), 0)


def test_points_that_cannot_be_placed_are_refused() -> None:
    with pytest.raises(DataError, match="not finite"):
        project(np.array([[np.nan, 1.0]]))
    with pytest.raises(DataError, match="rows of numbers"):
        project(np.ones(3))
    with pytest.raises(DataError, match="no projection 'tsne'"):
        project(np.ones((3, 2)), "tsne")  # type: ignore[arg-type]


def test_a_process_of_its_own_writes_the_same_places(tmp_path: Path) -> None:
    points, target = two_clouds(), tmp_path / "placed.npy"
    source = io.BytesIO()
    np.save(source, points)
    (tmp_path / "points.npy").write_bytes(source.getvalue())
    command = [sys.executable, "-m", "crowdcore.projection", str(target), "isomap", "0"]
    with (tmp_path / "points.npy").open("rb") as file:
        subprocess.run(command, stdin=file, check=True)
    np.testing.assert_array_equal(np.load(target), project(points, "isomap"))
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".tmp-")] == []


@pytest.mark.slow  # numba compiles for half a minute
def test_umap_is_seeded_and_stands_few_equal_and_flat_points() -> None:
    points = two_clouds()
    placed = project(points, "umap", seed=3)
    np.testing.assert_array_equal(placed, project(points, "umap", seed=3))
    assert (placed != project(points, "umap", seed=4)).any()
    for few in (points[:FEWEST], points[:, :1], np.repeat(points[:6], 3, axis=0), points[:1]):
        found = project(few, "umap")
        assert found.shape == (len(few), 2)
        assert np.isfinite(found).all()
