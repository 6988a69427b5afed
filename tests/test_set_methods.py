"""Methods for sets: one yes/no question per item and class, joined again."""

from __future__ import annotations

import numpy as np
import pytest

from crowdcore.building import sets_of
from crowdcore.data import CrowdData, DataError
from crowdcore.engine import set_answers
from crowdcore.registry import fit, get_method, methods
from crowdcore.simulation.sets import simulate_sets

ROWS = [
    ("i1", "ann", ["cat", "dog"]),
    ("i1", "bob", ["cat"]),
    ("i1", "eve", ["cat", "cow"]),
    ("i2", "ann", []),
    ("i2", "bob", ["dog"]),
]


def test_votes_are_shares_of_those_who_saw_the_item() -> None:
    result = fit(sets_of(ROWS), "mv")
    np.testing.assert_allclose(result.probability, [[1, 1 / 3, 1 / 3], [0, 0, 0.5]])
    assert result.truths()["truth"].tolist() == ['["cat"]', "[]"]
    assert result.tied.tolist() == [False, True]


def test_ticking_nothing_is_an_answer_and_not_seeing_is_none() -> None:
    seen = fit(sets_of(ROWS), "mv").probability[1]
    unseen = fit(sets_of([row for row in ROWS if row[2]]), "mv").probability[1]
    assert seen[2] == 0.5
    assert unseen[2] == 1


@pytest.mark.parametrize("name", ["mv", "ds", "hds", "auto", "kos"])
@pytest.mark.parametrize("per_class", [False, True])
def test_every_family_answers_and_finds_most_classes(name: str, per_class: bool) -> None:
    crowd = simulate_sets(items=120, workers=12, random=0.1, seed=1)
    result = fit(crowd.data, name, workers_per_class=per_class)
    score = result.score()
    assert score is not None
    assert score.figures["f1"] > 0.85
    if result.confusion is not None:
        assert result.confusion.shape == ((12, 8, 2, 2) if per_class else (12, 2, 2))


def test_order_of_answers_is_irrelevant() -> None:
    data = simulate_sets(items=60, seed=2).data
    order = np.random.default_rng(0).permutation(data.n_labels)
    before, after = fit(data, "ds"), fit(data.only(order), "ds")
    np.testing.assert_allclose(before.probability, after.probability, atol=1e-9)


def test_with_very_many_labels_only_ticked_classes_are_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = simulate_sets(items=60, seed=3).data
    everything = fit(data, "mv")
    monkeypatch.setattr(set_answers, "MAX_LABELS", 10)
    ticked = fit(data, "mv")
    np.testing.assert_allclose(everything.probability, ticked.probability)
    assert "somebody ticked" in ticked.provenance.notes[0]


def test_gold_is_used_and_then_not_scored() -> None:
    data = simulate_sets(items=60, seed=4).data
    result = fit(data, "ds", use_gold=True)
    assert result.provenance.used_gold
    assert result.score() is None
    assert data.gold is not None
    assert data.sets is not None
    np.testing.assert_array_equal(result.truth, data.sets[data.gold])


def test_exact_match_and_class_quality_count_right() -> None:
    data = sets_of(ROWS, gold={"i1": ["cat", "dog"], "i2": []})
    score = fit(data, "mv").score()
    assert score is not None
    assert (score.n, score.exact) == (2, 1)
    assert score.jaccard == pytest.approx((0.5 + 1) / 2)
    assert score.by_class["dog"][:2] == (pytest.approx(np.nan, nan_ok=True), 0.0)


def test_only_methods_that_need_nothing_but_labels_take_sets() -> None:
    families = {method.family for method in methods(kind="sets").values()}
    assert families == {"ability", "bayesian", "confusion", "pool", "voting", "weighting"}
    assert "workers_per_class" in get_method("ds", kind="sets").config.model_fields
    assert "workers_per_class" not in get_method("ds").config.model_fields


def test_odd_sets_give_a_result_or_a_sentence() -> None:
    alone = fit(sets_of([("i", "w", ["a"])]), "auto")
    assert alone.truth.tolist() == [[True]]
    nobody = CrowdData(
        item=np.zeros(2, np.int32),
        worker=np.arange(2),
        label=np.zeros(2, np.int32),
        items=("i",),
        workers=("v", "w"),
        classes=("a", "b"),
        kind="sets",
        sets=np.zeros((1, 2), bool),
    )
    assert not fit(nobody, "ds").truth.any()
    with pytest.raises(DataError, match="none of the sets"):
        CrowdData(
            item=np.zeros(1, np.int32),
            worker=np.zeros(1, np.int32),
            label=np.array([3]),
            items=("i",),
            workers=("w",),
            classes=("a",),
            kind="sets",
            sets=np.ones((1, 1), bool),
        )
