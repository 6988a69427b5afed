"""Leaps on the path of an iteration."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from crowdcore.engine.leaps import Leaps

END = torch.tensor([2.0, -1.0, 0.5]).double()
RATES = torch.tensor([0.98, 0.9, 0.3]).double()


def slow(point: Tensor) -> Tensor:
    return END + RATES * (point - END)


def steps_to_the_end(leaps: Leaps, function: Callable[[Tensor], Tensor] = slow) -> int:
    point = torch.zeros(3).double()
    for step in range(2000):
        image = function(point)
        if not leaps.leapt and float((image - point).abs().amax()) < 1e-6:
            assert float((point - END).abs().amax()) < 1e-4
            return step
        point = leaps.next(image)
    return 2000


def test_leaps_reach_the_same_end_in_far_fewer_steps() -> None:
    plain, leaping = steps_to_the_end(Leaps(on=False)), steps_to_the_end(Leaps(on=True))
    assert plain > 400
    assert leaping < plain / 8


def test_leaps_go_away_from_a_point_that_steps_go_away_from() -> None:
    def unstable(point: Tensor) -> Tensor:
        return 1.1 * point

    leaps, point = Leaps(on=True), torch.tensor([1e-3]).double()
    for _ in range(12):
        point = leaps.next(unstable(point))
    assert float(point) > 1e-3 * 1.1**12


def test_a_leap_that_loses_is_taken_back() -> None:
    leaps, point, path = Leaps(on=True), torch.zeros(3).double(), []
    while not leaps.leapt:
        path.append(slow(point))
        point = leaps.next(path[-1], torch.tensor(0.0))
    assert not torch.equal(point, path[-1])
    back = leaps.next(slow(point), torch.tensor(-5.0))
    assert torch.equal(back, path[-1])
    assert not leaps.leapt


def test_an_iteration_that_has_ended_stays_where_it_is() -> None:
    leaps = Leaps(on=True)
    for _ in range(5):
        assert torch.equal(leaps.next(END), END)
