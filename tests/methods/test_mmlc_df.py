from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from crowdcore.artefacts.completion import Completion
from crowdcore.data import CrowdData
from crowdcore.registry import fit, get_method
from tests.crowds import easy_crowd, golden_crowd
from tests.test_completers import with_features


def fill(data: CrowdData, **settings: Any) -> Completion:
    method = get_method("mmlc_df", "complete")
    return method.complete(data, **{**method.quick, **settings})


def test_everything_is_filled_and_what_was_observed_is_kept() -> None:
    data = with_features(golden_crowd())
    done = fill(data)
    assert done.density[1] == 1
    assert done.n_filled == done.n_cells - done.n_observed
    assert (done.probability[done.label >= 0] >= 1 / data.n_classes - 1e-3).all()


def test_the_threshold_leaves_workers_with_few_labels_as_they_are() -> None:
    data = with_features(golden_crowd())
    number = data.labels_per_worker
    middle = int(np.median(number))
    everyone, some = fill(data), fill(data, threshold=middle)
    assert 0 < (number > middle).sum() < data.n_workers
    assert (some.label[:, number <= middle] == -1).all()
    kept = number > middle
    np.testing.assert_array_equal(some.label[:, kept], everyone.label[:, kept])
    np.testing.assert_array_equal(some.probability[:, kept], everyone.probability[:, kept])
    assert f"have no more than {middle} labels" in some.facts["notes"][0]
    nobody = fill(data, threshold=int(number.max()))
    assert nobody.n_filled == 0


def test_items_without_features_are_told_and_not_filled() -> None:
    data = with_features(golden_crowd())
    assert data.features is not None
    features = data.features.copy()
    features[[2, 5]] = np.nan
    done = fill(dataclasses.replace(data, features=features))
    assert (done.label[[2, 5]] == -1).all()
    assert done.n_filled > 0
    assert "Not completed: 2 items" in " ".join(done.facts["notes"])


def test_items_without_labels_are_filled_by_their_features_alone() -> None:
    data = with_features(easy_crowd())
    less = data.only(data.item % 4 > 0)
    gone = np.arange(data.n_items) % 4 == 0
    assert less.gold is not None
    done = fill(less)
    assert (done.label[gone] >= 0).all()
    result = fit(less, "mv", complete="mmlc_df", complete_params=done.facts["params"])
    assert (result.truth == less.gold)[gone].mean() > 0.7  # chance has a third
    bare = fill(dataclasses.replace(less, features=None))
    assert (bare.label[gone] == -1).all()


def test_filling_is_done_a_few_items_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    data = with_features(golden_crowd())
    whole = fill(data)
    monkeypatch.setattr("crowdcore.methods.completion.mmlc_df.VALUES_PER_CHUNK", 1000)
    parts = fill(data)
    np.testing.assert_array_equal(parts.label, whole.label)
