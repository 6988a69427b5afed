from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdcore.audit.judging.judgement import judge_crowd
from crowdcore.audit.judging.worker_types import BLIND, INVERTED, ONE_ANSWER
from crowdcore.simulation.classes import simulate
from tests.audit.judging.crowds import (
    BAD,
    judged_crowd,
    mixed_crowd,
    share_right,
    with_gold,
    without_gold,
    workers_called,
)


def test_bad_workers_are_accused_and_hardly_anybody_else() -> None:
    accused_honest, honest, accused_bad, bad = 0, 0, 0, 0
    for seed in range(8):
        simulation, judgement = mixed_crowd(2 + seed % 3, seed), judged_crowd(2 + seed % 3, seed)
        is_bad = np.zeros(60, bool)
        is_bad[workers_called(simulation, *BAD)] = True
        enough = judgement.comparison.n_compared >= 20
        accused = judgement.accused.accused
        accused_honest += int((accused & ~is_bad).sum())
        honest += int((judgement.judged & ~is_bad).sum())
        accused_bad += int((accused & is_bad & enough).sum())
        bad += int((is_bad & enough).sum())
    assert accused_honest / honest < 0.015
    assert accused_bad / bad > 0.85


def test_a_crowd_without_bad_workers_accuses_nobody() -> None:
    for seed in range(6):
        simulation = simulate(
            items=400, workers=50, classes=2 + seed % 3, spammers=0, features=0, seed=seed
        )
        assert judge_crowd(without_gold(simulation.data)).accused.n_accused == 0


def test_each_kind_of_bad_worker_gets_its_name() -> None:
    simulation, judgement = mixed_crowd(3, 0), judged_crowd(3, 0)
    kinds = {"random": BLIND, "one answer": ONE_ANSWER, "adversary": INVERTED}
    for name, kind in kinds.items():
        workers = workers_called(simulation, name)
        workers = workers[judgement.accused.accused[workers]]
        assert len(workers)
        assert np.mean(judgement.kind_of_bad[workers] == kind) > 0.75


def test_the_order_of_labels_and_the_names_of_workers_change_nothing() -> None:
    data = without_gold(mixed_crowd().data)
    order = np.random.default_rng(0).permutation(data.n_labels)
    code = np.random.default_rng(1).permutation(60)
    shuffled = replace(
        data, item=data.item[order], worker=code[data.worker[order]], label=data.label[order]
    )
    before, after = judged_crowd(), judge_crowd(shuffled)
    assert np.abs(after.types.bad[code] - before.types.bad).max() < 0.1
    assert np.mean(after.accused.accused[code] == before.accused.accused) > 0.98


def test_gold_makes_a_wrong_crowd_look_as_it_is() -> None:
    """Half of the items are taken for another class by nearly everybody."""
    simulation = simulate(items=400, workers=30, classes=2, labels_per_item=6, spammers=0, seed=3)
    data = without_gold(simulation.data)
    hard = data.item % 2 == 0
    rng = np.random.default_rng(0)
    flipped = hard & (rng.random(data.n_labels) < 0.7)
    data = replace(data, label=np.where(flipped, 1 - data.label, data.label))
    truth = simulation.truth
    right = share_right(replace(simulation, data=replace(data, gold=truth)))
    errors = []
    for version in (data, with_gold(data, truth, 60)):
        middle = judge_crowd(version).accuracy.quantile(np.array([0.5]))[:, 0]
        errors.append(float(np.mean(middle - right)))
    assert errors[0] > 0.1
    assert abs(errors[1]) < 0.05


def test_labels_that_differ_most_from_what_others_believe_weigh_most() -> None:
    judgement = judged_crowd()
    labels, weight = judgement.labels, judgement.weight
    hit = np.asarray(judgement.comparison.hit)
    assert np.mean(weight[hit < 0.01]) > 0.5
    assert np.mean(weight[hit > 0.99]) < -0.4
    assert (weight[~labels.comparable] == 0).all()


def test_answering_blindly_would_be_right_by_the_classes_of_the_items_seen() -> None:
    simulation, judgement = mixed_crowd(3, 0), judged_crowd(3, 0)
    blind = workers_called(simulation, "one answer")
    data = simulation.data
    for worker in blind:
        own = data.worker == worker
        favourite = np.bincount(data.label[own]).argmax()
        share = np.mean(simulation.truth[data.item[own]] == favourite)
        assert abs(judgement.chance[worker] - share) < 0.15


def test_nobody_is_called_biased_below_four_to_one() -> None:
    simulation = simulate(
        items=600,
        workers=60,
        classes=2,
        labels_per_item=10,
        class_bias=0.5,
        spammers=0.05,
        features=0,
        seed=0,
    )
    judgement = judge_crowd(without_gold(simulation.data))
    probability, called = judgement.types.biased, judgement.biased.accused
    assert called.sum() > 15
    assert probability[called].min() >= 0.8
    assert ((probability > 0.6) & (probability < 0.8) & ~called).any()
