"""Softmax regression: it agrees with scikit-learn's, and can be refused nothing but size."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from crowdcore.data import DataError
from crowdcore.methods.difficulty._softmax_regression import SoftmaxRegression


def task(classes: int, seed: int = 0) -> tuple[torch.Tensor, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, 200)
    x = rng.normal(size=(200, 5)) + 0.7 * np.eye(classes, 5)[y]
    return torch.tensor(x), y


def fitted(x: torch.Tensor, targets: torch.Tensor, *, ridge: float = 2.0) -> SoftmaxRegression:
    counts = torch.ones(len(x), dtype=torch.float64)
    regression = SoftmaxRegression(x, counts, targets.shape[1], ridge=ridge)
    regression.fit(targets, rounds=20)
    return regression


@pytest.mark.parametrize("classes", [2, 4])
def test_it_finds_what_scikit_learn_finds(classes: int) -> None:
    x, y = task(classes)
    ours = fitted(x, torch.eye(classes, dtype=torch.float64)[y]).log_probabilities().exp()
    # Two classes have two columns here, which share the ridge, and one there.
    strength = 1.0 if classes == 2 else 0.5
    theirs = LogisticRegression(C=strength, tol=1e-10, max_iter=10_000).fit(x.numpy(), y)
    np.testing.assert_allclose(ours, theirs.predict_proba(x.numpy()), atol=1e-4)


def test_the_first_step_of_two_classes_is_newtons() -> None:
    x, y = task(2)
    y = np.where(np.arange(200) % 5, y, 1 - y)
    targets = torch.eye(2, dtype=torch.float64)[y]
    regression = SoftmaxRegression(x, torch.ones(200, dtype=torch.float64), 2, ridge=1e-9)
    gradient = regression._gradient(targets)[:, 1]
    step = torch.linalg.solve(regression._curvature()[1], gradient)
    wide = torch.cat([x, torch.ones(200, 1)], 1)  # as a logistic regression of one column has it
    half = torch.full((200,), 0.25, dtype=torch.float64)
    hessian = (wide * half.unsqueeze(1)).T @ wide
    newton = torch.linalg.solve(hessian, wide.T @ (targets[:, 1] - 0.5))
    torch.testing.assert_close(2 * step, newton, rtol=1e-5, atol=1e-6)  # two columns move apart


def test_soft_targets_are_met_where_nothing_is_gained_any_more() -> None:
    x, _ = task(3)
    targets = torch.rand(200, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    targets /= targets.sum(1, keepdim=True)
    regression = fitted(x, targets)
    assert regression._gradient(targets).abs().max() < 1e-6


def test_items_that_do_not_count_teach_nothing() -> None:
    x, y = task(2)
    targets = torch.eye(2, dtype=torch.float64)[y]
    counts = (torch.arange(200) < 120).double()
    weighted = SoftmaxRegression(x, counts, 2, ridge=1.0)
    weighted.fit(targets, rounds=10)
    fewer = fitted(x[:120], targets[:120], ridge=1.0)
    torch.testing.assert_close(weighted.coefficients, fewer.coefficients)


def test_classes_that_a_line_separates_stay_finite() -> None:
    x = torch.tensor([[-1.0], [1.0]], dtype=torch.float64).repeat(50, 1)
    targets = torch.eye(2, dtype=torch.float64).repeat(50, 1)
    coefficients = fitted(x, targets, ridge=1e-3).coefficients
    assert coefficients.isfinite().all()
    assert coefficients.abs().max() < 100


def test_features_beyond_memory_are_refused_with_a_way_out() -> None:
    x = torch.zeros(2, 20_000)
    with pytest.raises(DataError, match="Set classifier to network"):
        SoftmaxRegression(x, torch.ones(2), 3, ridge=1.0)
