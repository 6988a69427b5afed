from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from crowdcore.codes import natural_order
from crowdcore.data import UNKNOWN, CrowdData, DataError
from crowdcore.reading.features.pictures import PictureForm
from crowdcore.reading.features.recipe import FeatureRecipe

TRIPLES = [("i1", "ann", "cat"), ("i1", "bo", "dog"), ("i2", "ann", "dog")]


def test_triples_become_codes_in_order_of_appearance() -> None:
    data = CrowdData.from_triples(TRIPLES, gold={"i2": "dog"})
    assert (data.items, data.workers, data.classes) == (("i1", "i2"), ("ann", "bo"), ("cat", "dog"))
    assert data.item.tolist() == [0, 0, 1]
    assert data.worker.tolist() == [0, 1, 0]
    assert data.label.tolist() == [0, 1, 1]
    assert data.gold is not None
    assert data.gold.tolist() == [UNKNOWN, 1]
    assert data.votes.tolist() == [[1, 1], [0, 1]]
    assert data.n_gold == 1


def test_numbers_are_ordered_by_value_and_words_by_spelling() -> None:
    assert natural_order(["10", "9", "-1", "nan", "b", "a"]) == ("-1", "9", "10", "a", "b", "nan")


def test_arrays_cannot_be_written_to_and_the_callers_stay_writable() -> None:
    mine = np.zeros(2, np.int32)
    data = CrowdData(
        item=mine, worker=np.arange(2), label=mine, items=("i",), workers=("a", "b"), classes=("x",)
    )
    with pytest.raises(ValueError, match="read-only"):
        data.item[0] = 1
    mine[0] = 0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"item": np.array([0, 0, 9])}, "outside 0..1"),
        ({"worker": np.array([0, -1, 0])}, "outside 0..1"),
        ({"label": np.array([0, 1])}, "equally many"),
        ({"label": np.array([0, 1, 0.5])}, "whole numbers, not float64"),
        ({"items": ("i1", "i1")}, "Two names are 'i1'"),
        ({"gold": np.array([0])}, "1 gold answers for 2 items"),
        ({"gold": np.array([0, 7])}, "none of the classes"),
        ({"features": np.zeros((3, 1))}, "3 rows of features for 2 items"),
        ({"features": np.zeros((2, 3, 4))}, r"the shape \(2, 3, 4\)"),
        ({"features": np.zeros((2, 0))}, r"the shape \(2, 0\)"),
        ({"time": np.zeros(2)}, "2 times for 3 labels"),
        ({"details": {"text": ("a",)}}, "1 details 'text' for 2 items"),
    ],
)
def test_broken_data_are_refused_with_a_sentence(change: dict[str, Any], says: str) -> None:
    good: dict[str, Any] = {
        "item": np.array([0, 0, 1]),
        "worker": np.array([0, 1, 0]),
        "label": np.array([0, 1, 1]),
        "items": ("i1", "i2"),
        "workers": ("ann", "bo"),
        "classes": ("cat", "dog"),
    }
    CrowdData(**good)
    with pytest.raises(DataError, match=says):
        CrowdData(**{**good, **change})


def test_fingerprint_sees_every_change_that_can_change_a_result() -> None:
    data = CrowdData.from_triples(TRIPLES)
    assert data.fingerprint == CrowdData.from_triples(TRIPLES).fingerprint
    others = [
        CrowdData.from_triples(TRIPLES, gold={"i1": "cat"}),
        CrowdData.from_triples([*TRIPLES, ("i2", "bo", "cat")]),
        CrowdData.from_triples([("i1", "ann", "cat"), ("i1", "bo", "dog"), ("i3", "ann", "dog")]),
    ]
    assert len({data.fingerprint, *(other.fingerprint for other in others)}) == 4


def test_fingerprint_sees_the_shape_of_pictures_and_the_recipe() -> None:
    flat = replace(CrowdData.from_triples(TRIPLES), features=np.ones((2, 16), np.float32))
    grey = replace(flat, features=np.ones((2, 1, 4, 4), np.float32))
    wide = replace(flat, features=np.ones((2, 1, 2, 8), np.float32))
    other = replace(grey, recipe=FeatureRecipe(pictures=PictureForm(size=8, channels=1)))
    assert len({one.fingerprint for one in (flat, grey, wide, other)}) == 4
    assert {one.n_features for one in (flat, grey, wide)} == {16}
    assert CrowdData.from_triples(TRIPLES).n_features == 0


def test_a_worker_can_be_left_out() -> None:
    data = CrowdData.from_triples(TRIPLES).without_workers(["bo"])
    assert data.n_labels == 2
    assert data.workers == ("ann", "bo")
    with pytest.raises(DataError, match="no worker called 'cy'"):
        data.without_workers(["cy"])


def test_an_error_says_what_where_and_what_to_do_and_survives_pickling() -> None:
    error = DataError("It is empty.", file="a.csv", column="label", row=3, fix="Fill it.")
    assert str(error) == "It is empty (file a.csv, column 'label', row 3). Fill it."
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_durations_count_in_the_fingerprint_and_follow_their_labels() -> None:
    data = CrowdData.from_triples([("a", "u", "x"), ("b", "u", "y")])
    timed = replace(data, duration=np.array([1.0, 2.0]))
    assert timed.fingerprint != data.fingerprint
    kept = timed.only(np.array([False, True]))
    assert kept.duration is not None
    assert kept.duration.tolist() == [2.0]
    with pytest.raises(DataError, match="3 durations for 2 labels"):
        replace(data, duration=np.ones(3))
