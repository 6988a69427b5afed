"""Two results side by side."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from crowdcore.audit.comparison import RunTables, compare
from crowdcore.data import DataError

FACTS: dict[str, Any] = {
    "title": "Dawid-Skene",
    "params": {"tol": 1e-6},
    "seed": 0,
    "device": "cpu",
    "version": "1",
    "data": "abc",
    "used_gold": False,
    "excluded": [],
    "completion": None,
}


def tables(truths: list[Any], n_labels: int = 3, verdict: str = "good", **facts: Any) -> RunTables:
    items = [f"i{number}" for number in range(len(truths))]
    return RunTables(
        truths=pd.DataFrame(
            {"item": items, "truth": truths, "confidence": 0.5, "n_labels": n_labels}
        ),
        workers=pd.DataFrame({"worker": ["w", "v"], "verdict": [verdict, "good"], "accuracy": 0.9}),
        facts={**FACTS, **facts},
    )


def with_gold(run: RunTables, gold: dict[str, Any]) -> RunTables:
    return RunTables(truths=run.truths, workers=run.workers, facts=run.facts, gold=pd.Series(gold))


def test_what_differs_is_listed() -> None:
    before = tables(["a", "b", "a", "a"])
    after = tables(["a", "a", "b"], n_labels=1, verdict="random", seed=3, excluded=["x"])
    found = compare(before, after)
    assert (found.n_items, found.only_before, found.only_after) == (3, 1, 0)
    assert found.items["item"].tolist() == ["i1", "i2"]
    assert found.items[["truth_before", "truth_after"]].to_numpy().tolist() == [
        ["b", "a"],
        ["a", "b"],
    ]
    assert found.workers["worker"].tolist() == ["w"]
    assert (found.labels_before, found.labels_after) == (12, 3)
    assert found.thin == ["i0", "i1", "i2"]
    assert found.settings == [("seed", "0", "3"), ("left out", "nobody", "x")]
    assert found.accuracy is None
    assert "no gold" in found.no_accuracy


def test_the_better_on_gold_is_told_by_a_sign_test_on_what_differs() -> None:
    gold = {f"i{number}": "a" for number in range(12)}
    before = with_gold(tables(["a"] * 4 + ["b"] * 8), gold)
    after = with_gold(tables(["b"] + ["a"] * 11), gold)
    accuracy = compare(before, after).accuracy
    assert accuracy is not None
    assert (accuracy.n, accuracy.n_before, accuracy.n_after) == (12, 4, 11)
    assert (accuracy.gained, accuracy.lost) == (8, 1)
    assert accuracy.p_value == pytest.approx(2 * 10 / 2**9)  # 9 pairs, at most 1 the other way


def test_gold_that_a_method_has_seen_does_not_score_it() -> None:
    before = with_gold(tables(["a"], used_gold=True), {"i0": "a"})
    assert "cannot be scored" in compare(before, tables(["a"])).no_accuracy
    numbers = with_gold(tables([1.0]), {"i0": 1.0})
    assert "not right or wrong" in compare(numbers, numbers).no_accuracy


def test_numbers_count_as_changed_where_they_moved_visibly() -> None:
    found = compare(tables([1.0, 2.0, 10.0]), tables([1.0001, 2.5, 10.0]))
    assert found.items["item"].tolist() == ["i1"]


def test_runs_without_a_common_item_are_refused() -> None:
    other = tables(["a"])
    other.truths["item"] = ["elsewhere"]
    with pytest.raises(DataError, match="no item in common"):
        compare(tables(["a"]), other)
