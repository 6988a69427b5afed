from __future__ import annotations

import numpy as np
import pytest

from crowdcore import CrowdData, DataError, fit
from crowdcore.audit.evidence import given_shares, label_counts, labels_of_item, labels_of_worker


def crowd() -> CrowdData:
    """x and y say a; z says b of everything; u is alone with one item."""
    agreed = [(f"i{i}", w, "a") for i in range(3) for w in "xy"]
    dissent = [(f"i{i}", "z", "b") for i in range(3)]
    return CrowdData.from_triples([*agreed, *dissent, ("solo", "u", "b")], gold={"i0": "a"})


def test_a_workers_labels_say_where_they_differ_and_who_else_said_so() -> None:
    table = labels_of_worker(fit(crowd(), "mv"), "z")
    assert table["item"].tolist() == ["i0", "i1", "i2"]
    assert table["differs"].tolist() == [True] * 3
    assert table["same"].tolist() == [0] * 3
    assert table["gold"].tolist() == ["a", "", ""]
    good = labels_of_worker(fit(crowd(), "mv"), "x")
    assert good["same"].tolist() == [1] * 3
    assert not good["differs"].any()


def test_the_surest_truths_come_first() -> None:
    data = CrowdData.from_triples(
        [("close", "x", "a"), ("close", "y", "a"), ("close", "z", "b")]
        + [("sure", w, "a") for w in "xyuv"]
        + [("sure", "z", "b")]
    )
    assert labels_of_worker(fit(data, "mv"), "z")["item"].tolist() == ["sure", "close"]


def test_counts_have_truths_as_rows_and_add_up_to_the_labels() -> None:
    result = fit(crowd(), "mv")
    assert label_counts(result, "z").tolist() == [[0, 3], [0, 0]]
    assert label_counts(result, "u").tolist() == [[0, 0], [0, 1]]


def test_undecided_items_are_no_evidence() -> None:
    data = CrowdData.from_triples([("i", "x", "a"), ("i", "y", "b")])
    result = fit(data, "mv", ties="undecided")
    assert label_counts(result, "x").sum() == 0
    assert not labels_of_worker(result, "x")["differs"].any()
    assert labels_of_worker(result, "x")["truth"].tolist() == [""]


def test_others_are_compared_on_the_same_items_only() -> None:
    own, others = given_shares(crowd(), "z")
    assert own.tolist() == [0, 1]
    assert others.tolist() == [1, 0]  # u's b is on an item that z never saw


def test_own_repeated_labels_do_not_count_as_others() -> None:
    data = CrowdData.from_triples([("i", "x", "a"), ("i", "x", "a"), ("i", "y", "b")])
    own, others = given_shares(data, "x")
    assert own.tolist() == [1, 0]
    assert others.tolist() == [0, 1]


def test_where_nobody_else_labelled_there_is_nothing_to_compare() -> None:
    own, others = given_shares(crowd(), "u")
    assert own.tolist() == [0, 1]
    assert np.isnan(others).all()


def test_an_items_labels_keep_their_order() -> None:
    table = labels_of_item(crowd(), "i1")
    assert table.to_dict("list") == {"worker": ["x", "y", "z"], "label": ["a", "a", "b"]}


def test_unknown_names_are_said_to_be_unknown() -> None:
    with pytest.raises(DataError, match="no worker called 'nobody'"):
        label_counts(fit(crowd(), "mv"), "nobody")
    with pytest.raises(DataError, match="no item called 'nothing'"):
        labels_of_item(crowd(), "nothing")
