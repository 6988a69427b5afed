"""What a method knows of items besides labels, and what it says where it had to make do."""

from __future__ import annotations

import dataclasses

import numpy as np
import torch

from crowdcore.engine.labels import Labels
from crowdcore.engine.learning.item_features import item_features
from tests.crowds import easy_crowd, golden_crowd

CPU = torch.device("cpu")


def test_features_are_standardised_over_labelled_items_only() -> None:
    data = golden_crowd()
    rng = np.random.default_rng(0)
    features = rng.normal(5, 3, (data.n_items, 4)).astype(np.float32)
    features[:, 3] = 7.0
    names = (*data.items, "extra")
    wider_features = np.vstack([features, [[1e6] * 4]])
    gold = None if data.gold is None else np.append(data.gold, -1)
    wider = dataclasses.replace(data, items=names, features=wider_features, gold=gold)
    items = item_features(Labels(wider, CPU), 0)
    labelled = items.x.numpy()[:-1][data.labels_per_item > 0]
    np.testing.assert_allclose(labelled[:, :3].mean(0), 0, atol=1e-4)
    np.testing.assert_allclose(labelled[:, :3].std(0), 1, atol=1e-4)
    np.testing.assert_array_equal(labelled[:, 3], 0)
    assert items.origin == "features"
    assert items.notes == ()


def test_items_without_features_count_as_average_and_are_counted() -> None:
    data = golden_crowd()
    features = np.random.default_rng(0).normal(size=(data.n_items, 3)).astype(np.float32)
    features[:2] = np.nan
    items = item_features(Labels(dataclasses.replace(data, features=features), CPU), 0)
    np.testing.assert_array_equal(items.x[:2].numpy(), 0)
    assert "2 items" in items.notes[0]


def test_labels_alone_place_items_of_one_class_together() -> None:
    data = easy_crowd()
    items = item_features(Labels(data, CPU), 0)
    assert data.gold is not None
    assert items.origin == "labels"
    assert "no item features" in items.notes[0]
    x = items.x.numpy()
    centres = np.stack([x[data.gold == k].mean(0) for k in range(data.n_classes)])
    nearest = ((x[:, None] - centres) ** 2).sum(2).argmin(1)
    assert (nearest == data.gold).mean() > 0.9


def test_pictures_are_standardised_by_channel() -> None:
    data = easy_crowd()
    pictures = np.random.default_rng(0).random((data.n_items, 2, 5, 5)).astype(np.float32)
    pictures[:, 1] += 10
    items = item_features(Labels(dataclasses.replace(data, features=pictures), CPU), 0)
    assert items.shape == (2, 5, 5)
    np.testing.assert_allclose(items.x.mean((0, 2, 3)).numpy(), 0, atol=1e-3)
