"""L-BFGS without a look at the numbers, and plain steps down a gradient."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from torch import Tensor

from crowdcore.engine.minimise import conjugate_gradients, lbfgs


def rosenbrock(point: Tensor) -> tuple[Tensor, Tensor]:
    x, y = point
    value = (1 - x) ** 2 + 100 * (y - x**2) ** 2
    gradient = torch.stack([-2 * (1 - x) - 400 * x * (y - x**2), 200 * (y - x**2)])
    return value, gradient


def test_a_crooked_valley_is_followed_to_its_end() -> None:
    start = torch.tensor([-1.2, 1.0]).double()
    point, value = lbfgs(rosenbrock, start, steps=120, curvature=torch.ones(2).double())
    np.testing.assert_allclose(point, [1, 1], atol=1e-5)
    assert float(value) < 1e-10


def test_more_steps_are_never_worse_and_the_start_is_kept_if_nothing_is_better() -> None:
    start = torch.tensor([-1.2, 1.0]).double()
    values = [
        float(lbfgs(rosenbrock, start, steps=n, curvature=torch.ones(2).double())[1])
        for n in range(30)
    ]
    assert all(later <= earlier for earlier, later in itertools.pairwise(values))

    def wall(point: Tensor) -> tuple[Tensor, Tensor]:
        value = torch.where(point.abs().sum() > 0, torch.nan, 0.0).double()
        return value, torch.ones_like(point)

    point, _ = lbfgs(wall, torch.zeros(3).double(), steps=5, curvature=torch.ones(3).double())
    assert point.tolist() == [0, 0, 0]


def test_a_good_guess_of_the_curvature_saves_steps() -> None:
    scales = torch.logspace(-2, 4, 50).double()

    def bowl(point: Tensor) -> tuple[Tensor, Tensor]:
        return 0.5 * (scales * point * point).sum(), scales * point

    start = torch.ones(50).double()
    _, value = lbfgs(bowl, start, steps=2, curvature=scales)
    assert float(value) < 1e-12


def test_conjugate_gradients_stop_where_it_is_flat_or_after_so_many_steps() -> None:
    scales = torch.tensor([1.0, 10.0, 100.0]).double()

    def bowl(point: Tensor) -> tuple[Tensor, Tensor]:
        return 0.5 * (scales * point * point).sum(), scales * point

    start = torch.ones(3).double()
    point, value = conjugate_gradients(bowl, start, steps=25, gradient_tol=0.01)
    assert float((scales * point).abs().max()) <= 0.01
    assert float(value) == pytest.approx(float(bowl(point)[0]))
    early, _ = conjugate_gradients(bowl, start, steps=1, gradient_tol=0.01)
    assert 0.01 < float((scales * early).abs().max()) < 100
    assert torch.equal(start, torch.ones(3).double())
