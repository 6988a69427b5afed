"""Promises of methods whose labels are ratings."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from crowdcore.data import CrowdData, Kind
from crowdcore.method import Method
from crowdcore.results.result import Result
from crowdcore.simulation.ratings import simulate_ratings
from tests.conformance.suites import suited_ratings
from tests.crowds import with_some_gold

KIND: Kind = "ratings"


def run_on(method: Method, data: CrowdData, **extra: Any) -> Result:
    return method.fit(data, **{**method.quick, **extra})


def test_another_unit_and_zero_give_the_same_truths_in_them(method: Method) -> None:
    data = suited_ratings(method)
    gold = None if data.gold is None else 4 + 2.5 * data.gold
    other = dataclasses.replace(data, label=4 + 2.5 * data.label, gold=gold)
    before, after = run_on(method, data), run_on(method, other)
    np.testing.assert_allclose(after.truth, 4 + 2.5 * before.truth, rtol=1e-4, atol=2e-3)
    np.testing.assert_allclose(after.spread, 2.5 * before.spread, rtol=1e-3, atol=2e-3)


def test_renaming_workers_and_items_renames_the_answers(method: Method) -> None:
    data = suited_ratings(method)
    rng = np.random.default_rng(2)
    item, worker = rng.permutation(data.n_items), rng.permutation(data.n_workers)
    assert data.features is not None
    renamed = dataclasses.replace(
        data,
        item=item[data.item],
        worker=worker[data.worker],
        gold=None if data.gold is None else data.gold[np.argsort(item)],
        features=data.features[np.argsort(item)],
    )
    before, after = run_on(method, data), run_on(method, renamed)
    np.testing.assert_allclose(before.truth, after.truth[item], atol=1e-6)


def test_unanimous_items_keep_their_value_within_the_interval(method: Method) -> None:
    data = suited_ratings(method)
    label = np.where(data.item < 5, 6.0, data.label)
    result = run_on(method, dataclasses.replace(data, label=label))
    assert (result.truth[:5] > 4).all()
    spread = np.nan_to_num(result.spread[:5])
    np.testing.assert_array_less(np.abs(result.truth[:5] - 6.0), 4 * spread + 1.0)


def test_ratings_that_are_all_the_same_are_the_truth(method: Method) -> None:
    data = dataclasses.replace(suited_ratings(method), features=None)
    constant = dataclasses.replace(data, label=np.full(data.n_labels, 3.0))
    if method.needs.unmet(constant):
        pytest.skip("it needs what these data lack")
    result = run_on(method, constant)
    np.testing.assert_allclose(result.truth, 3.0, atol=1e-6)
    assert np.nan_to_num(result.spread).max() < 0.01


def test_easy_crowd_is_rated_about_as_well_as_by_the_mean(method: Method) -> None:
    simulation = simulate_ratings(items=200, workers=25, ratings_per_item=5, features=6, seed=4)
    data = simulation.data
    assert data.gold is not None
    scored = np.arange(data.n_items) % 3 != 0
    given = with_some_gold(data) if method.needs.gold else dataclasses.replace(data, gold=None)
    result = run_on(method, given)
    means = np.bincount(data.item, weights=data.label) / data.labels_per_item
    errors = [np.sqrt(((z - data.gold)[scored] ** 2).mean()) for z in (result.truth, means)]
    assert np.corrcoef(result.truth[scored], data.gold[scored])[0, 1] > 0.8
    assert errors[0] < 1.35 * errors[1]
