from __future__ import annotations

import json

import pytest
import torch
from torch import nn

from crowdcore.engine.learning import networks
from crowdcore.engine.learning.networks import Mixture, average_members

SIZES = {"members": 3, "experts": 4, "hidden": [8, 5], "tower": [6]}


def mixture(shape: tuple[int, ...] = (7,)) -> tuple[networks.Net, Mixture]:
    torch.manual_seed(0)
    net = networks.build(networks.describe(shape, 2, hidden=(), dropout=0.5, mixture=SIZES)).eval()
    assert isinstance(net.head, Mixture)
    return net, net.head


def gates(n: int) -> torch.Tensor:
    return torch.rand(n, 3, 4).softmax(2).flatten(1)


@pytest.mark.parametrize("shape", [(7,), (1, 8, 8)])
def test_a_described_mixture_can_be_built_anew(shape: tuple[int, ...]) -> None:
    net, _ = mixture(shape)
    described = networks.describe(shape, 2, hidden=(), dropout=0.5, mixture=SIZES)
    again = networks.build(json.loads(json.dumps(described))).eval()
    again.load_state_dict(net.state_dict())
    x = torch.randn(5, *shape)
    torch.testing.assert_close(again(x), net(x))


def test_a_blend_is_the_weighted_sum_of_opinions() -> None:
    _, head = mixture()
    x, gate = torch.randn(6, 7), gates(6)
    outputs = head.expert_outputs(x)  # [M, E, n, H]
    shares = gate.reshape(6, 3, 4)
    by_hand = sum(shares[:, :, e].T.unsqueeze(2) * outputs[:, e] for e in range(4))
    torch.testing.assert_close(head.member_logits(x, gate), head.tower(by_hand))


def test_asking_under_many_gates_is_asking_under_each() -> None:
    _, head = mixture()
    x, gate = torch.randn(6, 7), gates(3)
    together = head.log_probabilities(x, gate)
    for place in range(3):
        alone = average_members(head.member_logits(x, gate[place].expand(6, -1)))
        torch.testing.assert_close(together[:, place], alone)


def test_a_net_answers_for_the_gate_it_keeps_with_probabilities() -> None:
    net, head = mixture()
    x, gate = torch.randn(6, 7), gates(1)
    head.gate.copy_(gate[0])
    torch.testing.assert_close(net(x), head.log_probabilities(x, gate)[:, 0])
    torch.testing.assert_close(net(x).exp().sum(1), torch.ones(6))


def test_members_do_not_see_each_other() -> None:
    _, head = mixture()
    x, gate = torch.randn(6, 7), gates(6)
    before = head.member_logits(x, gate)
    gate[:, :4] = torch.eye(4)[0]  # of the first member
    after = head.member_logits(x, gate)
    assert not torch.allclose(before[0], after[0])
    torch.testing.assert_close(before[1:], after[1:])


def test_pictures_get_convolutions_and_tables_do_not() -> None:
    picture = networks.build(networks.describe((3, 20, 20), 4, hidden=(8,), dropout=0.5))
    assert any(isinstance(part, nn.Conv2d) for part in picture.modules())
    x = torch.zeros(5, 3, 20, 20)
    assert networks.apply_in_chunks(picture, x, chunk_size=2).shape == (5, 4)
    tiny = networks.build(networks.describe((1, 2, 3), 4))
    assert tiny(torch.zeros(2, 1, 2, 3)).shape == (2, 4)
    line = networks.build(networks.describe((6,), 4, hidden=()))
    assert [len(part) for part in line.parameters()] == [4, 4]
