"""The worklist: what is ranked first, why, and how much is left."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdcore import CrowdData, fit
from crowdcore.building import comparisons_of
from crowdcore.confidence.accuracy import expected_accuracy
from crowdcore.data import DataError
from crowdcore.decisions import Decision
from crowdcore.results.result import Result
from crowdcore.review.risk import item_risk, learnt_confidence, with_mean
from crowdcore.review.similar import similar_items
from crowdcore.review.worklist import worklist
from crowdcore.simulation.classes import simulate


def crowd() -> Result:
    data = simulate(items=120, workers=12, classes=3, labels_per_item=4, features=0, seed=3).data
    return fit(replace(data, gold=None), "ds")


def decided(item: str, value: str, **evidence: object) -> Decision:
    return Decision(
        id=f"id-{item}", time="2026", by="Ann", action="truth", subject=item, value=value,
        evidence=evidence,
    )  # fmt: skip


def test_items_are_ranked_by_chance_of_being_wrong_times_what_hangs_on_them() -> None:
    result = crowd()
    plain = worklist(result)
    wrong = plain.table(None)["wrong"].to_numpy()
    assert (np.diff(wrong) <= 1e-12).all()
    assert len(wrong) == result.data.n_items
    views = ["1"] * result.data.n_items
    last = plain.order[-1]
    views[last] = "1,000,000"
    data = replace(result.data, details={"views": tuple(views)})
    weighted = worklist(replace(result, data=data), weight_column="views")
    assert weighted.order[0] == last
    assert all(plain.table(5)["reason"])


def test_a_decided_item_leaves_the_list_and_counts_as_right() -> None:
    result = crowd()
    before = worklist(result)
    item = result.data.items[before.order[0]]
    truth = result.data.classes[result.truth[before.order[0]]]
    after = worklist(result, [decided(item, truth)], skipped=[result.data.items[before.order[1]]])
    assert after.n_open == before.n_open - 2
    assert after.risk.chance[before.order[0]] == 0


def test_the_stop_rule_is_what_the_list_promises() -> None:
    work = worklist(crowd())
    target = (work.risk.expected_right + 1) / 2
    middle, best, worst = work.decisions_until(target)
    assert middle is not None
    assert best is not None
    assert best <= middle
    assert worst is None or middle <= worst
    assert work.expected_after(middle) >= target > work.expected_after(middle - 1)
    assert f"After {middle} more decisions" in work.describe(target)
    assert work.decisions_until(0.01)[0] == 0
    with pytest.raises(DataError, match="target"):
        work.decisions_until(1.5)


def test_wrong_truths_of_one_class_put_its_other_truths_in_doubt() -> None:
    sure = np.full(60, 0.9)
    predicted = np.repeat([0, 1, 2], 20)
    known = np.arange(20, 30)
    moved = learnt_confidence(
        sure, predicted, sure[known], predicted[known], np.zeros(10, bool), n_classes=3
    )
    assert moved[50] < 0.9
    assert moved[40] < 0.9
    assert moved[35] < moved[50] - 0.1


def test_what_a_run_was_given_teaches_only_what_was_said_before_it() -> None:
    result = crowd()
    items, classes = result.data.items, result.data.classes
    made = [
        decided(items[code], classes[result.truth[code]], truth=classes[0], confidence=0.95)
        for code in range(20)
    ]
    ids = [each.id for each in made]
    unseen, given = item_risk(result, made), item_risk(result, made, used=ids)
    assert unseen.n_learnt == given.n_learnt == 20
    open_items = given.is_open
    assert given.chance[open_items].mean() > unseen.chance[open_items].mean() + 0.02


def test_gold_says_the_same_of_the_list_as_of_the_truths() -> None:
    result = crowd()
    gold = np.where(np.arange(result.data.n_items) < 60, result.truth, -1)
    checked = replace(result, data=replace(result.data, gold=gold))
    expected = expected_accuracy(checked)
    assert expected is not None
    assert abs(item_risk(checked).expected_right - expected.estimate) < 0.01
    assert item_risk(checked).expected_right > item_risk(result).expected_right + 0.02


def test_a_mean_is_moved_without_touching_what_is_known() -> None:
    chance = np.array([0.0, 0.2, 0.4, 0.6])
    is_open = np.array([False, True, True, True])
    moved = with_mean(chance, is_open, 0.45)
    assert moved[0] == 0
    assert abs(moved.mean() - 0.45) < 1e-6
    assert (np.diff(moved) > 0).all()


def test_comparisons_have_no_worklist_but_a_sentence() -> None:
    data = comparisons_of(
        [("a", "b", "w", "left"), ("b", "c", "w", "left"), ("a", "c", "v", "tie")]
    )
    with pytest.raises(DataError, match="pairs that are worth asking"):
        worklist(fit(data, "bradley_terry"))


def test_similar_items_share_features_or_votes() -> None:
    triples = [("a", "u", "x"), ("a", "v", "y"), ("b", "u", "x"), ("b", "v", "y"),
               ("c", "u", "y"), ("c", "v", "x"), ("d", "u", "x"), ("d", "v", "x")]  # fmt: skip
    data = CrowdData.from_triples(triples)
    assert similar_items(data, 0) == ([1, 2], "labels")
    features = np.array([[0.0], [9.0], [8.0], [1.0]], np.float32)
    assert similar_items(replace(data, features=features), 0, limit=1) == ([3], "features")
