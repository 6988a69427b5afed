from __future__ import annotations

import numpy as np
import pytest

from crowdcore import CrowdData, fit
from crowdcore.audit.items import COLUMNS, compare_items, disagreement, majority_vote
from crowdcore.data import UNKNOWN


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
    table = compare_items(fit(crowd(), "mv"))
    assert table.columns.tolist() == [column.name for column in COLUMNS]
    assert list(table["majority"]) == ["a", "", "b"]
    assert list(table["disagreement"]) == pytest.approx([0, 0.5, 1 / 3])
    assert list(table["gold"]) == ["a", "", "a"]
    assert list(table["right"]) == [1, -1, 0]
    assert not table["changed"].any()


def test_a_truth_that_differs_from_a_clear_majority_is_changed_and_a_tie_never_is() -> None:
    # z is right on ten other items where x and y contradict each other.
    easy = [(f"e{i}", w, "ab"[i % 2]) for i in range(20) for w in "zuv"]
    noise = [(f"e{i}", w, "ab"[(i + 1) % 2]) for i in range(20) for w in "xy"]
    last = [("last", "x", "b"), ("last", "y", "b"), ("last", "z", "a")]
    result = fit(CrowdData.from_triples([*easy, *noise, *last]), "ds")
    row = compare_items(result).iloc[result.data.items.index("last")]
    assert (row["majority"], row["changed"]) == ("b", True)
    assert result.truth[result.data.items.index("last")] == result.data.classes.index("a")
    undecided = fit(crowd(), "mv", ties="undecided")
    tied = undecided.data.items.index("tied")
    assert undecided.truth[tied] == UNKNOWN
    assert not compare_items(undecided)["changed"][tied]


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
    table = compare_items(fit(data, "mv"))
    assert table["majority"].tolist() == ["a", ""]
    assert table["right"].tolist() == [-1, -1]
