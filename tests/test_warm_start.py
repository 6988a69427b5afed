"""Starting from an earlier result, and learning from gold."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from crowdcore.data import CrowdData, DataError
from crowdcore.method import Method
from crowdcore.registry import fit, get_method, methods
from crowdcore.warm_start import WarmStart
from tests.crowds import draw, easy_crowd, golden_crowd, with_some_gold

TAKES_GOLD = [
    name for name, method in methods().items() if "use_gold" in method.config.model_fields
]


@pytest.fixture(params=TAKES_GOLD)
def method(request: pytest.FixtureRequest) -> Method:
    return get_method(request.param)


def test_used_gold_is_held_and_can_no_longer_be_scored(method: Method) -> None:
    data = with_some_gold(easy_crowd(2) if method.needs.two_classes else golden_crowd())
    blind = method.fit(data, **method.quick)
    told = method.fit(data, **{**method.quick, "use_gold": True})
    known = data.has_gold
    assert data.gold is not None
    assert (told.truth[known] == data.gold[known]).all()
    assert told.provenance.used_gold
    assert told.score() is None
    assert not blind.provenance.used_gold
    assert blind.score() is not None


def test_gold_never_reaches_a_method_that_was_not_told_to_use_it(method: Method) -> None:
    data = easy_crowd(2) if method.needs.two_classes else golden_crowd()
    with_gold = method.fit(data, **method.quick)
    without = method.fit(dataclasses.replace(data, gold=None), **method.quick)
    np.testing.assert_array_equal(with_gold.posterior, without.posterior)


def test_using_gold_that_is_not_there_is_refused() -> None:
    with pytest.raises(DataError, match="no gold to use"):
        fit(dataclasses.replace(golden_crowd(), gold=None), "ds", use_gold=True)


def test_gold_helps_the_other_items() -> None:
    data = golden_crowd()
    assert data.gold is not None
    seen = with_some_gold(data, 2)
    blind, told = fit(data, "ds"), fit(seen, "ds", use_gold=True)
    other = ~seen.has_gold
    before = (blind.truth[other] == data.gold[other]).mean()
    assert (told.truth[other] == data.gold[other]).mean() > before


def disputed_crowd() -> CrowdData:
    """So many errors that plain steps take long."""
    rng = np.random.default_rng(5)
    right = rng.uniform(0.5, 0.9, 20)[:, None, None]
    confusion = right * np.eye(2) + (1 - right) * (1 - np.eye(2))
    return draw(confusion, rng.integers(0, 2, 600), 5, rng)


@pytest.mark.parametrize("name", ["ds", "hds", "lfc", "zc", "ibcc", "hbcc", "cbcc", "mace", "glad"])
def test_a_warm_start_reaches_the_same_fixed_point_in_fewer_steps(name: str) -> None:
    data = disputed_crowd()
    fewer = data.without_workers([data.workers[3]])
    settings: dict[str, Any] = {"tol": 1e-10, "max_iter": 5000}
    first = fit(data, name, **settings)
    cold, warm = (
        fit(fewer, name, **settings),
        fit(fewer, name, warm_start=first.warm_start, **settings),
    )
    np.testing.assert_allclose(warm.posterior, cold.posterior, atol=1e-3)
    assert warm.provenance.steps <= 0.9 * cold.provenance.steps


def test_glad_takes_over_abilities_and_difficulties_too() -> None:
    data = golden_crowd()
    whole = fit(data, "glad").warm_start
    truths_only = dataclasses.replace(whole, worker_scores={}, item_scores={})
    steps = [fit(data, "glad", warm_start=one).provenance.steps for one in (whole, truths_only)]
    assert steps[0] < steps[1]


def test_scores_of_an_earlier_result_are_found_by_name() -> None:
    data = CrowdData.from_triples([("b", "x", "yes"), ("c", "y", "no")])
    earlier = WarmStart(
        items=("a", "b"),
        classes=("yes", "no"),
        posterior=np.full((2, 2), 0.5),
        item_scores={"difficulty": np.array([1.0, 2.0])},
        workers=("y", "z"),
        worker_scores={"ability": np.array([np.nan, 3.0]), "trust": np.array([0.5, 0.6])},
    )
    assert earlier.item_scores_for("difficulty", data, default=9).tolist() == [2, 9]
    assert earlier.item_scores_for("clarity", data, default=9).tolist() == [9, 9]
    assert earlier.worker_scores_for("trust", data, default=9).tolist() == [9, 0.5]
    assert earlier.worker_scores_for("ability", data, default=9).tolist() == [9, 9]


@pytest.mark.parametrize("name", ["ds", "ibcc", "hbcc", "mace"])
def test_a_warm_start_is_several_times_shorter_whatever_has_changed(name: str) -> None:
    data = disputed_crowd()
    most = slice(data.n_labels // 100, None)
    part = dataclasses.replace(
        data, item=data.item[most], worker=data.worker[most], label=data.label[most]
    )
    cases: list[tuple[CrowdData, CrowdData, dict[str, Any]]] = [
        (part, data, {}),
        (data, data.without_workers([data.workers[3]]), {}),
        (data, with_some_gold(data, 60), {"use_gold": True}),
    ]
    ratios = []
    for before, after, settings in cases:
        first = fit(before, name, max_iter=2000)
        cold = fit(after, name, max_iter=2000, **settings)
        warm = fit(after, name, max_iter=2000, warm_start=first.warm_start, **settings)
        np.testing.assert_allclose(warm.posterior, cold.posterior, atol=0.05)
        ratios.append(cold.provenance.steps / warm.provenance.steps)
    assert min(ratios) > 2
    assert sorted(ratios)[1] >= 3


def test_an_earlier_result_is_matched_by_name() -> None:
    first = fit(CrowdData.from_triples([("a", "w", "x"), ("b", "w", "y")]), "mv")
    other = CrowdData.from_triples([("c", "w", "z"), ("b", "w", "x"), ("b", "v", "y")])
    posterior = first.warm_start.posterior_for(other)
    assert posterior[1].tolist() == [0, 1, 0]
    assert posterior[0].argmax() == 2


@pytest.mark.parametrize("other", [[("c", "w", "x"), ("d", "w", "y")], [("a", "w", "1")]])
def test_an_earlier_result_of_other_items_or_classes_is_refused(
    other: list[tuple[str, str, str]],
) -> None:
    first = fit(CrowdData.from_triples([("a", "w", "x"), ("b", "w", "y")]), "mv")
    with pytest.raises(DataError, match="says nothing about these data"):
        fit(CrowdData.from_triples(other), "ds", warm_start=first.warm_start)


def test_an_item_whose_earlier_class_is_gone_begins_from_its_votes() -> None:
    first = fit(CrowdData.from_triples([("a", "w", "x"), ("b", "w", "y")]), "mv")
    posterior = first.warm_start.posterior_for(
        CrowdData.from_triples([("a", "w", "z"), ("b", "w", "y")])
    )
    assert posterior.argmax(1).tolist() == [1, 0]


def test_a_method_that_cannot_begin_from_an_earlier_result_says_so() -> None:
    data = easy_crowd()
    first = fit(data, "mv")
    assert "was not used" in fit(data, "mv", warm_start=first.warm_start).provenance.notes[-1]
    for name in ("ds", "auto"):
        notes = fit(data, name, warm_start=first.warm_start).provenance.notes
        assert not any("was not used" in note for note in notes)
