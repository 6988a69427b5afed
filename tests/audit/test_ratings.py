"""Workers who rate are judged by what others say, with intervals that hold; alpha is exact."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from crowdcore.audit.ratings.agreement import agreement, compare_raters, reliability
from crowdcore.audit.ratings.judging import judge
from crowdcore.data import CrowdData
from crowdcore.registry import fit
from crowdcore.simulation.ratings import RATING_CHARACTERS, RatingCharacter, simulate_ratings

SHARES: dict[RatingCharacter, float] = {
    name: 0.07 for name in RATING_CHARACTERS if name not in ("good", "wide")
}


def crowd(seed: int, **options: int) -> tuple[CrowdData, tuple[str, ...]]:
    sizes = {"items": 200, "workers": 58, "ratings_per_item": 12, **options}
    made = simulate_ratings(shares=SHARES, activity=0.0, seed=seed, **sizes)
    return made.data, made.character


def test_verdicts_name_what_workers_are_and_accuse_no_good_one() -> None:
    right: dict[str, list[bool]] = {}
    accused = []
    for seed in range(3):
        data, character = crowd(seed)
        verdicts = fit(data, "mean").workers()["verdict"]
        for who, verdict in zip(character, verdicts, strict=True):
            right.setdefault(who, []).append(verdict == who)
            if who == "good":
                accused.append(verdict not in ("good", "undecided"))
    assert np.mean(accused) <= 0.05
    for who in ("lenient", "strict", "narrow", "one answer", "inverted"):
        assert np.mean(right[who]) > 0.8, who
    assert np.mean(right["noisy"]) > 0.4


def test_random_workers_are_never_called_good() -> None:
    data, character = crowd(4)
    verdicts = fit(data, "gauss").workers()["verdict"]
    for who, verdict in zip(character, verdicts, strict=True):
        if who == "random":
            assert verdict in ("random", "undecided", "inverted", "noisy")


def test_intervals_of_bias_and_slope_hold_the_truth_as_often_as_they_say() -> None:
    inside: list[np.ndarray] = []
    for seed in range(3):
        made = simulate_ratings(
            items=250, workers=40, ratings_per_item=10, shares={}, activity=0.0, seed=seed
        )
        judged = judge(made.data)
        for ends, known in ((judged.bias_interval, made.bias), (judged.slope_interval, made.slope)):
            level = known.mean() if known is made.bias else 0.0  # nobody can know the level
            inside.append((ends[0] <= known - level) & (known - level <= ends[1]))
    assert 0.88 <= np.concatenate(inside).mean() <= 1.0


def test_own_ratings_take_no_part_in_what_a_worker_is_compared_with() -> None:
    data, character = crowd(1, items=60, workers=12, ratings_per_item=6)
    worker = character.index("good")
    rows = np.flatnonzero(data.worker == worker)[:1]
    moved = data.label.copy()
    moved[rows] += 0.01
    before, after = judge(data), judge(dataclasses.replace(data, label=moved))
    change = np.abs(after.others - before.others)
    same_item = (data.item == data.item[rows[0]]) & (data.worker != worker)
    assert change[rows[0]] < 0.2 * change[same_item].max()


def test_ninety_five_of_a_hundred_intervals_hold_the_truth() -> None:
    for name, least in (("mean", 0.93), ("gauss", 0.91), ("auto", 0.93)):
        shares = []
        for seed in range(3):
            result = fit(simulate_ratings(items=300, workers=40, seed=seed).data, name)
            score = result.score()
            assert score is not None
            shares.append(score.coverage)
        assert least < np.mean(shares) < 0.99, name


def small(values: list[list[float]]) -> CrowdData:
    """Rows are items, columns workers; NaN where there is no rating."""
    table = np.array(values)
    item, worker = np.nonzero(~np.isnan(table))
    return CrowdData(
        item=item,
        worker=worker,
        label=table[item, worker],
        items=tuple(f"i{n}" for n in range(len(table))),
        workers=tuple(f"w{n}" for n in range(table.shape[1])),
        kind="ratings",
    )


KRIPPENDORFF: list[list[float]] = [
    [1, 1, np.nan, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4],
    [4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [np.nan, 5, 5, 5], [np.nan, np.nan, 1, 1],
    [np.nan, np.nan, 3, np.nan],
]  # fmt: skip
"""The example of Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability"."""


def test_alpha_is_that_of_krippendorffs_own_example() -> None:
    found = agreement(small(KRIPPENDORFF))
    values = {one.name: one.value for one in found.coefficients}
    assert values["alpha, interval"] == pytest.approx(0.849, abs=5e-4)
    assert values["alpha, ordinal"] == pytest.approx(0.815, abs=5e-4)
    assert values["alpha, ratio"] == pytest.approx(0.797, abs=5e-4)
    assert (found.n_items, found.n_alone) == (11, 1)
    for one in found.coefficients[:3]:
        assert one.interval is not None
        assert one.value is not None
        assert one.interval[0] < one.value < one.interval[1] + 0.02


def test_what_is_not_defined_says_why() -> None:
    for data in (small([[1.0], [2.0]]), small([[3.0, 3.0], [3.0, 3.0]])):
        found = agreement(data)
        assert found.alpha is None
        assert all(one.note.endswith(".") for one in found.coefficients)
    negative = agreement(small([[-1.0, -1.0], [2.0, 1.0], [3.0, 3.0]]))
    assert "above 0" in negative.coefficients[2].note


def test_two_workers_are_compared_by_their_differences() -> None:
    rows = [[float(n), n + (1.0 if n % 2 else 3.0)] for n in range(12)]
    pair = compare_raters(small(rows), 0, 1)
    assert (pair.n_shared, pair.difference) == (12, -2.0)
    assert pair.low is not None
    assert pair.low == pytest.approx(-2 - 1.96 * np.std([1.0, 3.0] * 6, ddof=1))
    assert compare_raters(small(rows[:9]), 0, 1).difference is None
    same = compare_raters(small([[float(n), float(n)] for n in range(12)]), 0, 1)
    assert same.kappa == 1


def test_reliability_is_the_truths_share_of_the_variance() -> None:
    shares = reliability(np.array([3.0, 1.0, 2.0, 0.3]), 3)
    assert shares["one"] == 0.5
    assert shares["unbiased"] == 0.6
    assert shares["mean"] == 0.75
    assert shares["truths"] == pytest.approx(0.9)


def test_gold_fixes_level_and_range_only_if_it_helps() -> None:
    made = simulate_ratings(items=200, workers=20, shares={}, seed=5)
    shifted = dataclasses.replace(made.data, label=2 + 0.6 * made.data.label)
    result = fit(shifted, "gauss", calibrate="gold")
    assert made.data.gold is not None
    assert np.sqrt(((result.truth - made.data.gold) ** 2).mean()) < 0.5
    assert result.provenance.used_gold
    assert result.score() is None
    kept = fit(made.data, "mean", calibrate="gold")
    assert any("gold items" in note for note in kept.provenance.notes)
