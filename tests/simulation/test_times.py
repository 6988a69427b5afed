from __future__ import annotations

import numpy as np
import pytest

from crowdcore.data import UNKNOWN, DataError
from crowdcore.simulation.classes import simulate
from crowdcore.simulation.times import HABITS, add_times

CROWD = simulate(items=400, workers=20, classes=3, activity=0, features=0, spammers=0, seed=4)
HONEST = np.ones(20, bool)
TIMED = add_times(CROWD.data, HONEST, drifting=0.1, tiring=0.1, hasty=0.1, patterns=0.1, seed=1)


def workers_with(habit: str) -> np.ndarray:
    return np.flatnonzero(np.array([name == habit for name in TIMED.habit]))


def test_without_habits_only_times_are_added() -> None:
    timed = add_times(CROWD.data, HONEST, seed=1)
    assert np.array_equal(timed.data.label, CROWD.data.label)
    assert not timed.careless.any()
    assert set(timed.habit) == {None}


def test_shares_of_the_workers_get_each_habit() -> None:
    assert {habit: len(workers_with(habit)) for habit in HABITS} == dict.fromkeys(HABITS, 2)
    with pytest.raises(DataError, match="fewer than asked for"):
        add_times(CROWD.data, ~HONEST, drifting=0.1)


def test_careless_labels_are_as_good_as_guesses() -> None:
    right = TIMED.data.label == CROWD.truth[TIMED.data.item]
    assert abs(right[TIMED.careless].mean() - 1 / 3) < 0.06
    assert right[~TIMED.careless].mean() > 0.7


def test_drifting_workers_stop_looking_at_one_label() -> None:
    time = TIMED.data.time
    assert time is not None
    for worker in workers_with("drifting"):
        own = np.flatnonzero(TIMED.data.worker == worker)
        careless = TIMED.careless[own[np.argsort(time[own])]]
        assert careless.tolist() == sorted(careless.tolist())
        assert np.flatnonzero(careless)[0] == TIMED.begins[worker]
    steady = np.setdiff1d(np.arange(20), workers_with("drifting"))
    assert (TIMED.begins[steady] == UNKNOWN).all()


def test_hasty_labels_take_far_less_time() -> None:
    seconds = TIMED.data.duration
    assert seconds is not None
    own = np.isin(TIMED.data.worker, workers_with("hasty"))
    fast, slow = (np.median(seconds[own & part]) for part in (TIMED.careless, ~TIMED.careless))
    assert fast < slow / 4


def test_patterns_go_round_the_classes_in_the_order_of_work() -> None:
    time = TIMED.data.time
    assert time is not None
    for worker in workers_with("pattern"):
        own = np.flatnonzero(TIMED.data.worker == worker)
        given = TIMED.data.label[own[np.argsort(time[own])]]
        assert (np.diff(given) % 3 == 1).all()


def test_the_same_seed_gives_the_same_crowd() -> None:
    again = add_times(CROWD.data, HONEST, drifting=0.1, tiring=0.1, hasty=0.1, patterns=0.1, seed=1)
    assert again.data.fingerprint == TIMED.data.fingerprint
