"""Numbers are told from classes, parsed in their usual spellings, and never decided silently."""

from __future__ import annotations

import numpy as np
import pytest

from crowdcore.data import CrowdData, DataError
from crowdcore.reading import read_labels
from crowdcore.reading.labels.cleaning import Cleaning
from crowdcore.reading.labels.ratings import parse_numbers
from crowdcore.simulation.ratings import simulate_ratings


def table(rows: list[tuple[str, str, str]]) -> bytes:
    lines = ["item\tworker\tlabel", *("\t".join(row) for row in rows)]
    return "\n".join(lines).encode()


def rated(steps: int = 4, spell: str = "{}") -> list[tuple[str, str, str]]:
    """A crowd whose ratings go from 0 to the number of steps."""
    data = simulate_ratings(items=60, workers=12, ratings_per_item=5, steps=steps, seed=1).data
    return [
        (data.items[i], data.workers[w], spell.format(round(y / 10 * steps)))
        for i, w, y in zip(data.item, data.worker, data.label, strict=True)
    ]


def count(data: CrowdData, id: str) -> int:
    return next((one.count for one in data.report.findings if one.id == id), 0)


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["1", "2.5", "-3e2"], [1, 2.5, -300]),
        (["2,5", "3"], [2.5, 3]),
        (["4/5", "3 / 5"], [4, 3]),
        (["80 %", "5%"], [80, 5]),
        (["1 star", "3 stars"], [1, 3]),
        (["Disagree", "agree", "neutral"], [2, 4, 3]),
    ],
)
def test_usual_spellings_are_numbers(texts: list[str], values: list[float]) -> None:
    np.testing.assert_array_equal(parse_numbers(texts).values, values)


@pytest.mark.parametrize("texts", [["1", "cat"], ["4/5", "3/10"], ["5 kg", "3 m"], ["2020-01-02"]])
def test_other_texts_are_not_all_numbers(texts: list[str]) -> None:
    assert not parse_numbers(texts).are_all


def test_decimals_are_read_as_ratings_and_the_report_says_so() -> None:
    rows = rated(spell="{}.5")
    data = read_labels(table(rows))
    assert (data.kind, data.classes) == ("ratings", ())
    assert data.label.tolist() == [float(row[2]) for row in rows]
    finding = next(one for one in data.report.findings if one.id == "read_as_ratings")
    assert finding.option == {"kind": "classes"}
    assert read_labels(table(rows), cleaning=Cleaning(kind="classes")).kind == "classes"


def test_few_whole_numbers_stay_classes_with_an_offer_that_works() -> None:
    data = read_labels(table(rated()))
    assert data.kind == "classes"
    finding = next(one for one in data.report.findings if one.id == "ratings")
    assert (finding.count, finding.severity) == (5, "warning")
    again = read_labels(table(rated()), cleaning=Cleaning().with_option(finding.option))
    assert again.kind == "ratings"


def test_codes_of_classes_are_not_taken_for_ratings() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 30, 100)
    rows = [
        (f"t{t}", f"w{w}", str(truth[t] if rng.random() < 0.7 else rng.integers(0, 30)))
        for t in range(100)
        for w in range(6)
    ]
    data = read_labels(table(rows))
    assert data.kind == "classes"
    assert (
        count(data, "ratings") == 0
        or next(one for one in data.report.findings if one.id == "ratings").severity == "warning"
    )


def test_two_numbers_are_classes() -> None:
    data = read_labels(table(rated(steps=1)))
    assert data.kind == "classes"
    assert count(data, "ratings") == 0


def test_missing_codes_and_ratings_off_the_scale_are_found_and_can_be_left_out() -> None:
    rows = [*rated(steps=10), ("item01", "worker01", "99"), ("item02", "worker02", "11")]
    data = read_labels(table(rows), cleaning=Cleaning(kind="ratings", contradictions="all"))
    assert data.label.max() == 99
    assert count(data, "off_scale") == 2
    rows = [*rated(steps=4), *((f"item{n:02d}", "worker13", "99") for n in range(1, 40))]
    coded = read_labels(table(rows), cleaning=Cleaning(kind="ratings"))
    finding = next(one for one in coded.report.findings if one.id == "rating_codes")
    assert finding.count == 39
    fixed = read_labels(table(rows), cleaning=Cleaning(kind="ratings").with_option(finding.option))
    assert fixed.label.max() == 4


def test_words_as_ratings_are_refused_by_name() -> None:
    rows = [*rated(), ("item01", "worker13", "unsure")]
    with pytest.raises(DataError, match=r"'unsure'.*missing answers"):
        read_labels(table(rows), cleaning=Cleaning(kind="ratings"))


def test_gold_may_have_decimals_that_no_rating_has() -> None:
    gold = b"item,truth\nitem01,2.25\nitem02,1\n"
    data = read_labels(table(rated()), gold=gold, cleaning=Cleaning(kind="ratings"))
    assert data.n_gold == 2
    assert data.gold is not None
    assert data.gold[data.items.index("item01")] == 2.25


def test_errors_that_grow_with_the_value_are_told() -> None:
    rng = np.random.default_rng(3)
    truth = np.exp(rng.normal(4, 1.5, 60))
    rows = [
        (f"t{t}", f"w{w}", f"{truth[t] * np.exp(rng.normal(0, 0.4)):.1f}")
        for t in range(60)
        for w in range(6)
    ]
    assert count(read_labels(table(rows)), "growing_errors") == 60
    assert count(read_labels(table(rated(spell="{}.5"))), "growing_errors") == 0
