"""Methods for comparisons: the models' own equations, and intervals that hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdcore.artefacts.order import Order
from crowdcore.building import comparisons_of
from crowdcore.data import OUTCOMES, CrowdData
from crowdcore.engine.bradley_terry import chances
from crowdcore.registry import fit
from crowdcore.simulation.comparisons import simulate_arena

RANKINGS = ("bayesian_bt", "bradley_terry", "noisy_bt")


def test_bradley_terry_meets_its_likelihood_equations() -> None:
    """At the maximum every item has won as often as its scores make one expect (Zermelo)."""
    data = simulate_arena(ties=0, seed=1).data
    result = fit(data, "bradley_terry", regularisation=1e-6, tol=1e-8)
    assert data.other is not None
    expected = 1 / (1 + np.exp(result.truth[data.other] - result.truth[data.item]))
    won = (data.label == 0).astype(float)
    for item in range(data.n_items):
        on_left, on_right = data.item == item, data.other == item
        total = won[on_left].sum() + (1 - won)[on_right].sum()
        assert expected[on_left].sum() + (1 - expected)[on_right].sum() == pytest.approx(
            total, abs=1e-3
        )


def test_ties_meet_davidsons_equation() -> None:
    data = simulate_arena(ties=0.8, seed=2).data
    result = fit(data, "bradley_terry", regularisation=1e-6, tol=1e-8)
    order, other = result.artefact(Order), data.other
    assert order is not None
    assert other is not None
    expected = chances(result.truth[data.item] - result.truth[other], order.tie)
    assert expected.of(2).sum() == pytest.approx((data.label == 2).sum(), rel=1e-4)


def test_chances_add_to_one_and_mirror() -> None:
    d = np.linspace(-6, 6, 13)
    for tie in (0.0, 0.7):
        there, back = chances(d, tie), chances(-d, tie)
        np.testing.assert_allclose(sum(there.of(code) for code in range(3)), 1)
        np.testing.assert_allclose(there.of(0), back.of(1))
        mean = there.of(0) + 0.5 * there.of(2)
        np.testing.assert_allclose(there.points, mean)
        np.testing.assert_allclose(
            there.information, there.of(0) + 0.25 * there.of(2) - mean**2, atol=1e-12
        )


@pytest.mark.parametrize("name", RANKINGS)
def test_swapping_the_sides_of_all_comparisons_keeps_the_scores(name: str) -> None:
    data = simulate_arena(seed=3, comparisons=800).data
    assert data.other is not None
    swapped = np.array([1, 0, 2])[data.label]
    turned = replace(data, item=data.other, other=data.item, label=swapped)
    np.testing.assert_allclose(fit(data, name).truth, fit(turned, name).truth, atol=2e-3)


@pytest.mark.parametrize("name", RANKINGS)
def test_the_order_is_found_although_workers_are_careless(name: str) -> None:
    arena = simulate_arena(
        items=20, workers=30, comparisons=6000, random=0.2, sided=0.2, reversed=0.1, seed=4
    )
    score = fit(arena.data, name).score()
    assert score is not None
    assert score.figures["rho"] > 0.95


def test_worker_models_find_who_is_careless() -> None:
    arena = simulate_arena(workers=30, comparisons=9000, random=0.2, sided=0.2, seed=5)
    habit = np.array(arena.habit)
    noisy, bayesian = fit(arena.data, "noisy_bt"), fit(arena.data, "bayesian_bt")
    reliability = noisy.worker_scores["reliability"]
    assert reliability[habit == "random"].max() < reliability[habit == "careful"].min()
    lean = bayesian.worker_scores["lean_to_left"]
    assert lean[habit == "left"].min() > 0.7
    assert lean[habit == "right"].max() < -0.7
    assert np.abs(lean[habit == "careful"]).max() < 0.7
    sharpness = bayesian.worker_scores["discrimination"]
    assert sharpness[habit == "random"].max() < 0.5 < sharpness[habit == "careful"].min()


def test_bayesian_intervals_and_orders_hold_as_often_as_they_say() -> None:
    inside, said, right = [], [], []
    for seed in range(25):
        arena = simulate_arena(items=15, workers=30, comparisons=900, reversed=0.05, seed=seed)
        result = fit(arena.data, "bayesian_bt")
        inside.append((result.low <= arena.scores) & (arena.scores <= result.high))
        first, second = np.triu_indices(15, 1)
        above = result.above(first, second)
        is_above = arena.scores[first] > arena.scores[second]
        said.append(np.maximum(above, 1 - above))
        right.append(np.where(above > 0.5, is_above, ~is_above))
    assert 0.90 <= np.mean(inside) <= 0.985
    assert np.mean(right) == pytest.approx(np.mean(said), abs=0.03)
    sure = np.concatenate(said) > 0.95
    assert np.concatenate(right)[sure].mean() > 0.97


def test_bradley_terry_intervals_hold_for_even_workers() -> None:
    inside = []
    for seed in range(20):
        arena = simulate_arena(
            items=15, comparisons=1500, sharp=0, blunt=0, sided=0, random=0, seed=seed
        )
        result = fit(arena.data, "bradley_terry")
        inside.append((result.low <= arena.scores) & (arena.scores <= result.high))
    assert 0.92 <= np.mean(inside) <= 0.98


def test_an_item_that_never_lost_has_a_wide_interval() -> None:
    data = comparisons_of([("a", "b", "w", "a"), ("a", "c", "w", "a"), ("b", "c", "v", "b")] * 3)
    result = fit(data, "bradley_terry")
    assert result.order[0] == 0
    assert result.high[0] - result.low[0] > 5


def test_groups_that_were_never_compared_are_spoken_of() -> None:
    rows = [("a", "b", "w", "a"), ("b", "a", "v", "a"), ("c", "d", "w", "c")]
    result = fit(comparisons_of(rows), "bradley_terry")
    assert any("2 groups" in note for note in result.provenance.notes)


def test_ranks_and_neighbours_follow_the_scores() -> None:
    result = fit(simulate_arena(seed=6).data, "bayesian_bt")
    assert (np.diff(result.truth[result.order]) <= 0).all()
    assert sorted(result.rank) == list(range(1, 31))
    assert np.isnan(result.above_next[result.order[-1]])
    assert (np.delete(result.above_next, result.order[-1]) >= 0.5).all()
    order = result.artefact(Order)
    assert order is not None
    assert order.best.sum() == pytest.approx(1)
    assert ((order.rank_low <= result.rank) & (result.rank <= order.rank_high)).all()


def test_only_ties_and_one_pair_are_fitted() -> None:
    data = CrowdData(
        item=np.zeros(4, np.int32),
        other=np.ones(4, np.int32),
        worker=np.arange(4),
        label=np.full(4, 2),
        items=("a", "b"),
        workers=tuple("wxyz"),
        classes=OUTCOMES,
        kind="comparisons",
    )
    for name in RANKINGS:
        np.testing.assert_allclose(fit(data, name).truth, 0, atol=1e-9)
