"""Comparisons: verdicts on workers, who beats whom, and what to ask next."""

from __future__ import annotations

import numpy as np
import pytest

from crowdcore.audit.comparisons.agreement import worker_agreement
from crowdcore.audit.comparisons.cycles import count_cycles
from crowdcore.audit.comparisons.held_out import hold_out
from crowdcore.audit.comparisons.items import encounters
from crowdcore.audit.comparisons.next_pairs import expected_bits, next_pairs
from crowdcore.audit.kinds import audit_of
from crowdcore.building import comparisons_of
from crowdcore.registry import fit
from crowdcore.simulation.comparisons import simulate_arena


def test_verdicts_find_each_habit_and_accuse_nobody_else() -> None:
    arena = simulate_arena(
        items=30, workers=30, comparisons=9000, sided=0.2, random=0.1, reversed=0.1, blunt=0,
        sharp=0, seed=1,
    )  # fmt: skip
    table = fit(arena.data, "bayesian_bt").workers()
    verdicts = table.groupby(np.array(arena.habit))["verdict"].agg(list)
    assert set(verdicts["left"]) == set(verdicts["right"]) == {"side bias"}
    assert set(verdicts["reversed"]) == {"reversed"}
    assert set(verdicts["random"]) == {"random"}
    assert set(verdicts["careful"]) == {"good"}
    left = table[np.array(arena.habit) == "left"]
    assert left["evidence"].str.startswith("Chose the left item").all()


def test_careful_workers_with_few_comparisons_are_not_accused() -> None:
    accused = 0
    for seed in range(5):
        arena = simulate_arena(
            items=20, workers=40, comparisons=1200, sharp=0, blunt=0, sided=0, random=0, seed=seed
        )
        table = fit(arena.data, "bradley_terry").workers()
        accused += int(table["verdict"].isin(audit_of("comparisons").in_doubt).sum())
    assert accused <= 4  # of 200


def test_a_worker_who_goes_round_in_circles_is_called_intransitive() -> None:
    arena = simulate_arena(items=20, workers=12, comparisons=4000, spread=2.0, ties=0, sharp=0,
                           blunt=0, sided=0, random=0, seed=2)  # fmt: skip
    data = arena.data
    names = data.items
    assert data.other is not None
    rows = [
        (names[a], names[b], data.workers[w], ("left", "right", "tie")[o])
        for a, b, w, o in zip(data.item, data.other, data.worker, data.label, strict=True)
    ]
    # Follows the order, but turns three pairs of ten round, near or far.
    ranked = [names[item] for item in np.argsort(-arena.scores)]
    for first in range(20):
        for second in range(first + 1, 20):
            winner = ranked[second] if (7 * first + 3 * second) % 10 < 3 else ranked[first]
            sides = (ranked[first], ranked[second])
            rows.append((*(sides if second % 2 else sides[::-1]), "odd", winner))
    result = fit(comparisons_of(rows), "bayesian_bt")
    odd = result.workers().set_index("worker").loc["odd"]
    assert odd["cyclic_share"] > odd["expected_cyclic_share"] + 0.05
    assert odd["verdict"] == "intransitive"
    assert "circle" in odd["evidence"]


def test_cycles_and_flips_are_counted_right() -> None:
    rows = [
        ("a", "b", "w", "a"), ("b", "c", "w", "b"), ("c", "a", "w", "c"),
        ("a", "b", "v", "a"), ("b", "c", "v", "b"), ("a", "c", "v", "a"),
        ("a", "b", "v", "b"), ("a", "d", "v", "a"), ("a", "d", "v", "a"),
    ]  # fmt: skip
    data = comparisons_of(rows)
    held_out = hold_out(data, np.zeros(4))
    cycles = count_cycles(held_out, 2, 4)
    assert cycles.triads.tolist() == [1, 0]  # v took back a over b
    assert cycles.cyclic.tolist() == [1, 0]
    assert cycles.repeated.tolist() == [0, 2]
    assert cycles.flipped.tolist() == [0, 1]
    assert cycles.expected[0] == pytest.approx(0.25, abs=0.1)


def test_nobody_is_held_against_their_own_answers() -> None:
    """The only worker who knows two items is not compared with themselves."""
    rows = [("a", "b", "v", "a"), ("b", "a", "u", "a"), *[("c", "d", "w", "c")] * 20]
    data = comparisons_of(rows)
    held_out = hold_out(data, np.zeros(4))
    assert not held_out.known[-20:].any()
    verdict = fit(data, "bradley_terry").workers().set_index("worker").loc["w"]
    assert verdict["verdict"] == "undecided"


def test_encounters_count_wins_whichever_side_they_are_on() -> None:
    data = comparisons_of(
        [("a", "b", "w", "a"), ("b", "a", "v", "a"), ("a", "b", "u", "b"), ("b", "a", "w", "tie")]
    )
    met = encounters(fit(data, "bayesian_bt"), np.array([0, 1]))
    assert met.wins.tolist() == [[0, 2], [1, 0]]
    assert met.ties.tolist() == [[0, 1], [1, 0]]
    assert met.above[0, 1] == pytest.approx(1 - met.above[1, 0])


def test_agreement_is_about_pairs_whichever_side_they_are_on() -> None:
    rows = [("a", "b", "w", "a"), ("b", "a", "v", "a"), ("c", "d", "w", "c"), ("c", "d", "v", "d")]
    found = worker_agreement(comparisons_of(rows))
    assert found.observed == pytest.approx(0.5)


def test_next_pairs_are_open_and_little_known() -> None:
    result = fit(simulate_arena(items=25, comparisons=800, seed=3).data, "bayesian_bt")
    pairs = next_pairs(result, limit=20)
    assert (pairs["bits"].diff().dropna() <= 1e-12).all()
    assert pairs["above"].between(0.5, 0.95).all()
    assert (pairs["first_rank"] < pairs["second_rank"]).all()
    # More is learnt where less is known; nothing where the order is sure.
    bits = expected_bits(np.array([0.0, 0.0, 5.0]), np.array([1.0, 0.01, 0.1]))
    assert bits[0] > bits[1] > bits[2]
    assert next_pairs(fit(result.data, "noisy_bt")).empty
