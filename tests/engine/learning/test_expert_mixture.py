from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from crowdcore.config import ExpertsConfig
from crowdcore.data import CrowdData
from crowdcore.engine.labels import Labels
from crowdcore.engine.learning.expert_mixture import (
    Architecture,
    Gates,
    TrainedExperts,
    architecture,
    gold_bound,
    train_experts,
)
from crowdcore.run import Run
from tests.crowds import featured_crowd


def settings(**given: Any) -> ExpertsConfig:
    return ExpertsConfig(**given)


def trained(data: CrowdData, **given: Any) -> tuple[TrainedExperts, Labels, Run]:
    torch.manual_seed(0)
    labels, run = Labels(data, torch.device("cpu")), Run(device="cpu")
    cfg = settings(**{"members": 2, "epochs": 6, "rate": 0.01, **given})
    return train_experts(labels, cfg, run), labels, run


def test_sizes_suit_the_number_of_workers_or_are_the_papers() -> None:
    assert architecture("auto", 2).experts == 2
    assert architecture("auto", 59).experts == 4
    assert architecture("auto", 1_000_000).experts == 16
    assert architecture("labelme", 59).hidden == (500, 128, 32)
    assert architecture("music", 44).rectified


@pytest.mark.parametrize("rectified", [False, True])
def test_workers_begin_alike_and_weights_are_not_negative(rectified: bool) -> None:
    shape = Architecture(experts=3, hidden=(4,), tower=(), gate=5, rectified=rectified)
    gates = Gates(7, 2, shape)(torch.arange(7))
    torch.testing.assert_close(gates, gates[:1].expand(7, -1))
    assert (gates >= 0).all()
    if not rectified:
        torch.testing.assert_close(gates.reshape(7, 2, 3).sum(2), torch.ones(7, 2))


def test_predictions_are_distributions_whatever_the_parts() -> None:
    experts, labels, _ = trained(featured_crowd())
    item = torch.arange(labels.n_items)
    whole = experts.predict(item, experts.gates)
    assert whole.shape == (labels.n_items, labels.n_workers, 3)
    torch.testing.assert_close(whole.exp().sum(2), torch.ones(whole.shape[:2]))
    torch.testing.assert_close(experts.predict(item[5:9], experts.gates), whole[5:9])


def test_a_worker_who_is_always_wrong_is_predicted_to_be() -> None:
    data = featured_crowd()
    wrong = np.where(data.worker == 0, (data.gold[data.item] + 1) % 3, data.label)  # type: ignore[index]
    experts, labels, _ = trained(replace(data, label=wrong), epochs=20, held_out=0.0)
    predicted = experts.predict(torch.arange(labels.n_items), experts.gates).exp()
    truth = torch.tensor(data.gold).long().reshape(-1, 1, 1).expand(-1, labels.n_workers, 1)
    right = predicted.gather(2, truth).mean((0, 2))
    assert right[1:].min() > right[0] + 0.1


def test_held_out_labels_are_reported_with_the_experts_of_that_moment() -> None:
    n_held_out: list[int] = []
    labels, run = Labels(featured_crowd(), torch.device("cpu")), Run(device="cpu")
    cfg = settings(members=1, epochs=3)

    def stopped(experts: TrainedExperts, item: torch.Tensor, given: torch.Tensor) -> None:
        assert experts.gates.shape[0] == labels.n_workers
        assert len(item) == len(given)
        n_held_out.append(len(item))

    train_experts(labels, cfg, run, stopped)
    assert n_held_out == [round(0.2 * labels.n_labels)]


def test_features_made_of_labels_do_not_tell_those_that_are_held_out() -> None:
    data = replace(featured_crowd(), features=None)
    watched, *_ = trained(data, refit=False)
    final, *_ = trained(data)
    assert watched.items.x.shape == final.items.x.shape
    assert not torch.allclose(watched.items.x, final.items.x)


def test_a_gate_fitted_to_gold_is_at_least_as_right_as_where_it_began() -> None:
    experts, labels, run = trained(featured_crowd())
    start = experts.gates.mean(0)
    item, answer = labels.gold
    predicted = experts.predict(item, start.unsqueeze(0)).squeeze(1).argmax(1)
    accuracy_before = float((predicted == answer).double().mean())
    weights = [weight.clone() for weight in experts.net.parameters()]
    gate, accuracy = gold_bound(experts, labels, start, settings(members=2), run)
    assert accuracy >= accuracy_before
    torch.testing.assert_close(gate.reshape(2, -1).sum(1), torch.ones(2))
    for before, after in zip(weights, experts.net.parameters(), strict=True):
        torch.testing.assert_close(before, after)
