"""Crowds whose items have features, for methods that learn from them."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np

from crowdcore.simulation.classes import Simulation, simulate


@cache
def featured_crowd() -> Simulation:
    """Twelve workers, some of them spammers, and features that tell the classes apart; no gold."""
    crowd = simulate(
        items=300, workers=12, classes=3, labels_per_item=3, spammers=0.3, activity=0.0, seed=3
    )
    features = np.random.default_rng(3).normal(size=(300, 16)).astype(np.float32)
    features[np.arange(300), 5 * crowd.truth] += 4
    data = dataclasses.replace(crowd.data, features=features, feature_names=(), gold=None)
    return dataclasses.replace(crowd, data=data)


def labelled_part(crowd: Simulation, n_items: int) -> Simulation:
    """The same crowd, with the labels of the first items only; the others keep their features."""
    data = crowd.data
    return dataclasses.replace(crowd, data=data.only(np.asarray(data.item) < n_items))
