"""What single weighting methods promise beyond what all methods promise."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from scipy.stats import chi2

from crowdcore.data import CrowdData
from crowdcore.methods.weighting import dewsmv
from crowdcore.registry import fit
from tests.crowds import easy_crowd, golden_crowd


def test_catd_weight_is_a_chi_square_quantile_over_errors() -> None:
    data = golden_crowd()
    result = fit(data, "catd", max_iter=1, cap=1000)
    majority = (data.votes == data.votes.max(1, keepdims=True)).astype(float)
    majority /= majority.sum(1, keepdims=True)
    hits = np.bincount(data.worker, majority[data.item, data.label])
    errors = np.maximum(data.labels_per_worker - hits, 0.5)
    expected = chi2.ppf(0.025, data.labels_per_worker) / errors
    np.testing.assert_allclose(result.worker_scores["weight"], expected)


def test_no_catd_weight_exceeds_the_cap() -> None:
    data = easy_crowd()
    weight = fit(data, "catd", cap=1.5).worker_scores["weight"]
    assert weight.max() <= 1.5 * np.median(weight[data.worker]) + 1e-9
    assert fit(data, "catd", cap=1000).worker_scores["weight"].max() > 2 * weight.max()


def test_the_worst_worker_of_pm_weighs_nothing() -> None:
    weight = fit(easy_crowd(), "pm").worker_scores["weight"]
    assert weight.min() == pytest.approx(0, abs=1e-6)
    assert weight.max() > 1


def test_a_zbs_skill_is_the_agreement_with_the_final_vote() -> None:
    data = easy_crowd()
    result = fit(data, "zbs")
    right = data.label == result.truth[data.item]
    expected = np.bincount(data.worker, right) / data.labels_per_worker
    np.testing.assert_allclose(result.worker_scores["skill"], expected, atol=1e-4)


def test_doubt_falls_in_every_generation_and_does_not_depend_on_the_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = fit(golden_crowd(), "dewsmv", generations=15)
    doubts = [float(row["doubt"]) for row in whole.history]
    assert all(later <= earlier for earlier, later in itertools.pairwise(doubts))
    assert doubts[-1] < doubts[0]
    monkeypatch.setattr(dewsmv, "VOTES_PER_CHUNK", 1000)
    parts = fit(golden_crowd(), "dewsmv", generations=15)
    np.testing.assert_allclose(parts.posterior, whole.posterior, atol=1e-5)


def test_a_worker_without_labels_is_neither_trusted_nor_distrusted() -> None:
    data = golden_crowd()
    more = dataclasses.replace(data, workers=(*data.workers, "nobody"))
    assert fit(more, "iwmv").worker_scores["weight"][-1] == 0
    assert fit(more, "zbs").worker_scores["skill"][-1] == pytest.approx(1 / 3)


def test_no_cluster_of_gtic_is_named_after_a_class_that_nobody_gave() -> None:
    data = golden_crowd(2)
    more = dataclasses.replace(data, classes=(*data.classes, "never"))
    result = fit(more, "gtic")
    assert (result.posterior[:, 2] == 0).all()
    np.testing.assert_array_equal(result.truth, fit(data, "gtic").truth)


def test_an_item_without_labels_does_not_move_the_clusters_of_gtic() -> None:
    given = ("nnymm", "nnyym", "nmmmy", "nnnym", "nyyym")
    triples = [(i, w, given[i % 5][w]) for i in range(30) for w in range(5)]
    data = CrowdData.from_triples(triples)
    more = dataclasses.replace(data, items=(*data.items, "bare"))
    for smoothing in (0.0, 5.0):
        plain = fit(data, "gtic", smoothing=smoothing).posterior
        beside = fit(more, "gtic", smoothing=smoothing).posterior[:-1]
        np.testing.assert_allclose(beside, plain, atol=1e-12)
