"""Messages along labels, by DGL and by plain torch, against dense tables."""

from __future__ import annotations

import dataclasses
import os

import numpy as np
import pytest
import torch
from torch import Tensor

from crowdcore.data import CrowdData
from crowdcore.engine.labels import Labels
from crowdcore.methods.graph.hgnn import _graph as graphs
from crowdcore.methods.graph.hgnn._graph import Direction, Graph
from tests.crowds import golden_crowd, with_twins

CPU = torch.device("cpu")
NAMES = ["to_items", "to_workers"]


def graph_of(data: CrowdData) -> Graph:
    return Graph.from_labels(Labels(data, CPU))


@pytest.fixture(params=["dgl", "torch"])
def kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a test with either kind of kernels."""
    if request.param == "torch":
        monkeypatch.setattr(graphs, "has_dgl", lambda: False)
    elif not graphs.has_dgl():
        pytest.skip("DGL is not installed here")
    name: str = request.param
    return name


def inputs(data: CrowdData, name: str) -> tuple[Tensor, Tensor]:
    """States of the senders and rows of the classes."""
    torch.manual_seed(0)
    n = data.n_workers if name == "to_items" else data.n_items
    shapes = [(n, 4), (data.n_classes, 4)]
    states, table = (torch.randn(s, dtype=torch.float64).requires_grad_() for s in shapes)
    return states, table


def heard(direction: Direction, states: Tensor, table: Tensor) -> Tensor:
    """Some messages and scores, made and passed as a layer does."""
    message = (direction.of_sender(states) + direction.of_class(table)).sin()
    return direction.attend(message.sum(1), message) + direction.sum(message)


def expected(data: CrowdData, name: str, states: Tensor, table: Tensor) -> Tensor:
    """The same, one label at a time."""
    sender, receiver = (data.worker, data.item) if name == "to_items" else (data.item, data.worker)
    of_label = states[torch.tensor(sender)] + table[torch.tensor(data.label)]
    message = of_label.sin()  # [L, d]
    rows = []
    for node in np.unique(receiver):
        own = message[torch.tensor(receiver == node)]
        rows.append(own.sum(1).softmax(0) @ own + own.sum(0))
    return torch.stack(rows)


@pytest.mark.parametrize("name", NAMES)
def test_messages_and_gradients_are_those_of_label_after_label(kernels: str, name: str) -> None:
    data = golden_crowd()
    direction: Direction = getattr(graph_of(data), name)
    assert type(direction.kernels).__name__.lower().startswith(kernels)
    wanted = inputs(data, name)
    found, slow = heard(direction, *wanted), expected(data, name, *wanted)
    torch.testing.assert_close(found, slow)
    weigh = torch.randn(slow.shape, dtype=torch.float64)
    ours = torch.autograd.grad((found * weigh).sum(), wanted)
    theirs = torch.autograd.grad((slow * weigh).sum(), wanted)
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("name", NAMES)
def test_both_kinds_of_kernels_give_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if not graphs.has_dgl():
        pytest.skip("DGL is not installed here")
    data = golden_crowd()
    wanted, found = inputs(data, name), []
    for has in (True, False):
        monkeypatch.setattr(graphs, "has_dgl", lambda has=has: has)
        direction: Direction = getattr(graph_of(data), name)
        total = heard(direction, *wanted)
        scores = direction.of_sender(wanted[0]).sum(1)
        found.append(
            [total, *torch.autograd.grad(total.cos().sum(), wanted), direction.weights(scores)]
        )
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, atol=1e-12, rtol=1e-12)


def test_weights_come_in_the_order_of_the_data_and_sum_to_one(kernels: str) -> None:
    data = golden_crowd()
    rng = np.random.default_rng(1)
    for order in (np.arange(data.n_labels), rng.permutation(data.n_labels)):
        mixed = dataclasses.replace(
            data, item=data.item[order], worker=data.worker[order], label=data.label[order]
        )
        direction = graph_of(mixed).to_items
        quality = torch.arange(data.n_workers, dtype=torch.float64).unsqueeze(1) / 7
        weights = direction.weights(direction.of_sender(quality).squeeze(1)).numpy()
        power = np.exp(mixed.worker / 7)
        total = np.bincount(mixed.item, weights=power)
        np.testing.assert_allclose(weights, power / total[mixed.item])


def test_items_with_the_same_labels_can_be_one_node_that_counts_as_often(kernels: str) -> None:
    data = with_twins(golden_crowd(), 5)
    labels = Labels(data, CPU)
    apart, merged = Graph.from_labels(labels), Graph.from_labels(labels, merge=True)
    assert apart.copies is None
    assert merged.copies is not None
    assert len(merged.first) == len(merged.copies) == len(apart.items) - 6
    assert merged.copies.sort().values[-5:].tolist() == [2, 2, 2, 2, 3]
    assert merged.node[0] == merged.node[data.n_items - 1] == merged.node[data.n_items - 6]
    same = torch.empty_like(merged.first).index_copy(0, merged.node, apart.items)
    assert (merged.node[same] == merged.node[merged.first]).all()

    states, table = inputs(data, "to_workers")
    states = states.detach().index_select(0, merged.first).requires_grad_()
    each = states.index_select(0, merged.node)
    found = heard(merged.to_workers, states, table)
    expected = heard(apart.to_workers, each, table)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(merged.to_workers.counts, apart.to_workers.counts)
    ours = torch.autograd.grad(found.square().sum(), (states, table))
    torch.testing.assert_close(ours, torch.autograd.grad(expected.square().sum(), (states, table)))
    quality = each.detach()[:, :1]
    few, many = (
        graph.to_workers.weights(graph.to_workers.of_sender(rows).squeeze(1))
        for graph, rows in ((merged, states.detach()[:, :1]), (apart, quality))
    )
    torch.testing.assert_close(few, many)

    workers, table = inputs(data, "to_items")
    few, many = (heard(graph.to_items, workers, table) for graph in (merged, apart))
    torch.testing.assert_close(few.index_select(0, merged.node), many)


def test_items_without_a_twin_are_not_merged() -> None:
    merged = Graph.from_labels(Labels(golden_crowd(), CPU), merge=True)
    assert merged.copies is None
    assert len(merged.first) == len(merged.items)


def test_nodes_without_labels_are_no_part_of_the_graph() -> None:
    data = golden_crowd()
    fewer = data.only((data.item != 3) & (data.worker != 0))
    graph = graph_of(fewer)
    assert len(graph.items) == data.n_items - 1
    assert 3 not in graph.items.tolist()
    assert graph.workers.tolist() == list(range(1, data.n_workers))
    assert graph.to_items.sum(torch.ones(graph.to_items.n_cells, 1).double()).min() > 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_very_different_scores_neither_vanish_nor_run_over(dtype: torch.dtype) -> None:
    data = CrowdData.from_triples([("a", "low", "x"), ("a", "lower", "y"), ("b", "high", "x")])
    labels = Labels(data, CPU)
    labels.dtype = dtype
    direction = Graph.from_labels(labels).to_items
    score = torch.tensor([-50.0, -51.0, 0.0], dtype=dtype).reshape(3, 1)
    scores = direction.of_sender(score).squeeze(1)
    said = direction.of_sender(torch.tensor([[1.0], [0.0], [5.0]], dtype=dtype))
    found = direction.attend(scores, said)
    wanted = torch.tensor([[1 / (1 + np.exp(-1))], [5.0]], dtype=dtype)
    torch.testing.assert_close(found, wanted)
    deep = direction.attend(scores * 1e4, said)
    torch.testing.assert_close(deep, torch.tensor([[0.5], [5.0]], dtype=dtype))


def test_dgl_leaves_the_home_folder_alone() -> None:
    graph_of(golden_crowd())
    assert not graphs.has_dgl() or os.environ["DGLBACKEND"] == "pytorch"
