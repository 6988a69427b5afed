"""A classifier and the workers together: with and without a model of difficulty."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from crowdcore import fit
from crowdcore.artefacts.feature_posterior import FeaturePosterior
from crowdcore.bench.difficulty_crowds import gaussian_crowd
from crowdcore.data import UNKNOWN
from crowdcore.engine.learning.classifier import Classifier
from crowdcore.results.result import Result
from tests.crowds import easy_crowd, featured_crowd, golden_crowd

METHODS = ["raykar_em", "adaptive_difficulty_em", "fixed_difficulty_em"]
NETWORK: dict[str, Any] = {
    "classifier": "network",
    "hidden": 8,
    "dropout": 0.0,
    "epochs": 60,
    "rate": 0.02,
}


def classifier_of(result: Result) -> Classifier:
    found = Classifier.from_result(result)
    assert found is not None
    return found


@pytest.mark.parametrize("params", [{}, NETWORK], ids=["logistic", "network"])
@pytest.mark.parametrize("name", METHODS)
def test_the_classifier_is_left_behind_and_judges_items_that_nobody_labelled(
    name: str, params: dict[str, Any]
) -> None:
    data = featured_crowd()
    result = fit(data, name, **params)
    assert data.features is not None
    told = classifier_of(result).predict(data.features)
    np.testing.assert_allclose(result.posterior[150:], told[150:], atol=1e-5)
    alone = result.artefact(FeaturePosterior)
    assert alone is not None
    np.testing.assert_allclose(alone.probabilities, told, atol=1e-5)
    assert np.abs(result.posterior[:150] - told[:150]).max() > 0.1  # labels count as well
    score = result.score()
    assert score is not None
    assert score.accuracy > 0.8


@pytest.mark.parametrize("name", METHODS)
def test_renaming_renames_the_answers_where_items_have_features(name: str) -> None:
    data, cls = featured_crowd(), np.array([2, 0, 1])
    worker = np.random.default_rng(1).permutation(data.n_workers)
    renamed = replace(data, label=cls[data.label], worker=worker[data.worker], gold=None)
    before, after = fit(data, name), fit(renamed, name)
    np.testing.assert_allclose(before.posterior, after.posterior[:, cls], atol=1e-6)


@pytest.mark.parametrize("name", METHODS)
def test_two_classes_have_sensitivity_and_specificity_and_more_have_a_mean(name: str) -> None:
    two, three = fit(featured_crowd(2), name), fit(featured_crowd(3), name)
    assert set(two.worker_scores) == {"sensitivity", "specificity"}
    assert set(three.worker_scores) == {"expertise"}
    assert two.confusion is not None
    if name == "raykar_em":
        np.testing.assert_allclose(two.worker_scores["sensitivity"], two.confusion[:, 1, 1])
        np.testing.assert_allclose(two.worker_scores["specificity"], two.confusion[:, 0, 0])


def test_difficulty_lies_between_0_and_1_and_is_greatest_between_the_classes() -> None:
    data = gaussian_crowd().data
    assert data.features is not None
    away = np.abs(data.features.sum(1))
    for source in ("classifier", "posterior"):
        found = fit(data, "adaptive_difficulty_em", difficulty=source)
        hard = found.item_scores["difficulty"]
        assert hard.min() >= 0
        assert hard.max() <= 1
        assert hard[away < 0.3].mean() > hard[away > 2].mean() + 0.5
    votes = data.votes / 5
    hard = fit(data, "fixed_difficulty_em").item_scores["difficulty"]
    np.testing.assert_allclose(hard, 1 - 4 * (votes[:, 1] - 0.5) ** 2, atol=1e-9)
    assert "difficulty" not in fit(data, "raykar_em").item_scores


def test_a_model_of_difficulty_finds_more_truths_where_labels_depend_on_it() -> None:
    data = gaussian_crowd().data
    scores = {name: fit(data, name).score() for name in METHODS[:2]}
    plain, adaptive = (score.accuracy for score in scores.values() if score is not None)
    assert adaptive > plain + 0.02


def test_estimated_expertise_is_that_on_the_easiest_items() -> None:
    result = fit(gaussian_crowd().data, "adaptive_difficulty_em")
    true = [0.8, 0.6, 0.6, 0.7, 0.6]
    np.testing.assert_allclose(result.worker_scores["sensitivity"], true, atol=0.12)
    assert result.confusion is not None
    assert (result.confusion[:, 1, 1] < result.worker_scores["sensitivity"]).all()


@pytest.mark.parametrize("name", METHODS)
def test_without_features_items_are_known_by_their_labels_and_that_is_said(name: str) -> None:
    result = fit(golden_crowd(), name)
    assert "no item features" in result.provenance.notes[0]
    assert Classifier.from_result(result) is None
    assert result.artefact(FeaturePosterior) is None


def test_the_likelihood_of_the_plain_model_never_falls() -> None:
    result = fit(featured_crowd(), "raykar_em", ridge=1e-6, smoothing=1e-6, max_iter=40, tol=0)
    curve = [float(row["loglik"]) for row in result.history]
    assert min(np.diff(curve)) > -1e-7


@pytest.mark.parametrize("name", METHODS)
def test_gold_that_is_used_teaches_the_classifier_also_of_items_without_labels(name: str) -> None:
    data = featured_crowd()
    gold = np.full(data.n_items, UNKNOWN)
    gold[150:] = 0  # against what the labelled items teach
    told = fit(replace(data, gold=gold), name, use_gold=True)
    assert (told.truth[150:] == 0).all()
    assert data.features is not None
    before = classifier_of(fit(data, name)).predict(data.features)[:, 0].mean()
    assert classifier_of(told).predict(data.features)[:, 0].mean() > before


def test_pictures_are_regressed_on_by_their_pixels() -> None:
    data = featured_crowd()
    assert data.features is not None
    pictures = replace(data, features=data.features.reshape(-1, 1, 2, 2))
    result = fit(pictures, "raykar_em")
    found = classifier_of(result)
    assert found.network.description["net"]["kind"] == "linear"
    assert pictures.features is not None
    told = found.predict(pictures.features)
    np.testing.assert_allclose(result.posterior[150:], told[150:], atol=1e-5)


def test_a_network_stops_early_and_learns_the_workers_from_all_items() -> None:
    result = fit(featured_crowd(), "adaptive_difficulty_em", **NETWORK)
    stages = list(dict.fromkeys(str(row["stage"]) for row in result.history))
    assert stages == ["Training on vote shares", "EM", "EM on all"]
    assert result.score() is not None


def test_items_without_labels_stay_undecided_where_nothing_else_is_known_of_them() -> None:
    data = easy_crowd()
    silent = data.only(data.item > 2)
    posterior = fit(silent, "adaptive_difficulty_em").posterior
    np.testing.assert_allclose(posterior[:3], 1 / 3)
