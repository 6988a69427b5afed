"""Learning from answers, and stopping by answers that are held out."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from crowdcore.engine import lessons
from crowdcore.engine.lessons import Lesson, learn, learn_steadily, split
from crowdcore.run import Run


class Table(nn.Module):
    """A network that learns a row of scores by heart, and half of that for all rows."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.own = nn.Parameter(torch.zeros(n, 2, dtype=torch.float64))
        self.all = nn.Parameter(torch.zeros(1, 2, dtype=torch.float64))

    def forward(self) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        return self.own + self.all, (self.own, self.all)


def lesson(n: int, *, epochs: int = 60, flipped: int = 0) -> Lesson:
    """All answers are class 1 but for the last few."""
    answers = torch.ones(n, dtype=torch.int64)
    answers[n - flipped :] = 0
    return Lesson(rows=torch.arange(n), answers=answers, epochs=epochs, rate=0.1)


def taught(n: int, run: Run | None = None, **how: int) -> Table:
    net = Table(n)
    learn_steadily(net, lesson(n, **how), run or Run())  # type: ignore[arg-type]
    return net


def sureness(net: Table) -> float:
    return float((net.all[0, 1] - net.all[0, 0]).detach())


def test_what_was_said_before_each_epoch_is_recorded() -> None:
    net = Table(3)
    said = learn(net, lesson(3, epochs=4), Run())  # type: ignore[arg-type]
    assert said.shape == (4, 3)
    assert said.dtype == torch.int16
    assert said[0].tolist() == [0, 0, 0]  # nothing learnt yet
    assert (said[1:] == 1).all()
    assert net()[0].argmax(1).tolist() == [1, 1, 1]


def test_few_answers_are_all_learnt_from() -> None:
    for n in (1, 10):
        assert not taught(n, epochs=3).own.eq(0).all(1).any()


def test_few_answers_leave_the_mean_of_nearly_all_epochs() -> None:
    weights = []
    for epochs in range(1, 21):
        net = Table(2)
        learn(net, lesson(2, epochs=epochs), Run())  # type: ignore[arg-type]
        weights.append(net.own.detach().clone())
    expected = torch.stack(weights[2:]).mean(0)  # a tenth of twenty is left out
    torch.testing.assert_close(taught(2, epochs=20).own.detach(), expected)


def test_a_fifth_of_many_answers_is_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lessons, "MANY", 20)
    assert int(taught(20, epochs=3).own.eq(0).all(1).sum()) == 4


def test_a_network_returns_to_where_held_out_answers_were_likeliest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lessons, "MANY", 100)
    run = Run()
    doubtful = taught(100, run, epochs=120, flipped=40)  # three fifths are no reason to be sure
    curve = [float(row["held_out"]) for row in run.history]
    best = int(np.argmin(curve))
    assert 0 < best < 80
    assert curve[-1] > curve[best]
    clear = taught(100, epochs=120)  # there is no reason to stop
    assert sureness(doubtful) < 1.0 < 2.0 < sureness(clear)


def test_the_same_seed_holds_out_the_same_answers() -> None:
    one, other = (split(1000, Run(seed=4).rng) for _ in range(2))
    for first, second in zip(one, other, strict=True):
        np.testing.assert_array_equal(first, second)
    assert sorted(np.concatenate(one)) == list(range(1000))
    assert len(one[0]) == 200
