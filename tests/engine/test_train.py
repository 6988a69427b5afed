"""The training loop: it stops where held-out rows say so, repeats itself and can be stopped."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from crowdcore.engine import nets
from crowdcore.engine.train import Learner, Split, Training, Triples, hold_out, mean_loss
from crowdcore.labels import Labels
from crowdcore.method import LearningConfig
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
        net = nets.build(nets.describe(x.shape[1:], 2, hidden=(32,)))
        return Learner(module=net, loss=lambda rows: cross_entropy(net(x[rows]), y[rows]))

    return build


def training(run: Run, **settings: object) -> Training:
    cfg = LearningConfig(**{"epochs": 200, "batch": 16, "rate": 0.01, **settings})  # type: ignore[arg-type]
    return Training(labels=Labels(easy_crowd(), CPU), run=run, cfg=cfg)


HALVES = Split(learn=torch.arange(40), watch=torch.arange(40, 80))


def test_best_weights_are_kept_and_training_stops_after_patience() -> None:
    run, (x, y) = Run(), noisy_task()
    learner = training(run, patience=5, refit=False).learn(HALVES, learner_of(x, y))
    curve = [float(row["held_out"]) for row in run.history]
    best = int(np.argmin(curve))
    assert len(curve) == best + 1 + 5
    assert len(curve) < 200
    assert mean_loss(learner, HALVES.watch) == pytest.approx(curve[best], rel=1e-5)
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
    split = Split(learn=torch.arange(80), watch=torch.arange(0))
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


def test_groups_are_held_out_whole_and_few_are_not_held_out_at_all() -> None:
    labels = Labels(easy_crowd(), CPU)
    items = Triples.of(labels).item.numpy()
    split = hold_out(labels, items, 0.2, Run())
    held, kept = set(items[split.watch.numpy()]), set(items[split.learn.numpy()])
    assert held
    assert not held & kept
    assert len(split.everything) == labels.n_labels
    assert not len(hold_out(labels, items, 0.01, Run()).watch)


def test_pictures_get_convolutions_and_tables_do_not() -> None:
    picture = nets.build(nets.describe((3, 20, 20), 4, hidden=(8,), dropout=0.5))
    assert any(isinstance(part, nn.Conv2d) for part in picture.modules())
    assert nets.in_parts(picture, torch.zeros(5, 3, 20, 20), at_once=2).shape == (5, 4)
    tiny = nets.build(nets.describe((1, 2, 3), 4))
    assert tiny(torch.zeros(2, 1, 2, 3)).shape == (2, 4)
    line = nets.build(nets.describe((6,), 4, hidden=()))
    assert [len(part) for part in line.parameters()] == [4, 4]
