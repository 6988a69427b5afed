from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from crowdcore.artefacts.completion import Completion
from crowdcore.data import CrowdData
from crowdcore.registry import get_method
from tests.crowds import golden_crowd
from tests.test_completers import with_features


def fill(data: CrowdData, **settings: Any) -> Completion:
    method = get_method("tdg4crowd", "complete")
    return method.complete(data, **{**method.quick, **settings})


def test_labels_are_drawn_and_not_only_the_likeliest() -> None:
    data = with_features(golden_crowd())
    done = fill(data)
    there = done.label >= 0
    assert done.density[1] == 1
    sure = done.probability[there].astype(float)
    # Draws scatter: most cells are no certainties, and some are not the likeliest class.
    assert (sure < 0.99).mean() > 0.3
    assert (sure < 1 / data.n_classes).any()


def test_items_without_features_stay_empty() -> None:
    data = with_features(golden_crowd())
    assert data.features is not None
    features = data.features.copy()
    features[3] = np.nan
    done = fill(dataclasses.replace(data, features=features))
    assert (done.label[3] == -1).all()
    assert "Not completed: 1 item without" in " ".join(done.facts["notes"])


def test_it_can_do_without_describing_first_and_stop_on_what_is_held_out() -> None:
    data = with_features(golden_crowd())
    done = fill(data, pretraining=0, held_out=0.2, epochs=5)
    assert done.n_filled == done.n_cells - done.n_observed
    bare = fill(dataclasses.replace(data, features=None), held_out=0.2, epochs=5)
    assert bare.n_filled == bare.n_cells - bare.n_observed
