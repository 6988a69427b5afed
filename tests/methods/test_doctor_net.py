"""Heads of workers: alike at first, averaged by shares, and silent about their own labels."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from crowdcore.config import ClassifierConfig
from crowdcore.engine.labels import Labels
from crowdcore.engine.learning import head_shares, networks
from crowdcore.engine.learning.item_classifier import ItemClassifier
from crowdcore.methods.classifiers._doctor_net import train_heads, train_shares
from crowdcore.run import Run
from tests.featured import featured_crowd

CPU = torch.device("cpu")
SETTINGS: dict[str, Any] = {"epochs": 15, "rate": 0.01, "dropout": 0.0, "hidden": 16}
QUICK = ClassifierConfig(held_out=0.0, **SETTINGS)


def heads_of(net: networks.Net) -> networks.Heads:
    assert isinstance(net.head, networks.Heads)
    return net.head


def test_joint_answer_is_the_mean_of_the_heads_by_their_shares() -> None:
    torch.manual_seed(0)
    net = networks.build(
        networks.describe((4,), 3, hidden=(5,), heads=networks.HEADS_PER_CHUNK + 3)
    )
    heads, x = heads_of(net), torch.randn(6, 4)
    with torch.no_grad():
        for weights in (heads.weight, heads.bias, heads.share):
            weights.normal_()
        each = torch.cat(list(heads.log_probabilities(net.trunk(x)))).exp()
        mean = (heads.share.softmax(0).reshape(-1, 1, 1) * each).sum(0)
        torch.testing.assert_close(net(x).softmax(1), mean)


def test_one_head_says_the_same_alone_and_among_all() -> None:
    net = networks.build(networks.describe((4,), 3, heads=7))
    heads, hidden = heads_of(net), torch.randn(5, 128)
    torch.nn.init.normal_(heads.weight)
    one_head = heads.logits(hidden, torch.full((5,), 2)).log_softmax(1)
    torch.testing.assert_close(
        one_head, next(heads.log_probabilities(hidden))[2], atol=1e-4, rtol=1e-4
    )


def test_heads_that_learn_nothing_of_their_own_stay_alike() -> None:
    heads = heads_of(networks.build(networks.describe((4,), 3, heads=3)))
    (all_three,) = heads.log_probabilities(torch.randn(2, 128))
    assert torch.equal(all_three[0], all_three[2])


def classifier_of(seed: int = 0) -> ItemClassifier:
    torch.manual_seed(seed)
    labels = Labels(featured_crowd().data, CPU)
    return ItemClassifier.from_labels(labels, QUICK, Run(seed=seed), heads=labels.n_workers)


def test_a_head_that_is_no_help_to_others_loses_its_share() -> None:
    classifier = classifier_of()
    net, split = train_heads(classifier)
    before = heads_of(train_shares(classifier, net, split)).share.detach().softmax(0)
    with torch.no_grad():
        heads_of(net).weight[4] *= -1
        heads_of(net).weight[4] -= 2 * heads_of(net).common.weight.T  # it says the opposite
    after = heads_of(train_shares(classifier, net, split)).share.detach().softmax(0)
    assert after[4] < 0.7 * before[4]


def test_nothing_but_the_shares_is_changed() -> None:
    classifier = classifier_of()
    net, split = train_heads(classifier)
    assert not heads_of(net).share.any()
    before = {name: table.clone() for name, table in net.state_dict().items()}
    after = train_shares(classifier, net, split).state_dict()
    changed = [name for name, table in after.items() if not torch.equal(table, before[name])]
    assert changed == ["head.share"]


def test_shares_are_the_same_whether_answers_are_kept_or_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shares = []
    for max_kept in (head_shares.MAX_KEPT_NUMBERS, 0):
        monkeypatch.setattr(head_shares, "MAX_KEPT_NUMBERS", max_kept)
        classifier = classifier_of()
        shares.append(heads_of(train_shares(classifier, *train_heads(classifier))).share.detach())
    assert shares[0].any()
    torch.testing.assert_close(*shares)
