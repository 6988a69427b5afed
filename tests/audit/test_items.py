from __future__ import annotations

import numpy as np
import pytest

from crowdcore import CrowdData, fit
from crowdcore.audit.items import disagreement, item_table, majority_vote, margin


def crowd() -> CrowdData:
    """Three items: clear, tied, and one whose gold is not what most say."""
    triples = [
        *[("clear", w, "a") for w in "xyz"],
        ("tied", "x", "a"),
        ("tied", "y", "b"),
        ("fooled", "x", "b"),
        ("fooled", "y", "b"),
        ("fooled", "z", "a"),
    ]
    return CrowdData.from_triples(triples, gold={"clear": "a", "fooled": "a"})


def test_the_table_says_what_counting_says_and_where_it_was_disputed() -> None:
    table = item_table(fit(crowd(), "mv")).set_index("item")
    assert list(table["majority"]) == ["a", "", "b"]
    assert list(table["disagreement"]) == pytest.approx([0, 0.5, 1 / 3])
    assert list(table["n_labels"]) == [3, 2, 3]
    assert list(table["tied"]) == [False, True, False]
    assert list(table["gold"]) == ["a", "", "a"]
    assert list(table["right"]) == [1, -1, 0]
    assert not table["changed"].any()
    assert list(table["margin"]) == pytest.approx([1, 0, 1 / 3])


def test_a_truth_that_differs_from_a_clear_majority_is_changed_and_a_tie_never_is() -> None:
    # z is right on ten other items where x and y contradict each other.
    easy = [(f"e{i}", w, "ab"[i % 2]) for i in range(20) for w in "zuv"]
    noise = [(f"e{i}", w, "ab"[(i + 1) % 2]) for i in range(20) for w in "xy"]
    last = [("last", "x", "b"), ("last", "y", "b"), ("last", "z", "a")]
    result = fit(CrowdData.from_triples([*easy, *noise, *last]), "ds")
    row = item_table(result).set_index("item").loc["last"]
    assert (row["majority"], row["truth"], row["changed"]) == ("b", "a", True)
    ties = item_table(fit(crowd(), "mv", ties="undecided")).set_index("item").loc["tied"]
    assert (ties["truth"], ties["changed"]) == ("", False)


def test_an_item_that_nobody_labelled_has_no_majority_and_no_dispute() -> None:
    data = CrowdData(
        item=np.array([0]),
        worker=np.array([0]),
        label=np.array([0]),
        items=("seen", "unseen"),
        workers=("w",),
        classes=("a", "b"),
    )
    assert majority_vote(data).tolist() == [0, -1]
    assert disagreement(data).tolist() == [0, 0]
    table = item_table(fit(data, "mv"))
    assert table["n_labels"].tolist() == [1, 0]
    assert table["right"].tolist() == [-1, -1]


def test_one_class_leaves_nothing_to_lose_by() -> None:
    assert margin(np.ones((2, 1))).tolist() == [1, 1]
    table = item_table(fit(CrowdData.from_triples([("i", "w", "only")]), "mv"))
    assert table["truth"].tolist() == ["only"]
