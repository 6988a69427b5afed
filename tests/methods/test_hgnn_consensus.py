"""Answers that methods agree on, and how many of them should teach."""

from __future__ import annotations

import dataclasses

import numpy as np
import torch

from crowdcore.data import CrowdData
from crowdcore.engine.labels import Labels
from crowdcore.methods.graph.hgnn._consensus import MIN_HELD_OUT_LABELS, Consensus, hold_out_labels
from tests.crowds import draw, easy_crowd


def consensus(posterior: list[list[float]], share: float = 0.5) -> Consensus:
    return Consensus(
        posterior=np.array(posterior),
        agreed=np.ones(len(posterior), bool),
        confusion=np.ones((1, 2, 2)) / 2,
        share=share,
    )


def test_every_class_teaches_by_its_surest_items() -> None:
    sure, less, lowest = [0.99, 0.01], [0.9, 0.1], [0.8, 0.2]
    rare, rarer = [0.4, 0.6], [0.45, 0.55]
    items, answers = consensus([less, sure, rare, lowest, rarer, sure]).clearest()
    assert items.tolist() == [1, 2, 5]
    assert answers.tolist() == [0, 1, 0]
    items, _ = consensus([less, sure, rare, lowest, rarer, sure], 0.1).clearest()
    assert items.tolist() == [1, 2]  # never none of a class


def test_items_that_methods_dispute_or_nobody_labelled_do_not_teach() -> None:
    data = easy_crowd()
    labels = Labels(data.only(data.item != 0), torch.device("cpu"))
    agreed = np.ones(data.n_items, bool)
    agreed[1] = False
    by_votes = Consensus.from_posterior(labels, labels.shares(), agreed)
    items, _ = dataclasses.replace(by_votes, share=1.0).clearest()
    assert items.tolist() == list(range(2, data.n_items))


def test_a_network_that_joins_counts_as_much_as_all_others() -> None:
    joined = consensus([[0.9, 0.1]]).joined_by(torch.tensor([[0.1, 0.9]]))
    np.testing.assert_allclose(joined.posterior, [[0.5, 0.5]])
    joined = consensus([[0.9, 0.1]]).joined_by(torch.tensor([[0.9, 0.1]]))
    np.testing.assert_allclose(joined.posterior, [[0.9, 0.1]], atol=1e-6)


def test_at_most_one_label_of_an_item_is_held_out_however_labels_are_ordered() -> None:
    data = easy_crowd()
    held = hold_out_labels(data, np.random.default_rng(0))
    assert len(held) >= MIN_HELD_OUT_LABELS
    assert len(set(data.item[held])) == len(held)
    order = np.random.default_rng(1).permutation(data.n_labels)
    mixed = dataclasses.replace(
        data, item=data.item[order], worker=data.worker[order], label=data.label[order]
    )
    again = order[hold_out_labels(mixed, np.random.default_rng(0))]
    assert sorted(again) == sorted(held)


def test_none_is_held_out_where_few_items_have_enough_labels() -> None:
    data = easy_crowd()
    assert len(hold_out_labels(data.only(data.item < 60), np.random.default_rng(0))) == 0


def crowd_and_beliefs(wrong_from: int) -> tuple[CrowdData, Consensus]:
    """A good crowd, and a consensus that is sure of early items; wrong from some item on."""
    rng = np.random.default_rng(3)
    confusion = np.tile(0.8 * np.eye(2) + 0.1, (20, 1, 1))
    truth = rng.integers(0, 2, 600)
    data = draw(confusion, truth, 5, rng)
    answers = np.where(np.arange(600) < wrong_from, truth, rng.integers(0, 2, 600))
    sure = np.linspace(0.99, 0.6, 600)
    posterior = np.where(np.eye(2, dtype=bool)[answers], sure[:, None], 1 - sure[:, None])
    joined = Consensus(posterior=posterior, agreed=np.ones(600, bool), confusion=confusion)
    return data, joined


def test_held_out_labels_tell_how_many_items_should_teach() -> None:
    data, right = crowd_and_beliefs(600)
    held = hold_out_labels(data, np.random.default_rng(0))
    assert right.best_share(data, held) > 0.85
    data, wrong = crowd_and_beliefs(240)  # the less sure part is drawn at random
    assert 0.25 < wrong.best_share(data, held) < 0.6
