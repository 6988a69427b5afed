"""Learning from answers, and stopping by answers that are held out."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from crowdcore.methods.graph.hgnn import _training as training
from crowdcore.methods.graph.hgnn._training import Targets, learn, learn_and_stop, predict
from crowdcore.run import Cancelled, Run


class Table(nn.Module):
    """A network that learns a row of scores by heart, and half of that for all rows."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.own = nn.Parameter(torch.zeros(n, 2, dtype=torch.float64))
        self.all = nn.Parameter(torch.zeros(1, 2, dtype=torch.float64))

    def forward(self) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        return self.own + self.all, (self.own, self.all)


def targets(n: int, *, epochs: int = 60, flipped: int = 0) -> Targets:
    """All answers are class 1 but for the last few."""
    answers = torch.ones(n, dtype=torch.int64)
    answers[n - flipped :] = 0
    return Targets(rows=torch.arange(n), answers=answers, epochs=epochs, rate=0.1)


def taught(n: int, run: Run | None = None, **settings: int) -> list[Table]:
    made: list[Table] = []

    def make() -> Table:
        made.append(Table(n))
        return made[-1]

    learn_and_stop(make, targets(n, **settings), run or Run())  # type: ignore[arg-type]
    return made


def sureness(nets: list[Table]) -> float:
    return float(np.mean([float((net.all[0, 1] - net.all[0, 0]).detach()) for net in nets]))


def test_what_was_said_before_each_epoch_is_recorded() -> None:
    net = Table(3)
    predicted = learn(net, targets(3, epochs=4), Run())  # type: ignore[arg-type]
    assert predicted.shape == (4, 3)
    assert predicted.dtype == torch.int16
    assert predicted[0].tolist() == [0, 0, 0]  # nothing learnt yet
    assert (predicted[1:] == 1).all()
    assert net()[0].argmax(1).tolist() == [1, 1, 1]


def test_five_networks_hold_out_every_one_of_few_answers_once() -> None:
    nets = taught(10, epochs=3)
    untouched = torch.stack([net.own.eq(0).all(1) for net in nets])
    assert untouched.sum(0).tolist() == [1] * 10
    assert untouched.sum(1).tolist() == [2] * 5


def test_one_network_holds_out_a_fifth_of_many_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "MIN_ANSWERS_FOR_ONE_FOLD", 20)
    (net,) = taught(20, epochs=3)
    assert int(net.own.eq(0).all(1).sum()) == 4


def test_very_few_answers_are_all_learnt_from() -> None:
    (net,) = taught(2, epochs=3)
    assert not net.own.eq(0).all(1).any()


def test_networks_return_to_where_held_out_answers_were_likeliest() -> None:
    run = Run()
    doubtful = taught(20, run, epochs=120, flipped=8)  # three fifths are no reason to be sure
    curve = [float(row["held_out"]) for row in run.history]
    best = int(np.argmin(curve))
    assert 0 < best < 60
    assert curve[-1] > curve[best] + 0.01
    assert sureness(doubtful) < 1.0
    assert sureness(taught(20, epochs=120)) > 2.0  # there is no reason to stop


def test_networks_stop_when_nothing_better_has_come_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    curves = []
    for patience in (200, 7):
        monkeypatch.setattr(training, "PATIENCE_EPOCHS", patience)
        run = Run()
        taught(20, run, epochs=120, flipped=8)
        curves.append([float(row["held_out"]) for row in run.history])
    whole, short = curves
    assert len(whole) == 120
    assert short == whole[: len(short)]
    assert len(short) == np.argmin(short) + 1 + 7


def test_the_same_seed_holds_out_the_same_answers() -> None:
    for one, other in zip(taught(10, Run(seed=4)), taught(10, Run(seed=4)), strict=True):
        torch.testing.assert_close(one.own, other.own, atol=0, rtol=0)


def test_cancel_is_asked_for_between_networks() -> None:
    asked = iter(range(1000))
    run = Run(should_stop=lambda: next(asked) >= 3)
    with pytest.raises(Cancelled):
        taught(10, run)
    assert run.steps == 1


def test_networks_answer_together_and_the_most_typical_one_speaks_for_them() -> None:
    nets = [Table(1), Table(1), Table(1)]
    for net, logit in zip(nets, (0.0, 0.2, 4.0), strict=True):
        net.own.data[0, 1] = logit
    with torch.no_grad():
        mean, nearest, (own, _) = predict(nets)  # type: ignore[arg-type]
    share = np.mean([1 / (1 + np.exp(-logit)) for logit in (0.0, 0.2, 4.0)])
    assert float(mean[0, 1]) == pytest.approx(share)
    assert nearest is nets[1]  # type: ignore[comparison-overlap]
    assert own is nets[1].own
