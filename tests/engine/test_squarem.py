"""Extrapolation of an iteration."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from crowdcore.engine.squarem import Squarem

END = torch.tensor([2.0, -1.0, 0.5]).double()
RATES = torch.tensor([0.98, 0.9, 0.3]).double()


def slow(point: Tensor) -> Tensor:
    return END + RATES * (point - END)


def steps_to_the_end(squarem: Squarem, function: Callable[[Tensor], Tensor] = slow) -> int:
    point = torch.zeros(3).double()
    for step in range(2000):
        image = function(point)
        if not squarem.extrapolated and float((image - point).abs().amax()) < 1e-6:
            assert float((point - END).abs().amax()) < 1e-4
            return step
        point = squarem.next(image)
    return 2000


def test_extrapolation_reaches_the_same_end_in_far_fewer_steps() -> None:
    plain = steps_to_the_end(Squarem(enabled=False))
    accelerated = steps_to_the_end(Squarem(enabled=True))
    assert plain > 400
    assert accelerated < plain / 8


def test_extrapolation_goes_away_from_a_point_that_steps_go_away_from() -> None:
    def unstable(point: Tensor) -> Tensor:
        return 1.1 * point

    squarem, point = Squarem(enabled=True), torch.tensor([1e-3]).double()
    for _ in range(12):
        point = squarem.next(unstable(point))
    assert float(point) > 1e-3 * 1.1**12


def test_an_extrapolation_that_loses_is_taken_back() -> None:
    squarem, point, path = Squarem(enabled=True), torch.zeros(3).double(), []
    while not squarem.extrapolated:
        path.append(slow(point))
        point = squarem.next(path[-1], torch.tensor(0.0))
    assert not torch.equal(point, path[-1])
    back = squarem.next(slow(point), torch.tensor(-5.0))
    assert torch.equal(back, path[-1])
    assert not squarem.extrapolated


def test_an_iteration_that_has_ended_stays_where_it_is() -> None:
    squarem = Squarem(enabled=True)
    for _ in range(5):
        assert torch.equal(squarem.next(END), END)
