"""Who teaches a network: gold, or the clearest majorities."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from crowdcore.data import UNKNOWN, CrowdData, DataError
from crowdcore.engine.labels import Labels
from crowdcore.engine.learning.supervision import clear_majorities, find_teacher, hold_at_gold
from tests.crowds import easy_crowd, with_some_gold


def crowd(votes: dict[str, str], **gold: str) -> CrowdData:
    """One label a letter: the item's first label is by the first worker, and so on."""
    triples = [
        (item, f"w{worker}", label)
        for item, row in votes.items()
        for worker, label in enumerate(row)
    ]
    return CrowdData.from_triples(triples, gold=gold or None)


def test_gold_teaches_where_there_is_some() -> None:
    data = with_some_gold(easy_crowd())
    teacher = find_teacher(data, "auto")
    assert data.gold is not None
    assert teacher.is_gold
    np.testing.assert_array_equal(teacher.items, np.flatnonzero(data.has_gold))
    np.testing.assert_array_equal(teacher.answers, data.gold[data.has_gold])
    assert "49 gold items" in teacher.note


def test_the_consensus_teaches_where_there_is_no_gold_or_it_is_wished_for() -> None:
    data = with_some_gold(easy_crowd())
    bare = dataclasses.replace(data, gold=None)
    wished, only = find_teacher(data, "consensus"), find_teacher(bare, "auto")
    assert not wished.is_gold
    assert not only.is_gold
    np.testing.assert_array_equal(wished.items, only.items)
    assert "No gold was used" in wished.note


def test_only_majorities_that_are_clear_for_their_class_teach() -> None:
    data = crowd({"i": "aaaa", "j": "aaab", "k": "aabb", "l": "bbba", "m": "bbba"})
    teacher = find_teacher(data, "consensus")
    named = {
        data.items[i]: data.classes[k] for i, k in zip(teacher.items, teacher.answers, strict=True)
    }
    # The mean share of a is 7/8, so 3/4 is too little; of b it is 3/4, so 3/4 is enough.
    assert named == {"i": "a", "l": "b", "m": "b"}


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_majority_as_large_as_the_mean_of_its_class_is_clear(kind: type) -> None:
    share: NDArray[np.floating] = np.array([0.7] * 11 + [0.9, 0.5, 0.1], kind)
    answer = np.array([0] * 11 + [2, 2, 0])
    counted = np.arange(14) < 13
    assert clear_majorities(share, answer, counted).tolist() == [True] * 12 + [False] * 2
    assert not clear_majorities(share, answer, np.zeros(14, bool)).any()


def test_without_any_clear_majority_nothing_can_be_learnt() -> None:
    with pytest.raises(DataError, match="No item has a clear majority"):
        find_teacher(crowd({"i": "ab", "j": "ba"}), "auto")


def test_gold_that_cannot_teach_is_told() -> None:
    data = crowd({"i": "aa", "j": "bb"})
    with pytest.raises(DataError, match="There is no gold to learn from"):
        find_teacher(data, "gold")
    far = dataclasses.replace(data.only(data.item != 0), gold=np.array([0, UNKNOWN], np.int32))
    with pytest.raises(DataError, match="No item with gold has a label"):
        find_teacher(far, "auto")


def test_gold_items_are_held_at_their_answer() -> None:
    data = crowd({"i": "ab", "j": "ab"}, j="b")
    posterior = hold_at_gold(Labels(data, torch.device("cpu")), torch.full((2, 2), 0.5))
    assert posterior.tolist() == [[0.5, 0.5], [0.0, 1.0]]
