"""The crowd layer: no change at first, and each worker's own map after that."""

from __future__ import annotations

from typing import get_args

import pytest
import torch

from crowdcore.engine.learning.crowd_layer import CrowdLayer, Kind

SHARES = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
WORKERS = torch.tensor([1, 0])


@pytest.mark.parametrize("kind", get_args(Kind))
def test_every_layer_begins_as_the_identity(kind: Kind) -> None:
    assert torch.equal(CrowdLayer(kind, 2, 3, pace=10.0)(SHARES, WORKERS), SHARES)


@pytest.mark.parametrize("kind", get_args(Kind))
def test_a_batch_of_one_keeps_its_shape(kind: Kind) -> None:
    assert CrowdLayer(kind, 2, 3)(SHARES[:1], WORKERS[:1]).shape == (1, 3)


def test_matrix_leads_from_the_true_class_to_the_given_one() -> None:
    layer = CrowdLayer("mw", 2, 3)
    assert layer.matrix is not None
    with torch.no_grad():
        layer.matrix[1, 0, 2] = 5.0  # worker 1 says 2 where the truth is 0
    logits = layer(torch.eye(3)[:1].repeat(2, 1), torch.tensor([0, 1]))
    assert logits.argmax(1).tolist() == [0, 2]


def test_without_a_gain_a_layer_has_nothing_in_common() -> None:
    names = [name for name, _ in CrowdLayer("mw", 2, 3, gain=False).named_parameters()]
    assert names == ["matrix"]
    assert torch.equal(CrowdLayer("mw", 2, 3, gain=False)(SHARES, WORKERS), SHARES)


def test_pace_multiplies_what_was_learnt() -> None:
    slow, quick = CrowdLayer("vw+b", 2, 3), CrowdLayer("vw+b", 2, 3, pace=4.0)
    for layer in (slow, quick):
        assert layer.scale is not None
        assert layer.shift is not None
        torch.nn.init.constant_(layer.scale, 0.5)
        torch.nn.init.constant_(layer.shift, 0.25)
    moved = slow(SHARES, WORKERS) - SHARES
    torch.testing.assert_close(quick(SHARES, WORKERS) - SHARES, 4 * moved)
