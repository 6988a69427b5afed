"""Every method that fills in labels keeps every promise, and any other method can go on from it."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from crowdcore.artefacts.completion import Completion
from crowdcore.data import CrowdData, DataError
from crowdcore.method import Method
from crowdcore.registry import fit, get_method, methods
from crowdcore.run import Cancelled, Run
from tests.conformance.test_promises import HEADINGS, bounds_are_told
from tests.conformance.tiny import tiny_crowds
from tests.crowds import easy_crowd, golden_crowd, with_some_gold


@pytest.fixture(params=list(methods("complete")))
def completer(request: pytest.FixtureRequest) -> Method:
    return get_method(request.param, "complete")


def with_features(data: CrowdData, seed: int = 0) -> CrowdData:
    """Give items features that tell their classes apart, with some noise."""
    rng = np.random.default_rng(seed)
    assert data.gold is not None
    centre = 2 * np.eye(data.n_classes, 6)[np.maximum(data.gold, 0)]
    features = (centre + rng.normal(size=centre.shape)).astype(np.float32)
    return dataclasses.replace(data, features=features)


def fill(method: Method, data: CrowdData, **extra: Any) -> Completion:
    return method.complete(data, **{**method.quick, **extra})


def test_same_seed_fills_the_same_cells(completer: Method) -> None:
    data = with_features(golden_crowd())
    first, second = fill(completer, data, seed=3), fill(completer, data, seed=3)
    np.testing.assert_array_equal(first.label, second.label)
    np.testing.assert_array_equal(first.probability, second.probability)


def test_order_of_labels_is_irrelevant(completer: Method) -> None:
    data = with_features(golden_crowd())
    order = np.random.default_rng(1).permutation(data.n_labels)
    shuffled = dataclasses.replace(
        data, item=data.item[order], worker=data.worker[order], label=data.label[order]
    )
    np.testing.assert_array_equal(fill(completer, data).label, fill(completer, shuffled).label)


def test_observed_cells_are_never_filled_and_gold_is_never_seen(completer: Method) -> None:
    data = with_features(easy_crowd())
    assert data.gold is not None
    done = fill(completer, data)
    assert (done.label[data.item, data.worker] == -1).all()
    wrong = dataclasses.replace(data, gold=(data.gold + 1) % data.n_classes)
    np.testing.assert_array_equal(done.label, fill(completer, wrong).label)


def test_nothing_is_filled_in_for_workers_who_were_excluded(completer: Method) -> None:
    data = with_features(easy_crowd())
    out = data.workers[2]
    done = fill(completer, data.without_workers([out]))
    assert done.filled_per_worker[2] == 0
    assert done.n_filled > 0


def test_filled_labels_are_mostly_what_the_item_is(completer: Method) -> None:
    data = with_features(easy_crowd())
    assert data.gold is not None
    done = fill(completer, data)
    item, worker = np.nonzero(done.label >= 0)
    assert len(item) > 0
    right = (done.label[item, worker] == data.gold[item]).mean()
    assert right > 1.5 / data.n_classes
    assert (done.probability[item, worker] > 0).all()


def test_aggregating_what_was_filled_in_solves_an_easy_crowd(completer: Method) -> None:
    data = with_features(easy_crowd())
    assert data.gold is not None
    plain = fit(data, "mv")
    result = fit(data, "mv", complete=completer.id, complete_params=dict(completer.quick))
    assert (result.truth == data.gold).mean() >= (plain.truth == data.gold).mean() - 0.05
    assert result.provenance.completion is not None
    assert "filled in" in result.provenance.notes[0]
    assert result.data is data


def test_a_result_tells_the_time_of_filling_in_too() -> None:
    result = fit(golden_crowd(), "mv", complete="wslc")
    filling = (result.provenance.completion or {})["seconds"]
    assert result.provenance.seconds > filling > 0


def test_leaves_what_it_declares(completer: Method) -> None:
    done = fill(completer, with_features(golden_crowd()))
    left = {type(artefact) for artefact in (done, *done.artefacts)}
    assert left == set(completer.leaves)


def test_cancel_stops_it(completer: Method) -> None:
    data = with_features(golden_crowd())
    free = Run()
    fill(completer, data, run=free)
    if free.steps < 2:
        return  # it does not iterate, so there is nothing to stop
    asked = iter(range(100_000))
    with pytest.raises(Cancelled):
        fill(completer, data, run=Run(should_stop=lambda: next(asked) >= 1))


@pytest.mark.parametrize("name", list(methods()))
def test_any_method_can_go_on_from_what_was_filled_in(name: str) -> None:
    method = get_method(name)
    data = with_features(golden_crowd(2 if method.needs.two_classes else 3))
    data = with_some_gold(data) if method.needs.gold else data
    done = get_method("g_mv", "complete").complete(data)
    result = method.fit(data, completion=done, **method.quick)
    assert result.data is data
    assert result.provenance.completion is not None


@given(data=tiny_crowds())
@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
def test_any_small_crowd_gives_valid_cells_or_a_sentence(
    completer: Method, data: CrowdData
) -> None:
    bare = np.random.default_rng(0).normal(size=(data.n_items, 2)).astype(np.float32)
    sentence = "."
    try:
        done = fill(completer, dataclasses.replace(data, features=bare))
    except DataError as error:
        sentence = str(error)
    assert sentence.endswith((".", "?"))
    if sentence == ".":
        assert done.label.shape == (data.n_items, data.n_workers)
        assert done.listed().n_labels == data.n_labels + done.n_filled


def test_every_parameter_has_bounds_a_description_and_a_plain_type(completer: Method) -> None:
    bounds_are_told(completer)


def test_card_is_complete(completer: Method) -> None:
    parts = ("\n" + completer.card).split("\n## ")[1:]
    assert [part.splitlines()[0] for part in parts] == HEADINGS
    assert all(len(part.split()) > 8 for part in parts)
    assert completer.summary.endswith(".")
