"""Weighted votes against plain counting."""

from __future__ import annotations

import numpy as np
import torch
from torch.nn.functional import embedding_bag

from crowdcore.data import CrowdData
from crowdcore.engine import votes
from crowdcore.engine.labels import Labels
from tests.crowds import golden_crowd

CPU = torch.device("cpu")


def test_tied_classes_win_in_equal_parts() -> None:
    data = CrowdData.from_triples([("i", "v", "a"), ("i", "w", "b"), ("j", "v", "c")])
    labels = Labels(data, CPU)
    won = votes.winners(labels, labels.votes)
    assert won.tolist() == [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]


def test_float_noise_does_not_break_a_tie() -> None:
    labels = Labels(golden_crowd(), CPU)
    noisy = torch.full((labels.n_items, 3), 0.3, dtype=torch.float64)
    noisy[:, 1] += 1e-16
    noisy[:, 2] = 0.1 + 0.1 + 0.1
    torch.testing.assert_close(votes.winners(labels, noisy), torch.full_like(noisy, 1 / 3))


def test_items_without_weight_keep_their_plain_shares() -> None:
    labels = Labels(golden_crowd(), CPU)
    nothing = torch.zeros(labels.n_workers, dtype=torch.float64)
    shares = votes.weighted_shares(labels, labels.weighted_votes(nothing))
    torch.testing.assert_close(shares, labels.shares())


def test_ballots_add_many_weights_at_once() -> None:
    labels = Labels(golden_crowd(), CPU)
    weights = torch.rand(labels.n_workers, 4, dtype=torch.float64)
    workers, starts = votes.ballots(labels)
    together = embedding_bag(workers, weights, starts, mode="sum")
    for column in range(4):
        alone = labels.weighted_votes(weights[:, column])
        torch.testing.assert_close(together[:, column].reshape(alone.shape), alone)


def test_agreement_is_the_share_of_right_labels() -> None:
    data = golden_crowd()
    assert data.gold is not None
    labels = Labels(data, CPU)
    truth = torch.nn.functional.one_hot(torch.tensor(data.gold).long(), 3).double()
    right = data.label == data.gold[data.item]
    expected = np.bincount(data.worker, right) / data.labels_per_worker
    np.testing.assert_allclose(votes.agreement(labels, truth).numpy(), expected)
