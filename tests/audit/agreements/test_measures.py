"""Measures of agreement against published numbers, and against pairs counted one by one."""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdcore import CrowdData
from crowdcore.audit.agreement import agreement
from crowdcore.audit.agreements.panel import AgreementPanel, measure_agreement
from tests.audit.test_agreement import PUBLISHED, Triples, crowd
from tests.crowds import golden_crowd

# Of the third published example, four observers with gaps, as the irrCAC package prints them.
GWET = {
    "percent": 0.8181818,
    "alpha": 0.7434211,
    "Fleiss' kappa": 0.7611693,
    "Gwet's AC1": 0.7754441,
    "alpha, ordinal": 0.8153875,
}

# Fleiss (1971) as worked through in textbooks: ten items, fourteen labels each, five classes.
FLEISS = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip


def values(panel: AgreementPanel) -> dict[str, float | None]:
    return {entry.name: entry.value for entry in panel.coefficients}


def test_measures_are_as_published_where_labels_are_missing() -> None:
    panel = measure_agreement(crowd(PUBLISHED[2][0]))
    measured = values(panel)
    for name, value in GWET.items():
        assert measured[name] == pytest.approx(value, abs=5e-7), name
    assert (panel.n_items, panel.n_alone) == (11, 1)
    for entry in panel.coefficients:
        assert entry.interval is not None
        assert entry.interval[0] < entry.value < entry.interval[1] + 1e-9  # type: ignore[operator]
        assert entry.steps


def test_fleiss_kappa_is_that_of_his_example() -> None:
    triples = [
        (str(item), f"{item} {klass} {n}", str(klass))
        for item, row in enumerate(FLEISS)
        for klass, number in enumerate(row)
        for n in range(number)
    ]
    assert values(measure_agreement(CrowdData.from_triples(triples)))[
        "Fleiss' kappa"
    ] == pytest.approx(0.20993, abs=5e-5)


def slow_measures(triples: Triples) -> dict[str, float]:
    """Every pair of labels of different workers, one by one, then Gwet's formulas."""
    by_item = defaultdict(list)
    for item, worker, label in triples:
        by_item[item].append((worker, int(label)))
    classes = sorted({int(label) for _, _, label in triples})
    spread = (max(classes) - min(classes)) ** 2
    shares = [
        np.mean([np.mean([label == k for _, label in row]) for row in by_item.values()])
        for k in classes
    ]
    same, near = [], []
    for row in by_item.values():
        pairs = [(a[1], b[1]) for a, b in itertools.permutations(row, 2) if a[0] != b[0]]
        if pairs:
            same.append(np.mean([a == b for a, b in pairs]))
            near.append(np.mean([1 - (a - b) ** 2 / spread for a, b in pairs]))
    q = len(classes)
    open_share = sum(share * (1 - share) for share in shares)
    weights = sum(1 - (a - b) ** 2 / spread for a in classes for b in classes)
    chance = {
        "Fleiss' kappa": sum(share**2 for share in shares),
        "Gwet's AC1": open_share / (q - 1),
        "Gwet's AC2": weights / (q * (q - 1)) * open_share,
    }
    agreed = {name: np.mean(near if name == "Gwet's AC2" else same) for name in chance}
    measured = {name: (agreed[name] - chance[name]) / (1 - chance[name]) for name in chance}
    return {**measured, "percent": float(np.mean(same))}


triples = st.lists(
    st.tuples(st.sampled_from("abcde"), st.sampled_from("vwxyz"), st.sampled_from("012")),
    min_size=1,
    max_size=40,
)


@given(triples)
@settings(max_examples=60, deadline=None)
def test_measures_are_those_of_pairs_counted_one_by_one_repeats_and_all(triples: Triples) -> None:
    data = CrowdData.from_triples(triples, classes=["0", "1", "2"])
    panel = measure_agreement(data)
    measured = values(panel)
    expected = agreement(data).alpha
    assert measured["alpha"] == (None if expected is None else pytest.approx(expected))
    if measured["alpha"] is None or "Gwet's AC2" not in measured:
        return
    for name, value in slow_measures(triples).items():
        assert measured[name] == pytest.approx(value), name


def test_agreement_by_class_is_the_share_of_partners_who_say_the_same() -> None:
    data = CrowdData.from_triples(
        [("1", "a", "x"), ("1", "b", "x"), ("1", "c", "y"), ("2", "a", "y"), ("2", "b", "y"),
         ("3", "a", "x")]
    )  # fmt: skip
    rows = measure_agreement(data).by_class.set_index("class")
    # Each x of item 1 has one partner of two who says x; the y of item 1 none, those of 2 all.
    assert rows.loc["x", "agreement"] == pytest.approx(1 / 2)
    assert rows.loc["y", "agreement"] == pytest.approx(2 / 3)
    assert list(rows["n_labels"]) == [2, 3]
    two = golden_crowd(2)
    by_class = measure_agreement(two).by_class["alpha"]
    assert by_class.tolist() == pytest.approx([agreement(two).alpha] * 2)


def test_disputed_items_come_first_and_lonely_ones_not_at_all() -> None:
    data = CrowdData.from_triples(
        [("same", "a", "x"), ("same", "b", "x"), ("split", "a", "x"), ("split", "b", "y"),
         ("alone", "a", "x")]
    )  # fmt: skip
    panel = measure_agreement(data)
    assert panel.by_item["item"].tolist() == ["split", "same"]
    assert panel.by_item["agreement"].tolist() == [0, 1]
    assert panel.n_alone == 1


def rare_crowd() -> CrowdData:
    """Two workers who nearly always say "no" and hardly agree on the few "yes"."""
    answers = [("no", "no")] * 94 + [("yes", "no")] * 3 + [("no", "yes")] * 2 + [("yes", "yes")]
    return CrowdData.from_triples(
        [
            (str(i), w, label)
            for i, row in enumerate(answers)
            for w, label in zip("ab", row, strict=True)
        ]
    )


def test_the_prevalence_paradox_is_explained_where_measures_part_and_only_there() -> None:
    panel = measure_agreement(rare_crowd())
    measured = values(panel)
    assert measured["percent"] == pytest.approx(0.95)
    assert measured["alpha"] < 0.4  # type: ignore[operator]
    assert measured["Gwet's AC1"] > 0.9  # type: ignore[operator]
    assert "prevalence paradox" in panel.paradox
    assert "says 'yes', another says so in 28.6%" in panel.paradox
    assert measure_agreement(golden_crowd()).paradox == ""


@pytest.mark.parametrize(
    ("triples", "why"),
    [
        ([("1", "a", "x"), ("2", "b", "y")], "No item has labels of two workers"),
        ([("1", "a", "x"), ("1", "b", "x")], "of one class"),
        ([("1", "a", "x"), ("1", "a", "y")], "No item has labels of two workers"),
    ],
)
def test_what_is_not_defined_says_why(triples: Triples, why: str) -> None:
    panel = measure_agreement(CrowdData.from_triples(triples))
    assert panel.main.value is None
    assert why in panel.main.note
    assert why in panel.describe()
    assert panel.to_json()["coefficients"][1]["value"] is None
