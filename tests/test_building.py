"""Data of sets and comparisons from plain rows."""

from __future__ import annotations

import numpy as np
import pytest

from crowdcore.building import comparisons_of, sets_of
from crowdcore.data import DataError


def test_sets_have_their_classes_as_ticks() -> None:
    data = sets_of([("i", "w", ["b", "a"]), ("i", "v", [])], gold={"i": ["a"], "x": ["b"]})
    assert data.classes == ("a", "b")
    assert data.class_names(data.label).tolist() == ['["a", "b"]', "[]"]
    assert data.class_names(data.gold).tolist() == ['["a"]']  # type: ignore[arg-type]
    assert data.n_gold == 1
    with pytest.raises(DataError, match="not one of the classes"):
        sets_of([("i", "w", ["c"])], classes=["a"])


def test_comparisons_name_the_winner_or_the_side() -> None:
    rows = [("a", "b", "w", "b"), ("b", "a", "w", "left"), ("a", "c", "v", "tie")]
    data = comparisons_of(rows, gold={"a": 1.5})
    assert data.label.tolist() == [1, 0, 2]
    assert data.labels_per_item.tolist() == [3, 2, 1]
    np.testing.assert_allclose(data.gold, [1.5, np.nan, np.nan])  # type: ignore[arg-type]
    assert data.only(np.array([True, False, True])).other.tolist() == [1, 2]  # type: ignore[union-attr]


def test_a_comparison_with_itself_or_of_others_is_refused() -> None:
    with pytest.raises(DataError, match="compared with itself"):
        comparisons_of([("a", "a", "w", "left")])
    with pytest.raises(DataError, match="neither 'a' nor 'b'"):
        comparisons_of([("a", "b", "w", "c")])


def test_the_second_item_and_the_sets_change_the_fingerprint() -> None:
    first = comparisons_of([("a", "b", "w", "left"), ("a", "c", "w", "left")])
    other = comparisons_of(
        [("a", "b", "w", "left"), ("a", "b", "w", "left"), ("a", "c", "w", "tie")]
    )
    assert first.fingerprint != other.fingerprint
    assert (
        sets_of([("i", "w", ["a", "b"])]).fingerprint
        != sets_of([("i", "w", ["a"])], classes=["a", "b"]).fingerprint
    )
