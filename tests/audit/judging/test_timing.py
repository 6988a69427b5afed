from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from crowdcore.audit.judging.judgement import Judgement, judge_crowd
from crowdcore.audit.judging.labels import JudgedLabels
from crowdcore.audit.judging.time_evidence import durations
from crowdcore.audit.judging.timing import Changes, fast_labels, pattern_probability
from crowdcore.data import CrowdData
from crowdcore.simulation.classes import simulate
from crowdcore.simulation.times import TimedCrowd, add_times
from tests.audit.judging.crowds import without_gold


@cache
def timed_crowd() -> TimedCrowd:
    """Thirty workers with 160 labels each; some change, click through, or go round the classes."""
    simulation = simulate(
        items=800,
        workers=30,
        classes=3,
        labels_per_item=6,
        spammers=0,
        careless=0,
        class_bias=0,
        activity=0,
        features=0,
        seed=2,
    )
    honest = np.ones(30, bool)
    return add_times(
        without_gold(simulation.data), honest, drifting=0.1, tiring=0.1, hasty=0.1, patterns=0.1
    )


@cache
def judged() -> Judgement:
    return judge_crowd(timed_crowd().data)


def with_habit(habit: str | None) -> NDArray[np.intp]:
    return np.flatnonzero(np.array([name == habit for name in timed_crowd().habit]))


def test_a_change_of_care_is_found_where_it_is() -> None:
    time, drifting = judged().time, with_habit("drifting")
    assert time.is_drifting[drifting].sum() >= 2  # of three; one was hardly better before
    assert time.drift is not None
    begins = timed_crowd().begins[drifting]
    assert np.abs(time.drift.n_first[drifting] - begins).max() < 15
    assert (time.drift.before - time.drift.after)[drifting].min() > 0.4


def test_clicking_through_is_found_where_it_costs_care() -> None:
    time = judged().time
    assert time.is_hasty[with_habit("hasty")].all()
    fast = time.fast[np.isin(judged().labels.worker, with_habit("hasty"))]
    assert 0.3 < fast.mean() < 0.6


def test_answers_in_a_round_are_a_pattern() -> None:
    assert judged().time.has_pattern[with_habit("pattern")].all()


def test_nobody_honest_is_suspected() -> None:
    time, honest = judged().time, with_habit(None)
    for flags in (time.is_drifting, time.is_hasty, time.has_pattern):
        assert not flags[honest].any()
    steady = np.setdiff1d(np.arange(30), np.append(with_habit("pattern"), with_habit("tiring")))
    assert not time.has_pattern[steady].any()


def test_quick_work_that_is_right_is_no_fault() -> None:
    crowd = timed_crowd()
    assert crowd.data.duration is not None
    quick = with_habit(None)[:3]
    own = np.isin(crowd.data.worker, quick)
    half = own & (np.random.default_rng(0).random(len(own)) < 0.5)
    faster = np.where(half, crowd.data.duration / 10, crowd.data.duration)
    time = judge_crowd(replace(crowd.data, duration=faster)).time
    assert time.fast[np.isin(judged().labels.worker, quick)].mean() > 0.3
    assert not time.is_hasty[quick].any()


def test_without_times_nothing_is_said_unless_rows_are_in_order() -> None:
    data = replace(timed_crowd().data, time=None, duration=None)
    nothing = judge_crowd(data).time
    assert (nothing.drift, nothing.haste, nothing.pattern) == (None, None, None)
    time = timed_crowd().data.time
    assert time is not None
    order = np.argsort(time, kind="stable")
    sorted_rows = replace(
        data, item=data.item[order], worker=data.worker[order], label=data.label[order]
    )
    by_rows = judge_crowd(sorted_rows, rows_in_order=True).time
    assert np.array_equal(by_rows.is_drifting, judged().time.is_drifting)
    assert by_rows.haste is None


def test_durations_are_taken_from_times_but_not_over_breaks() -> None:
    data = CrowdData(
        item=np.arange(5),
        worker=np.array([0, 0, 0, 0, 1]),
        label=np.zeros(5, int),
        items=tuple("abcde"),
        workers=("u", "v"),
        classes=("x", "y"),
        time=np.array([100.0, 130.0, 100_000.0, 120.0, 125.0]),
    )
    labels = JudgedLabels.from_data(data)
    seconds = durations(data, labels)
    assert seconds is not None
    assert np.nan_to_num(seconds, nan=-1).tolist() == [-1, 10, -1, 20, -1]
    assert durations(replace(data, time=None), labels) is None


def test_a_label_is_fast_below_a_third_of_the_usual_time() -> None:
    rng = np.random.default_rng(0)
    data = CrowdData(
        item=np.tile(np.arange(50), 20),
        worker=np.repeat(np.arange(20), 50),
        label=np.zeros(1000, int),
        items=tuple(map(str, range(50))),
        workers=tuple(map(str, range(20))),
        classes=("x", "y"),
    )
    seconds = 12 * np.exp(rng.normal(0, 0.1, 1000))
    seconds[[0, 1, 2]] = 12 / 3.6, 12 / 2.4, np.nan
    labels = JudgedLabels.from_data(data)
    assert np.flatnonzero(fast_labels(seconds, labels)).tolist() == [0]
    slow_item = np.where(data.item == 0, 4 * seconds, seconds)
    slow_item[0] = 12 / 3.6
    assert np.flatnonzero(fast_labels(slow_item, labels)).tolist() == [0]


@pytest.mark.parametrize("length", [30, 200])
def test_items_sorted_by_class_give_nobody_a_pattern(length: int) -> None:
    truth = np.repeat([0, 1, 2], length // 3 + 1)[:length]
    data = CrowdData(
        item=np.tile(np.arange(length), 2),
        worker=np.repeat([0, 1], length),
        label=np.tile(truth, 2),
        items=tuple(map(str, range(length))),
        workers=("u", "v"),
        classes=("x", "y", "z"),
    )
    labels = JudgedLabels.from_data(data)
    order, given = np.arange(2 * length), labels.given
    assert (pattern_probability(given, given, labels, order) == 0).all()
    mixed = np.random.default_rng(0).integers(0, 3, 2 * length)
    assert (pattern_probability(given, mixed, labels, order) > 0.95).all()


@pytest.mark.parametrize(("probability", "is_flagged"), [(0.91, True), (0.89, False)])
def test_nine_in_ten_are_needed_to_call_a_worker_drifting_or_hasty(
    probability: float, is_flagged: bool
) -> None:
    change = Changes(
        probability=np.array([probability]),
        before=np.array([0.9]),
        after=np.array([0.3]),
        n_first=np.array([50]),
    )
    time = replace(judged().time, drift=change, haste=change)
    assert time.is_drifting.tolist() == time.is_hasty.tolist() == [is_flagged]
    slight = replace(change, after=np.array([0.75]))  # sure, but a small fall
    assert not replace(time, drift=slight).is_drifting.any()


def test_nineteen_in_twenty_are_needed_to_call_answers_a_pattern() -> None:
    time = replace(judged().time, pattern=np.array([0.96, 0.94]))
    assert time.has_pattern.tolist() == [True, False]
