"""A completed matrix is counted as if it were listed, and nobody mistakes it for what was seen."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch

from crowdcore.artefacts.completion import Completion, Filled
from crowdcore.artefacts.pool_members import PoolMembers
from crowdcore.data import DataError
from crowdcore.engine.completed_labels import CompletedLabels
from crowdcore.engine.labels import Labels
from crowdcore.errors import ResultError
from crowdcore.registry import fit, get_method
from tests.crowds import golden_crowd
from tests.left_behind import left_behind

CPU = torch.device("cpu")
FACTS = {"method": "test", "title": "Test", "params": {}, "seed": 0, "seconds": 0.0}


@pytest.fixture
def completion(monkeypatch: pytest.MonkeyPatch) -> Completion:
    """Half of all cells filled at random, worked on a few items at a time."""
    monkeypatch.setattr("crowdcore.artefacts.completion.COUNTED_VALUES_PER_CHUNK", 500)
    data, rng = golden_crowd(), np.random.default_rng(0)
    shape = (data.n_items, data.n_workers)
    label = rng.integers(-data.n_classes, data.n_classes, shape).clip(min=-1)
    return Completion.from_filled(data, Filled(label=label, probability=rng.random(shape)), FACTS)


def test_sums_equal_those_of_the_list(completion: Completion) -> None:
    counted, listed = CompletedLabels(completion, CPU), Labels(completion.listed(), CPU)
    assert counted.n_labels == listed.n_labels
    table = torch.randn(listed.n_workers * listed.n_classes, 4, dtype=torch.float64)
    values = torch.randn(listed.n_items, 4, dtype=torch.float64)
    torch.testing.assert_close(counted.sum_over_items(table), listed.sum_over_items(table))
    torch.testing.assert_close(counted.sum_over_keys(values), listed.sum_over_keys(values))
    for name in ("votes", "counts", "worker_counts", "unlabelled"):
        torch.testing.assert_close(getattr(counted, name), getattr(listed, name))
    torch.testing.assert_close(counted.shares(), listed.shares())


@pytest.mark.parametrize("name", ["mv", "ds", "ibcc", "zc", "catd"])
def test_methods_count_without_making_the_list(
    completion: Completion, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = get_method(name)
    from_list = method.fit(completion.listed())
    monkeypatch.setattr(Completion, "listed", lambda self: pytest.fail("it made the list"))
    counted = method.fit(completion.data, completion=completion)
    np.testing.assert_allclose(counted.posterior, from_list.posterior, atol=1e-8)


def test_too_many_labels_to_list_are_a_sentence(
    completion: Completion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crowdcore.engine.completed_labels.MAX_LISTED_LABELS", 100)
    with pytest.raises(DataError, match="too many for this method"):
        get_method("glad").fit(completion.data, completion=completion)
    get_method("ds").fit(completion.data, completion=completion)


def test_auto_leaves_out_the_member_that_would_list_too_many(
    completion: Completion, monkeypatch: pytest.MonkeyPatch
) -> None:
    auto = get_method("auto")
    whole = auto.fit(completion.data, completion=completion)
    monkeypatch.setattr("crowdcore.engine.completed_labels.MAX_LISTED_LABELS", 100)
    fewer = auto.fit(completion.data, completion=completion)
    assert left_behind(whole, PoolMembers).names == ["hds", "ds", "hbcc", "mace"]
    assert left_behind(fewer, PoolMembers).names == ["hds", "ds", "hbcc"]
    assert "mace was left out" in " ".join(fewer.provenance.notes)
    assert "mace" not in " ".join(whole.provenance.notes)


def test_workers_are_judged_by_their_own_labels(completion: Completion) -> None:
    result = get_method("ds").fit(completion.data, completion=completion)
    assert result.confusion is None
    own = completion.data.labels_per_worker
    assert result.workers()["n_labels"].tolist() == own.tolist()


def test_density_counts_a_pair_labelled_twice_once() -> None:
    data = golden_crowd()
    twice = dataclasses.replace(
        data,
        item=np.append(data.item, data.item[0]),
        worker=np.append(data.worker, data.worker[0]),
        label=np.append(data.label, data.label[0]),
    )
    empty = np.full((data.n_items, data.n_workers), -1)
    nothing = Filled(label=empty, probability=np.zeros(empty.shape))
    assert (
        Completion.from_filled(twice, nothing, FACTS).density
        == Completion.from_filled(data, nothing, FACTS).density
    )


def test_wrong_cells_are_a_bug_of_the_method() -> None:
    data = golden_crowd()
    shape = (data.n_items, data.n_workers)
    good: dict[str, Any] = {"label": np.zeros(shape, int), "probability": np.ones(shape)}
    for wrong in (
        {"label": np.zeros((1, 1), int)},
        {"label": np.full(shape, data.n_classes)},
        {"probability": np.full(shape, 1.5)},
        {"probability": np.full(shape, np.nan)},
    ):
        with pytest.raises(ResultError, match="completion"):
            Completion.from_filled(data, Filled(**{**good, **wrong}), FACTS)


def test_filled_labels_cannot_calibrate() -> None:
    with pytest.raises(DataError, match="calibrate off"):
        fit(golden_crowd(), "mv", complete="g_mv", calibrate="labels")


def test_the_two_roles_are_not_mixed_up() -> None:
    with pytest.raises(DataError, match="completes labels"):
        fit(golden_crowd(), "g_mv")
    with pytest.raises(DataError, match="infers truths"):
        fit(golden_crowd(), "mv", complete="ds")
