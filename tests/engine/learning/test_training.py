"""The training loops: they stop where held-out rows say so, repeat themselves, can be stopped."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from crowdcore.config import LearningConfig
from crowdcore.engine.labels import Labels
from crowdcore.engine.learning import networks
from crowdcore.engine.learning.training import (
    FullBatchLearner,
    FullBatchLosses,
    Learner,
    Training,
    full_batch,
    mean_loss,
)
from crowdcore.engine.splits import Split
from crowdcore.run import Cancelled, Run
from tests.crowds import easy_crowd

CPU = torch.device("cpu")


def noisy_task(seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Wide rows with noisy classes: to learn long is to learn by heart."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(80, 60)).astype(np.float32)
    y = np.where(rng.random(80) < 0.3, rng.integers(0, 2, 80), x[:, 0] > 0)
    return torch.tensor(x), torch.tensor(y)


def learner_of(x: torch.Tensor, y: torch.Tensor) -> Callable[[], Learner]:
    def build() -> Learner:
        torch.manual_seed(1)
        net = networks.build(networks.describe(x.shape[1:], 2, hidden=(32,)))
        return Learner(module=net, loss=lambda rows: cross_entropy(net(x[rows]), y[rows]))

    return build


def training(run: Run, **settings: object) -> Training:
    cfg = LearningConfig(**{"epochs": 200, "batch": 16, "rate": 0.01, **settings})  # type: ignore[arg-type]
    return Training(labels=Labels(easy_crowd(), CPU), run=run, cfg=cfg)


HALVES = Split(train=torch.arange(40), held_out=torch.arange(40, 80))


def test_best_weights_are_kept_and_training_stops_after_patience() -> None:
    run, (x, y) = Run(), noisy_task()
    learner = training(run, patience=5, refit=False).learn(HALVES, learner_of(x, y))
    curve = [float(row["held_out"]) for row in run.history]
    best = int(np.argmin(curve))
    assert len(curve) == best + 1 + 5
    assert len(curve) < 200
    assert mean_loss(learner, HALVES.held_out) == pytest.approx(curve[best], rel=1e-5)
    assert run.converged


def test_refit_takes_as_many_epochs_as_were_best_and_sees_every_row() -> None:
    run, (x, y) = Run(), noisy_task()
    seen: set[int] = set()
    plain = learner_of(x, y)

    def build() -> Learner:
        made = plain()

        def loss(rows: torch.Tensor) -> torch.Tensor:
            if made.module.training:
                seen.update(rows.tolist())
            return made.loss(rows)

        return Learner(module=made.module, loss=loss)

    training(run, patience=5).learn(HALVES, build)
    watched = [row for row in run.history if row["stage"] == "Training"]
    again = [row for row in run.history if row["stage"] == "Training on all"]
    assert len(again) == 1 + int(np.argmin([float(row["held_out"]) for row in watched]))
    assert seen == set(range(80))


def test_without_rows_to_watch_all_epochs_are_taken() -> None:
    run, (x, y) = Run(), noisy_task()
    split = Split(train=torch.arange(80), held_out=torch.arange(0))
    training(run, epochs=7).learn(split, learner_of(x, y))
    assert run.steps == 7
    assert run.converged is None


def test_same_seed_gives_the_same_weights() -> None:
    x, y = noisy_task()
    first, second = (training(Run(seed=4)).learn(HALVES, learner_of(x, y)) for _ in range(2))
    for one, other in zip(first.module.parameters(), second.module.parameters(), strict=True):
        assert torch.equal(one, other)


def test_each_epoch_is_announced_with_the_rows_to_learn_from() -> None:
    x, y = noisy_task()
    told: list[int] = []

    def build() -> Learner:
        made = learner_of(x, y)()
        return Learner(
            module=made.module, loss=made.loss, each_epoch=lambda rows: told.append(len(rows))
        )

    training(Run(), epochs=3, patience=50).learn(HALVES, build)
    assert told[:3] == [40, 40, 40]
    assert set(told[3:]) == {80}


def test_cancel_stops_within_an_epoch() -> None:
    x, y = noisy_task()
    asked = iter(range(1000))
    run = Run(should_stop=lambda: next(asked) > 2)
    with pytest.raises(Cancelled):
        training(run, batch=1).learn(HALVES, learner_of(x, y))
    assert run.steps == 1


def table_learner(start: float, target: float, held_out: float | None = None) -> FullBatchLearner:
    """One weight that is drawn to a target, and judged by another number if there is one."""
    weight = nn.Parameter(torch.full((1,), start, dtype=torch.float64))

    def backward() -> FullBatchLosses:
        loss = (weight - target).square().sum()
        loss.backward()  # type: ignore[no-untyped-call]
        held = None if held_out is None else (weight.detach() - held_out).square()
        return FullBatchLosses(loss, held)

    return FullBatchLearner(optimiser=torch.optim.SGD([weight], lr=0.05), backward=backward)


def test_full_batches_take_one_step_per_epoch_and_log_the_loss_before_it() -> None:
    learner, run = table_learner(0.0, 1.0), Run()
    full_batch(run, [learner], epochs=3, stage="Fitting")
    assert [row["stage"] for row in run.history] == ["Fitting"] * 3
    losses = [float(row["loss"]) for row in run.history]
    assert losses == pytest.approx([1, 0.81, 0.81**2])
    assert learner.weights[0].item() == pytest.approx(1 - 0.9**3)
    assert run.converged is None
    assert "held_out" not in run.history[0]


def test_full_batches_return_to_where_the_held_out_loss_was_lowest() -> None:
    learner, run = table_learner(0.0, 1.0, held_out=0.5), Run()
    full_batch(run, [learner], epochs=30)
    curve = [float(row["held_out"]) for row in run.history]
    best = int(np.argmin(curve))
    assert len(curve) == 30
    assert 0 < best < 10
    assert learner.weights[0].item() == pytest.approx(1 - 0.9**best)


def test_full_batches_of_several_models_stop_together() -> None:
    learners, run = [table_learner(0.0, 1.0, held_out=one) for one in (0.2, 0.8)], Run()
    full_batch(run, learners, epochs=200, patience=4)
    curve = [float(row["held_out"]) for row in run.history]
    assert len(curve) == int(np.argmin(curve)) + 1 + 4
    first, second = (learner.weights[0].item() for learner in learners)
    assert first == second == pytest.approx(1 - 0.9 ** int(np.argmin(curve)))


def test_full_batches_can_be_stopped_between_models() -> None:
    asked = iter(range(100))
    run = Run(should_stop=lambda: next(asked) >= 2)
    with pytest.raises(Cancelled):
        full_batch(run, [table_learner(0.0, 1.0), table_learner(0.0, 1.0)], epochs=5)
    assert run.steps == 1
