"""Methods that train a classifier of items: what it learns, what it leaves, what it never sees."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import numpy as np
import pytest

from crowdcore.artefacts.feature_posterior import FeaturePosterior
from crowdcore.config import ClassifierConfig
from crowdcore.data import UNKNOWN, CrowdData
from crowdcore.engine.learning.classifier import Classifier
from crowdcore.registry import fit, get_method, methods
from crowdcore.results.result import Result
from tests.crowds import golden_crowd
from tests.featured import featured_crowd, labelled_part

OURS = ["crowd_layer", "dl_dn", "dl_ds", "dl_em", "dl_mv", "dl_true", "dl_wdn"]
BLIND = [name for name in OURS if name != "dl_true"]
SMALL = {"hidden": 8, "epochs": 20, "rate": 0.01}
"""A net too small to learn errors by heart."""

LABELLED = 200
"""Items with labels; the other hundred only have features."""


def data_for(name: str) -> CrowdData:
    crowd = labelled_part(featured_crowd(), LABELLED)
    gold = np.where(np.arange(crowd.data.n_items) < LABELLED, crowd.truth, UNKNOWN)
    return dataclasses.replace(crowd.data, gold=gold) if name == "dl_true" else crowd.data


@cache
def result_of(name: str) -> Result:
    return fit(data_for(name), name, **{**get_method(name).quick, **SMALL})


def right_beyond_the_labels(result: Result) -> float:
    return float((result.truth == featured_crowd().truth)[LABELLED:].mean())


@pytest.mark.parametrize("name", OURS)
def test_items_without_labels_are_told_by_their_features(name: str) -> None:
    assert right_beyond_the_labels(result_of(name)) > 0.7


@pytest.mark.parametrize("name", OURS)
def test_the_classifier_that_is_left_says_what_the_method_said(name: str) -> None:
    result = result_of(name)
    classifier = Classifier.from_result(result)
    assert classifier is not None
    assert result.data.features is not None
    told = classifier.predict(result.data.features)
    alone = result.artefact(FeaturePosterior)
    said = result.posterior if alone is None else alone.probabilities
    np.testing.assert_allclose(told[LABELLED:], said[LABELLED:], atol=1e-5)
    assert classifier.network.description["method"] == name


@pytest.mark.parametrize("name", BLIND)
def test_gold_changes_nothing(name: str) -> None:
    quick = {**get_method(name).quick, **SMALL}
    wrong = np.zeros(featured_crowd().data.n_items, np.int32)
    told = fit(dataclasses.replace(data_for(name), gold=wrong), name, **quick)
    np.testing.assert_array_equal(told.posterior, result_of(name).posterior)


@pytest.mark.parametrize("name", OURS)
def test_without_features_a_note_says_so_and_no_classifier_is_left(name: str) -> None:
    data = golden_crowd()
    result = fit(data, name, **get_method(name).quick)
    assert Classifier.from_result(result) is None
    assert any("no item features" in note for note in result.provenance.notes)


def test_the_ceiling_does_not_listen_to_workers_and_says_what_it_is() -> None:
    data = data_for("dl_true")
    moved = dataclasses.replace(data, label=(data.label + 1) % data.n_classes)
    quick = {**get_method("dl_true").quick, **SMALL}
    np.testing.assert_array_equal(
        fit(moved, "dl_true", **quick).posterior, result_of("dl_true").posterior
    )
    assert "upper bound" in get_method("dl_true").title
    assert any("upper bound" in note for note in result_of("dl_true").provenance.notes)


def test_em_learns_who_is_random_and_joins_labels_with_features() -> None:
    result = result_of("dl_em")
    assert result.confusion is not None
    diagonal = np.einsum("wkk->wk", result.confusion).mean(1)
    random = np.array(featured_crowd().character) == "random"
    assert diagonal[~random].min() > diagonal[random].max()
    alone = result.artefact(FeaturePosterior)
    assert alone is not None
    labelled = slice(0, LABELLED)
    assert not np.allclose(alone.probabilities[labelled], result.posterior[labelled], atol=1e-3)


def test_em_begins_from_an_earlier_result() -> None:
    data, quick = data_for("dl_em"), {**get_method("dl_em").quick, "epochs": 2}
    earlier = fit(data, "ds").warm_start
    warm, cold = fit(data, "dl_em", warm_start=earlier, **quick), fit(data, "dl_em", **quick)
    assert not any("was not used" in note for note in warm.provenance.notes)
    assert not np.array_equal(warm.posterior, cold.posterior)


def test_ties_are_counted_where_votes_are_learnt() -> None:
    (note,) = [note for note in result_of("dl_mv").provenance.notes if "ties" in note]
    votes = np.sort(data_for("dl_mv").votes, axis=1)[:LABELLED]
    assert f"{(votes[:, -1] == votes[:, -2]).sum()} of them were ties" in note


def test_held_out_items_choose_when_to_stop() -> None:
    settings: dict[str, Any] = {
        "epochs": 60,
        "patience": 3,
        "rate": 0.02,
        "dropout": 0.0,
        "hidden": 16,
    }
    result = fit(data_for("crowd_layer"), "crowd_layer", **settings)
    curve = [float(row["held_out"]) for row in result.history if "held_out" in row]
    assert len(curve) == int(np.argmin(curve)) + 1 + 3
    assert result.provenance.converged


@pytest.mark.parametrize("name", OURS)
def test_pictures_are_classified_too(name: str) -> None:
    data = data_for(name)
    assert data.features is not None
    pictures = data.features.reshape(-1, 1, 4, 4)
    seen = dataclasses.replace(data, features=pictures, feature_names=())
    quick = {**get_method(name).quick, "epochs": 15, "rate": 0.01, "hidden": 16}
    result = fit(seen, name, **quick)
    assert right_beyond_the_labels(result) > 0.5
    classifier = Classifier.from_result(result)
    assert classifier is not None
    assert classifier.predict(pictures[:2]).shape == (2, 3)


def test_all_share_one_set_of_settings() -> None:
    assert all(issubclass(methods()[name].config, ClassifierConfig) for name in OURS)
