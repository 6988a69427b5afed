from __future__ import annotations

import numpy as np
import pytest

from crowdcore.audit.judging.accuracy import (
    Distributions,
    SharedErrors,
    accuracy_distributions,
    corrected,
    shared_errors,
)
from crowdcore.audit.judging.judgement import judge_crowd
from crowdcore.audit.judging.labels import JudgedLabels
from crowdcore.data import CrowdData
from crowdcore.simulation.classes import simulate
from tests.audit.judging.crowds import share_right, with_gold, without_gold


def certain(hits: int, misses: int) -> Distributions:
    """The posterior of one worker's accuracy where the truth is known."""
    triples = [(item, "w", "a") for item in range(hits + misses)]
    labels = JudgedLabels.from_data(CrowdData.from_triples(triples, classes=["a", "b"]))
    hit = np.repeat([1.0, 0.0], [hits, misses])
    return accuracy_distributions(hit, 1 - hit, labels, np.ones(hits + misses, bool))


def test_with_known_truths_the_posterior_is_a_beta_distribution() -> None:
    from scipy.special import betainc, betaincinv

    known = certain(30, 10)
    assert known.quantile(np.array([0.5]))[0, 0] == pytest.approx(betaincinv(31, 11, 0.5), abs=2e-3)
    assert known.probability_below(0.7)[0] == pytest.approx(betainc(31, 11, 0.7), abs=5e-3)
    low, high = known.interval()
    assert np.diff(betainc(31, 11, [low[0], high[0]]))[0] == pytest.approx(0.95, abs=5e-3)
    assert high[0] - low[0] < np.diff(betaincinv(31, 11, [0.025, 0.975]))[0]


def test_many_labels_give_a_narrow_interval() -> None:
    low, high = certain(9000, 1000).interval()
    assert high[0] - low[0] == pytest.approx(2 * 1.96 * 0.003, rel=0.1)


def test_a_worker_who_was_always_right_may_be_so_always() -> None:
    low, high = certain(20, 0).interval()
    assert high[0] == 1
    assert 0.84 < low[0] < 0.88


def test_without_labels_everything_is_possible() -> None:
    low, high = certain(0, 1).interval()
    assert low[0] == 0
    assert high[0] < 0.8
    labels = JudgedLabels.from_data(CrowdData.from_triples([("i", "w", "a")], classes=["a", "b"]))
    nothing = accuracy_distributions(np.ones(1), np.zeros(1), labels, np.zeros(1, bool))
    low, high = nothing.interval()
    assert high[0] - low[0] == pytest.approx(0.95)


def test_gold_shows_errors_that_the_crowd_shares() -> None:
    rng = np.random.default_rng(0)
    item = np.repeat(np.arange(40), 10)
    is_hit = (rng.random(400) < 0.7).astype(float)
    errors = shared_errors(np.full(400, 0.9), is_hit, item, np.tile(np.arange(10), 40))
    assert errors is not None
    assert errors.n_items == 40
    assert errors.shift == pytest.approx(0.2, abs=0.05)
    assert errors.standard_error < 0.04
    assert shared_errors(np.ones(90), np.ones(90), np.repeat(np.arange(9), 10), item[:90]) is None


def test_errors_of_one_item_come_together() -> None:
    item = np.repeat(np.arange(20), 10)
    worker = np.tile(np.arange(10), 20)
    together = np.repeat(np.arange(20) % 2, 10).astype(float)
    spread = np.tile([0.0, 1.0], 100)
    both = [shared_errors(np.full(200, 0.5), hit, item, worker) for hit in (together, spread)]
    assert both[0] is not None
    assert both[1] is not None
    assert both[0].standard_error > 3 * both[1].standard_error


def test_workers_who_share_errors_unequally_get_wider_intervals() -> None:
    item, worker = np.repeat(np.arange(40), 10), np.tile(np.arange(10), 40)
    unequal = (worker < 5).astype(float)  # half of them always wrong where 50 % is believed
    errors = shared_errors(np.full(400, 0.5), unequal, item, worker)
    assert errors is not None
    assert errors.own_sd == pytest.approx(0.5, abs=0.05)
    assert errors.spread > 0.45


def test_a_shift_moves_and_widens_what_the_crowd_sees() -> None:
    errors = SharedErrors(shift=0.1, standard_error=0.02, own_sd=0.0, n_items=20, n_labels=200)
    assert errors.spread == pytest.approx(np.sqrt(0.02**2 + 0.05**2 + 0.03**2))
    plain = certain(160, 40)
    none = np.zeros(1)
    moved = corrected(plain, errors, none, none)
    middle = np.array([0.5])
    before, after = plain.quantile(middle)[0, 0], moved.quantile(middle)[0, 0]
    assert after == pytest.approx(before - 0.1, abs=0.01)
    widths = [high[0] - low[0] for low, high in (plain.interval(), moved.interval())]
    assert widths[1] > 1.5 * widths[0]
    on_gold = corrected(plain, errors, np.array([20.0]), np.array([20.0]))
    assert on_gold.quantile(middle)[0, 0] > after + 0.03


@pytest.mark.parametrize("n_gold", [0, 40])
def test_intervals_hold_about_as_often_as_they_say(n_gold: int) -> None:
    covered, total = 0, 0
    for seed in range(8):
        simulation = simulate(
            items=300,
            workers=40,
            classes=2 + seed % 3,
            labels_per_item=4,
            spammers=0.15,
            hard_items=0.2,
            features=0,
            seed=100 + seed,
        )
        data = without_gold(simulation.data)
        if n_gold:
            data = with_gold(data, simulation.truth, n_gold, seed)
        low, high = judge_crowd(data).accuracy.interval()
        right = share_right(simulation)
        covered += int(((low <= right) & (right <= high)).sum())
        total += len(right)
    assert covered / total > 0.92
