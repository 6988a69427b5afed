"""The two sums that everything stands on, against plain numpy."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from crowdcore.data import CrowdData
from crowdcore.engine import bags
from crowdcore.engine import labels as module
from crowdcore.engine.labels import Labels
from tests.crowds import golden_crowd

CPU = torch.device("cpu")


def test_sum_over_items_adds_the_rows_of_an_items_keys() -> None:
    data = golden_crowd()
    table = np.random.default_rng(0).normal(size=(data.n_workers * data.n_classes, 4))
    expected = np.zeros((data.n_items, 4))
    np.add.at(expected, data.item, table[data.worker * data.n_classes + data.label])
    found = Labels(data, CPU).sum_over_items(torch.from_numpy(table))
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-12)


def test_sum_over_keys_adds_the_rows_of_the_items_a_worker_so_labelled() -> None:
    data = golden_crowd()
    values = np.random.default_rng(0).normal(size=(data.n_items, 4))
    expected = np.zeros((data.n_workers * data.n_classes, 4))
    np.add.at(expected, data.worker * data.n_classes + data.label, values[data.item])
    found = Labels(data, CPU).sum_over_keys(torch.from_numpy(values))
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-12)


def test_long_sums_in_single_precision_are_cut_and_stay_exact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    n_items = 200_000
    data = CrowdData(
        item=np.arange(n_items),
        worker=np.zeros(n_items, np.int32),
        label=np.zeros(n_items, np.int32),
        items=tuple(map(str, range(n_items))),
        workers=("prolific", "idle"),
        classes=("a", "b"),
    )
    labels = Labels(data, CPU)
    assert labels.dtype == torch.float32
    values = torch.rand(n_items, 2, generator=torch.Generator().manual_seed(0))
    exact = values.double().sum(0)
    found = labels.sum_over_keys(values)
    assert found.shape == (4, 2)
    error = float((found[0].double() / exact - 1).abs().max())
    assert error < 5e-7
    assert float(found[1:].abs().max()) == 0
    monkeypatch.setattr(bags, "MAX_ROWS_PER_BAG", 10**9)
    crude = Labels(data, CPU).sum_over_keys(values)
    assert float((crude[0].double() / exact - 1).abs().max()) > 3 * error


def test_rows_are_ordered_by_item_worker_and_class_whatever_the_order_of_the_file() -> None:
    data = golden_crowd()
    mixed = np.random.default_rng(1).permutation(data.n_labels)
    shuffled = {name: getattr(data, name)[mixed] for name in ("item", "worker", "label")}
    rows = Labels(dataclasses.replace(data, **shuffled), CPU).rows
    triples = list(zip(rows.item.tolist(), rows.worker.tolist(), rows.given.tolist(), strict=True))
    assert triples == sorted(zip(data.item, data.worker, data.label, strict=True))
    np.testing.assert_array_equal(shuffled["item"][rows.order], rows.item)


def test_items_without_labels_have_uniform_shares() -> None:
    data = golden_crowd()
    more = dataclasses.replace(data, items=(*data.items, "nobody saw it"), gold=None)
    shares = Labels(more, CPU).shares()
    assert shares[-1].tolist() == [1 / 3] * 3
    np.testing.assert_allclose(shares.sum(1), 1)


@pytest.mark.parametrize(("per_bag", "n_blocks"), [(0, 7), (1, 8), (10**6, 1)])
def test_sums_in_blocks_are_the_sums_of_the_whole(
    per_bag: int, n_blocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = golden_crowd()
    table = torch.rand(data.n_workers * data.n_classes, 4, dtype=torch.float64)
    values = torch.rand(data.n_items, 4, dtype=torch.float64)
    whole = Labels(data, CPU)
    monkeypatch.setattr(module, "ROWS_PER_CHUNK", 13)
    monkeypatch.setattr(module, "MIN_LABELS_PER_CHUNK", per_bag)  # no key is rare, some, or all
    parts = Labels(data, CPU)
    assert len(parts._by_item) == 7
    assert len(parts._by_key[0]) == n_blocks
    for found, expected in [
        (parts.sum_over_items(table), whole.sum_over_items(table)),
        (parts.sum_over_keys(values), whole.sum_over_keys(values)),
    ]:
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_the_order_of_labels_changes_no_bit_of_a_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    data = golden_crowd()
    monkeypatch.setattr(module, "ROWS_PER_CHUNK", 13)
    mixed = np.random.default_rng(1).permutation(data.n_labels)
    parts = {name: getattr(data, name)[mixed] for name in ("item", "worker", "label")}
    one, other = Labels(data, CPU), Labels(dataclasses.replace(data, **parts), CPU)
    table = torch.rand(data.n_workers * data.n_classes, 4, dtype=torch.float64)
    values = torch.rand(data.n_items, 4, dtype=torch.float64)
    assert torch.equal(one.sum_over_items(table), other.sum_over_items(table))
    assert torch.equal(one.sum_over_keys(values), other.sum_over_keys(values))


def test_a_spent_table_lends_its_memory_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    data = golden_crowd()
    monkeypatch.setattr(module, "ROWS_PER_CHUNK", 13)
    labels = Labels(data, CPU)
    table = torch.rand(data.n_workers * data.n_classes, 3, dtype=torch.float64)
    fresh = labels.sum_over_items(table)
    buffer = torch.full_like(fresh, torch.nan)
    again = labels.sum_over_items(table, buffer)
    assert torch.equal(again, fresh)
    assert again.data_ptr() == buffer.data_ptr()


def test_gradients_pass_through_sums_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    data = golden_crowd()
    monkeypatch.setattr(module, "ROWS_PER_CHUNK", 13)
    table = torch.rand(data.n_workers * data.n_classes, 1, dtype=torch.float64, requires_grad=True)
    total = Labels(data, CPU).sum_over_items(table).sum()
    (gradient,) = torch.autograd.grad(total, [table])
    key = data.worker * data.n_classes + data.label
    np.testing.assert_allclose(gradient[:, 0], np.bincount(key, minlength=len(table)))
