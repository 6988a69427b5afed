from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from crowdcore.artefacts.spectral import SpectralSpace
from crowdcore.data import DataError
from crowdcore.engine.learning.classifier import Classifier
from crowdcore.registry import fit
from crowdcore.results.result import Result
from tests.crowds import featured_crowd

QUICK: dict[str, Any] = {"members": 2, "epochs": 12, "rate": 0.01}


@pytest.fixture(scope="module")
def result() -> Result:
    return fit(featured_crowd(), "mmlc_owf", **QUICK)


def space_of(result: Result) -> SpectralSpace:
    space = result.artefact(SpectralSpace)
    assert space is not None
    return space


def test_six_oracles_are_left_behind_and_one_gives_the_truths(result: Result) -> None:
    space = space_of(result)
    assert list(space.centres) == ["kde", "kde_w", "mean", "mean_w", "median", "median_w"]
    assert space.origin == "features"
    assert space.workers.shape[0] == result.data.n_workers
    assert space.oracle.shape == (6, space.workers.shape[1])
    np.testing.assert_array_equal(space.truth[0], result.truth)
    np.testing.assert_allclose(space.confidence[0], result.confidence, atol=1e-5)
    assert space.bound is None


def test_another_centre_gives_the_truths_that_it_promised(result: Result) -> None:
    other = fit(featured_crowd(), "mmlc_owf", centre="mean_w", **QUICK)
    assert space_of(other).used == "mean_w"
    np.testing.assert_array_equal(other.truth, space_of(result).truth[3])


def test_the_classifier_answers_as_the_oracle(result: Result) -> None:
    classifier = Classifier.from_result(result)
    assert classifier is not None
    assert result.data.features is not None
    found = classifier.predict(result.data.features)
    np.testing.assert_allclose(found, result.posterior, atol=1e-5)


def test_likeness_is_between_0_and_1(result: Result) -> None:
    likeness = result.worker_scores["likeness"]
    assert ((likeness >= 0) & (likeness <= 1 + 1e-6)).all()
    assert np.ptp(likeness) > 0


def test_gold_changes_no_truth_and_the_bound_is_called_one() -> None:
    gold = featured_crowd()
    bare = fit(replace(gold, gold=None), "mmlc_owf", **QUICK)
    with_bound = fit(gold, "mmlc_owf", bound=True, **QUICK)
    np.testing.assert_array_equal(bare.posterior, with_bound.posterior)
    space, score = space_of(with_bound), with_bound.score()
    assert space.bound is not None
    assert space.bound_accuracy is not None
    assert score is not None
    assert space.bound_accuracy >= score.accuracy - 0.01
    assert any("upper bound" in note for note in with_bound.provenance.notes)


def test_a_bound_without_gold_is_a_sentence() -> None:
    with pytest.raises(DataError, match="no gold"):
        fit(replace(featured_crowd(), gold=None), "mmlc_owf", bound=True, **QUICK)


def test_the_bandwidth_can_be_chosen_on_labels_that_were_held_out() -> None:
    result = fit(featured_crowd(), "mmlc_owf", bandwidth="held_out", **QUICK)
    assert any("held-out labels best" in note for note in result.provenance.notes)


def test_the_authors_weighting_changes_weighted_centres_only(result: Result) -> None:
    other = space_of(fit(featured_crowd(), "mmlc_owf", weighting="code", **QUICK)).oracle
    mine = space_of(result).oracle
    np.testing.assert_allclose(other[::2], mine[::2], atol=1e-6)
    # A mean of shrunken places is the weighted mean once it is stretched again.
    np.testing.assert_allclose(other[3], mine[3], atol=1e-5)
    assert not np.allclose(other[5], mine[5], atol=1e-4)


@pytest.mark.parametrize("architecture", ["labelme", "text", "music"])
def test_the_papers_sizes_can_be_trained(architecture: str) -> None:
    settings: dict[str, Any] = {"members": 1, "epochs": 2, "held_out": 0.0}
    result = fit(featured_crowd(), "mmlc_owf", architecture=architecture, **settings)
    assert np.isfinite(result.posterior).all()


def test_without_features_it_says_so_and_leaves_no_classifier() -> None:
    result = fit(replace(featured_crowd(), features=None), "mmlc_owf", **QUICK)
    assert Classifier.from_result(result) is None
    assert space_of(result).origin == "labels"
    assert any("no item features" in note for note in result.provenance.notes)
    np.testing.assert_allclose(result.posterior[-10:], 1 / 3)  # of items without labels
    np.testing.assert_allclose(space_of(result).confidence[:, -10:], 1 / 3, atol=1e-6)
