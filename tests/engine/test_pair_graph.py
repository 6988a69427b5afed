"""The graph of comparisons: sums, systems of equations and variances."""

from __future__ import annotations

import numpy as np
import pytest

from crowdcore.engine import pair_graph
from crowdcore.engine.pair_graph import PairGraph


def random_graph(n_items: int = 40, n_rows: int = 200) -> tuple[PairGraph, np.ndarray]:
    rng = np.random.default_rng(0)
    left = rng.integers(n_items, size=n_rows).astype(np.int32)
    right = ((left + rng.integers(1, n_items, size=n_rows)) % n_items).astype(np.int32)
    return PairGraph(left, right, n_items), rng.uniform(0.1, 1, n_rows)


def dense(graph: PairGraph, weights: np.ndarray, ridge: float) -> np.ndarray:
    matrix = ridge * np.eye(graph.n_items)
    for i, j, w in zip(graph.left, graph.right, weights, strict=True):
        matrix[[i, j], [i, j]] += w
        matrix[[i, j], [j, i]] -= w
    return matrix


def test_system_is_the_weighted_laplacian() -> None:
    graph, weights = random_graph()
    system, matrix = graph.system(weights, 0.3), dense(graph, weights, 0.3)
    b = np.arange(40.0)
    np.testing.assert_allclose(matrix @ system.solve(b), b, atol=1e-9)
    np.testing.assert_allclose(system.covariance(), np.linalg.inv(matrix), atol=1e-9)


def test_many_items_are_solved_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, weights = random_graph()
    exact = np.diag(np.linalg.inv(dense(graph, weights, 0.3)))
    monkeypatch.setattr(pair_graph, "MAX_DENSE_ITEMS", 0)
    system = graph.system(weights, 0.3)
    b = np.sin(np.arange(40.0))
    np.testing.assert_allclose(
        system.solve(b, 1e-10), np.linalg.solve(dense(graph, weights, 0.3), b), atol=1e-7
    )
    drawn = system.variances(np.random.default_rng(1))
    np.testing.assert_allclose(drawn, exact, rtol=0.15)


def test_groups_of_items_are_found() -> None:
    graph = PairGraph(np.array([0, 2]), np.array([1, 3]), 5)
    assert graph.n_components == 3
    assert graph.component[0] == graph.component[1] != graph.component[2]


def test_turned_pairs_are_one_pair() -> None:
    graph = PairGraph(np.array([0, 1, 0]), np.array([1, 0, 2]), 3)
    assert graph.n_pairs == 2
    assert sorted(graph.pair_counts.tolist()) == [1, 2]
    np.testing.assert_allclose(graph.sum_to_items(np.array([1.0, 5.0, 0.5])), [-3.5, 4.0, -0.5])
