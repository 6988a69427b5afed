"""HGNN's layers against its equations, written out node by node."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from crowdcore.engine.labels import Labels
from crowdcore.methods.graph.hgnn import _attention as attention
from crowdcore.methods.graph.hgnn import _layers as layers
from crowdcore.methods.graph.hgnn._graph import Graph
from crowdcore.methods.graph.hgnn._layers import (
    AUTHORS,
    COR,
    MP1,
    MP2,
    PAPER,
    DotProjection,
    Initialiser,
    Rules,
    States,
)
from tests.crowds import golden_crowd

SIZE, EDGE = 4, 3
DATA = golden_crowd()
BOTH = pytest.mark.parametrize("rules", [PAPER, AUTHORS], ids=["paper", "authors"])


def init() -> Initialiser:
    return Initialiser(torch.float64, torch.device("cpu"), torch.Generator().manual_seed(0))


def graph() -> Graph:
    return Graph.from_labels(Labels(DATA, torch.device("cpu")))


def states() -> States:
    torch.manual_seed(1)
    workers, items = (torch.rand(n, SIZE).double() for n in (DATA.n_workers, DATA.n_items))
    return workers, items


def own_labels(side: str, node: int) -> tuple[Tensor, Tensor]:
    """The other ends of a node's labels, and their classes."""
    mine, other = (DATA.worker, DATA.item) if side == "workers" else (DATA.item, DATA.worker)
    at = np.flatnonzero(mine == node)
    return torch.tensor(other[at]), torch.tensor(DATA.label[at])


def sides(before: States) -> list[tuple[str, Tensor, Tensor]]:
    workers, items = before
    return [("workers", workers, items), ("items", items, workers)]


@BOTH
def test_mp1_adds_the_mean_of_the_neighbours_each_times_its_labels_matrix(rules: Rules) -> None:
    layer, before = MP1(graph(), rules, init(), size=SIZE, classes=DATA.n_classes), states()
    for after, (side, own, other) in zip(layer(before), sides(before), strict=True):
        rows = []
        for node, state in enumerate(own):
            ends, given = own_labels(side, node)
            said = torch.einsum("ld,lde->le", other[ends], layer.weight[given])
            rows.append(rules.mp1_act(rules.mp1[0] * state + rules.mp1[1] * said.mean(0)))
        torch.testing.assert_close(after, torch.stack(rows))


@BOTH
def test_mp2_weighs_messages_by_attention_and_updates_workers_first(rules: Rules) -> None:
    layer = MP2(graph(), rules, init(), size=SIZE, edge_size=EDGE, classes=DATA.n_classes)
    (workers, items), found = states(), layer(states())
    weights = layer.weights()
    for side, name, own, other in [(0, "workers", workers, items), (1, "items", items, found[0])]:
        ear = (layer.workers, layer.items)[side]
        mix = (rules.workers, rules.items)[side]
        rows, shares = [], torch.zeros(DATA.n_labels).double()
        for node, state in enumerate(own):
            ends, given = own_labels(name, node)
            edge = torch.cat([other[ends], ear.edge[given]], 1)
            message = rules.act(edge @ ear.weight + ear.bias)
            # The state beside the message, as in eqs. 6 and 8: it changes nothing.
            score = message @ ear.score + state.sum()
            share = score.softmax(0)
            mine = (DATA.worker, DATA.item)[side] == node
            shares[torch.tensor(mine)] = share.squeeze(1).detach()
            mixed = mix[0] * state + mix[1] * (share * message).sum(0)
            if ear.after is not None:
                mixed = mixed @ ear.after.weight + ear.after.bias
            rows.append(rules.act(mixed))
        torch.testing.assert_close(found[side], torch.stack(rows))
        torch.testing.assert_close(weights[side], shares)


@BOTH
@pytest.mark.parametrize("dot", [False, True])
def test_cor_lets_every_node_attend_to_all_of_its_kind(rules: Rules, dot: bool) -> None:
    reach = [attention.full, attention.full]
    layer, before = COR(reach, rules, init(), size=SIZE, dot=dot), states()
    looks = layer.workers, layer.items
    for after, state, look in zip(layer(before), before, looks, strict=True):
        value = look.value
        if isinstance(look, DotProjection):
            scores = look.query(state) @ look.key(state).T / SIZE**0.5
        else:
            seen = state @ look.weight
            own, other = look.vector.unbind(1)
            scores = (seen @ own.unsqueeze(1) + seen @ other).relu()  # eqs. 11, 13
        if layer.after is None:
            expected = (scores.softmax(1) @ state @ value.weight).relu()  # eqs. 10, 12
        else:
            expected = layer.after(scores.softmax(1) @ value(state))
        torch.testing.assert_close(after, expected)


def test_starting_weights_follow_the_generator_and_lie_within_their_bounds() -> None:
    one, other = init(), init()
    first = one.xavier(300, 200)
    torch.testing.assert_close(first, other.xavier(300, 200), atol=0, rtol=0)
    assert first.abs().max() <= (12 / 500) ** 0.5
    assert first.abs().max() > 0.95 * (12 / 500) ** 0.5
    made = one.affine(400, 5)
    assert max(made.weight.abs().max(), made.bias.abs().max()) <= 0.05


def test_the_authors_layers_start_within_the_bounds_of_their_code() -> None:
    size, edge, classes = 60, 40, 3
    mp1 = MP1(graph(), AUTHORS, init(), size=size, classes=classes)
    mp2 = MP2(graph(), AUTHORS, init(), size=size, edge_size=edge, classes=classes)
    ear = mp2.workers
    assert ear.after is not None
    bounds = [
        (mp1.weight, size * (size + classes)),
        (ear.edge, edge * (1 + classes)),
        (ear.weight, 2 * size + edge),
        (ear.bias, size + 1),
        (ear.score, 2 * size + 1),
        (ear.after.weight, 2 * size),
        (ear.after.bias, size + 1),
    ]
    for table, fans in bounds:
        assert 0.85 * (12 / fans) ** 0.5 < table.abs().max() <= (12 / fans) ** 0.5


def test_a_networks_answer_is_linear_in_the_items_last_states() -> None:
    head = init().affine(SIZE, 2)
    net = layers.Network(states, [torch.nn.Identity()], head)
    scores, last = net()
    torch.testing.assert_close(scores, states()[1] @ head.weight + head.bias)
    assert last[0].shape == (DATA.n_workers, SIZE)
