"""What features bring to the default, as the benchmark tells it."""

from __future__ import annotations

import pytest

from crowdcore.bench import feature_gains
from crowdcore.bench.datasets import DataSet
from crowdcore.cli.bench.confidence import _features_table
from crowdcore.methods.pool.auto import _features
from tests.featured import featured_crowd


def test_sets_with_features_are_fitted_with_and_without_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_features, "LEARNERS", ("max_mig",))
    crowd = featured_crowd()
    made = DataSet(name="made", data=crowd.data, truth=crowd.truth, unlabelled=0)
    gains = feature_gains.measure([made], n_seeds=1)
    assert [gain.is_heard for gain in gains] == [True]
    assert gains[0].with_features > gains[0].without
    assert gains[0].nats > 0
    assert "1 of 1" in _features_table(gains)


def test_the_sample_and_crowds_with_noise_are_measured_beside_given_sets() -> None:
    crowd = featured_crowd()
    made = DataSet(name="made", data=crowd.data, truth=crowd.truth, unlabelled=0)
    sets = feature_gains.featured_sets([made, made.without_features()])
    assert [each.name for each in sets][:2] == ["made", "digits (sample)"]
    assert len(sets) == 4
    assert all(each.data.features is not None and each.data.gold is None for each in sets)
