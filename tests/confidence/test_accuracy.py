"""The expected accuracy: wide without gold, narrow with much of it, and right as often as said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdcore.bench.confidence import learn, simulate_outcomes, write_module
from crowdcore.bench.pathological_crowds import draw_crowd
from crowdcore.confidence.accuracy import (
    MIN_HALF_WIDTH,
    ExpectedAccuracy,
    crowd_interval,
    expected_accuracy,
    with_known_answers,
)
from crowdcore.confidence.features import kappa
from crowdcore.data import UNKNOWN, CrowdData
from crowdcore.registry import fit
from crowdcore.simulation.classes import simulate


def test_without_gold_no_interval_is_narrow() -> None:
    data = replace(simulate(items=300, workers=20, seed=1).data, gold=None)
    expected = expected_accuracy(fit(data, "auto"))
    assert expected is not None
    assert expected.low < expected.estimate < expected.high
    assert expected.high - expected.low >= 2 * MIN_HALF_WIDTH
    assert "as far as other crowds can tell" in expected.describe()
    odd = np.full(8, 1e6)
    flat = {"means": (0.0,) * 8, "scales": (1.0,) * 8, "low": (2.0,) + (0.0,) * 8}
    low, high = crowd_interval(odd, {**flat, "middle": flat["low"], "high": flat["low"]})
    assert high - low >= 2 * MIN_HALF_WIDTH - 1e-9


def test_known_answers_narrow_the_interval_and_move_it() -> None:
    prior = ExpectedAccuracy(estimate=0.8, low=0.62, high=0.92)
    some = with_known_answers(prior, n_right=30, n_checked=50, n_items=5000)
    many = with_known_answers(prior, n_right=300, n_checked=500, n_items=5000)
    assert prior.high - prior.low > some.high - some.low > many.high - many.low
    assert prior.estimate > some.estimate > many.estimate
    assert many.low < 0.6 < many.high
    none = with_known_answers(prior, n_right=0, n_checked=0, n_items=5000)
    assert (none.low, none.high) == pytest.approx((prior.low, prior.high), abs=0.03)
    everything = with_known_answers(prior, n_right=60, n_checked=100, n_items=100)
    assert everything.low == everything.high == pytest.approx(0.6)


def test_gold_that_the_method_was_given_does_not_count() -> None:
    data = simulate(items=200, workers=15, seed=2).data
    blind, told = (expected_accuracy(fit(data, "ds", use_gold=use)) for use in (False, True))
    assert blind is not None
    assert told is not None
    assert blind.n_checked == 200
    assert told.n_checked == 0


def with_few_gold(data: CrowdData, rng: np.random.Generator, n: int) -> CrowdData:
    assert data.gold is not None
    gold = np.full(data.n_items, UNKNOWN, np.int32)
    some = rng.permutation(data.n_items)[:n]
    gold[some] = data.gold[some]
    return replace(data, gold=gold)


def test_on_fresh_crowds_confidence_is_right_on_average_and_intervals_hold() -> None:
    bias, held, held_with_gold = [], [], []
    for number in range(60):
        rng = np.random.default_rng([77, number])
        data = draw_crowd(rng).data
        result = fit(with_few_gold(data, rng, 25), "auto", device="cpu")
        accuracy = float((result.truth == data.gold).mean())
        bias.append(result.confidence.mean() - accuracy)
        with_gold = expected_accuracy(result)
        without = expected_accuracy(result.with_fields(data=replace(data, gold=None)))
        assert with_gold is not None
        assert without is not None
        held.append(without.low <= accuracy <= without.high)
        held_with_gold.append(with_gold.low <= accuracy <= with_gold.high)
    assert abs(np.mean(bias)) < 0.03
    assert 0.8 <= np.mean(held) <= 0.98
    assert 0.8 <= np.mean(held_with_gold) <= 0.99


def test_crowds_go_wrong_in_the_ways_that_real_ones_do() -> None:
    rng = np.random.default_rng(0)
    crowds = [draw_crowd(rng) for _ in range(250)]
    assert {crowd.data.n_classes for crowd in crowds} >= {2, 12}
    assert any(crowd.n_islands > 1 for crowd in crowds)
    assert any(crowd.n_copiers > 1 for crowd in crowds)
    votes = [crowd.data.votes for crowd in crowds]
    right = [
        float(np.mean(vote.argmax(1) == crowd.data.gold))
        for vote, crowd in zip(votes, crowds, strict=True)
    ]
    agree_and_err = [
        kappa(vote) > 0.6 and share < 0.8 for vote, share in zip(votes, right, strict=True)
    ]
    assert any(agree_and_err)
    again = draw_crowd(np.random.default_rng(0)).data
    assert again.fingerprint == crowds[0].data.fingerprint


def test_constants_are_learnt_and_written_as_a_module(tmp_path: object) -> None:
    from pathlib import Path

    learnt = learn(simulate_outcomes(40, 3))
    path = Path(str(tmp_path)) / "constants.py"
    write_module(learnt, n_crowds=40, seed=3, path=path)
    written: dict[str, object] = {}
    exec(path.read_text(), written)
    assert written["MAPS"] == learnt.maps
    assert written["INTERVALS"] == learnt.intervals
    assert all(len(weights) == 7 for weights in learnt.maps.values())
    assert max(map(len, path.read_text().splitlines())) <= 100
