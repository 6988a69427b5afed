"""The pool with learners from features: heard if they foretell labels, silent otherwise."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import numpy as np
import pytest

from crowdcore.artefacts.candidates import Candidates
from crowdcore.artefacts.feature_voice import FeatureVoice
from crowdcore.confidence.accuracy import expected_accuracy
from crowdcore.data import CrowdData
from crowdcore.engine.labels import Labels
from crowdcore.method import Method
from crowdcore.methods.pool.auto import _features
from crowdcore.methods.pool.auto._pool import fit_pool
from crowdcore.registry import fit
from crowdcore.results.result import Result
from crowdcore.run import Cancelled, Run
from tests.featured import featured_crowd, labelled_part
from tests.left_behind import left_behind


@pytest.fixture(autouse=True)
def quick_learners(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_features, "LEARNERS", ("max_mig",))


@cache
def result_of(**settings: Any) -> Result:
    return fit(featured_crowd().data, "auto", **settings)


def noise_features() -> CrowdData:
    data = featured_crowd().data
    features = np.random.default_rng(8).normal(size=(data.n_items, 16)).astype(np.float32)
    return dataclasses.replace(data, features=features)


def test_features_that_tell_the_classes_apart_get_a_voice_and_truths_get_better() -> None:
    crowd = featured_crowd()
    with_features, without = result_of(choose="ask"), result_of(feature_seconds=0)
    accuracy = (with_features.truth == crowd.truth).mean()
    assert accuracy > (without.truth == crowd.truth).mean() + 0.03
    voice = left_behind(with_features, FeatureVoice)
    assert voice.is_heard
    assert voice.gain > 0
    assert voice.changed is not None
    assert voice.changed.sum() == (with_features.truth != without.truth).sum() > 0
    assert any(note.startswith("Features have a voice") for note in with_features.provenance.notes)
    candidates = left_behind(with_features, Candidates)
    assert candidates.titles[:2] == ["the pool with features", "the pool without features"]
    assert np.array_equal(candidates.truths[1], without.truth)
    assert "max_mig" in candidates.names


def test_features_that_tell_nothing_change_nothing() -> None:
    data = noise_features()
    with_features, without = fit(data, "auto"), fit(data, "auto", feature_seconds=0)
    assert np.array_equal(with_features.posterior, without.posterior)
    assert not left_behind(with_features, FeatureVoice).is_heard
    assert any("Features told nothing" in note for note in with_features.provenance.notes)
    assert without.artefact(FeatureVoice) is None


def test_items_without_labels_or_features_stay_as_labels_have_them() -> None:
    data = labelled_part(featured_crowd(), 250).data
    assert data.features is not None
    features = data.features.copy()
    features[:20] = np.nan
    data = dataclasses.replace(data, features=features)
    own = fit(data, "auto", calibrate="off")
    pool = fit(data, "auto", calibrate="off", feature_seconds=0)
    assert left_behind(own, FeatureVoice).is_heard
    rows = [*range(20), *range(250, 300)]
    assert np.allclose(own.posterior[rows], pool.posterior[rows])
    assert not np.allclose(own.posterior[20:250], pool.posterior[20:250])


def test_mapped_probabilities_keep_truths_and_features_never_narrow_the_interval() -> None:
    own, mapped = result_of(calibrate="off"), result_of(choose="ask")
    assert np.array_equal(own.truth, mapped.truth)
    with_features = expected_accuracy(mapped)
    without = expected_accuracy(result_of(feature_seconds=0))
    assert with_features is not None
    assert without is not None
    assert with_features.low <= without.low
    assert with_features.high >= without.high
    assert with_features.estimate > without.estimate


def test_a_learner_never_sees_a_label_of_an_item_that_it_judges(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = featured_crowd().data
    seen: list[tuple[set[int], Result]] = []
    plain = Method.fit

    def spy(self: Method, data: CrowdData, **options: Any) -> Result:
        result = plain(self, data, **options)
        if self.id == "max_mig":
            seen.append((set(data.item.tolist()), result))
        return result

    monkeypatch.setattr(Method, "fit", spy)
    labels = Labels(data, Run(device="cpu").device)
    ((_, _, table),), _ = _features._opinions(labels, Run(device="cpu"), stop_at=np.inf)
    assert len(seen) == _features.N_FOLDS
    for item in range(data.n_items):
        blind = [result for items, result in seen if item not in items]
        assert len(blind) == 1
        assert np.array_equal(table[item], blind[0].posterior[item])


def test_learners_without_time_are_named_and_a_stop_is_a_stop() -> None:
    data = featured_crowd().data
    run = Run(device="cpu")
    labels = Labels(data, run.device)

    def pool_of(fewer: Labels, part: Run) -> Any:
        return fit_pool(fewer, part, max_seconds=60)

    pool = pool_of(labels, run)
    heard = _features.listen(labels, pool, run, pool_of, seconds=0)
    assert heard.posterior is None
    assert len(heard.notes) == 1
    assert heard.notes[0].startswith("Time ran out before max_mig had learnt from the features")
    stopped = Run(device="cpu")
    stopped.cancel()
    with pytest.raises(Cancelled):
        _features._opinions(labels, stopped, stop_at=np.inf)


def test_too_few_labels_to_hold_out_are_said() -> None:
    data = featured_crowd().data
    single = data.only(np.unique(data.item, return_index=True)[1])
    notes = fit(single, "auto").provenance.notes
    assert any(note.startswith("Features were left out: fewer than 50 items") for note in notes)
