"""Bayesian classifier combination: the formulas, the bound, the intervals, the kinds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.special import digamma

from crowdcore.artefacts.communities import Communities
from crowdcore.artefacts.confusion_interval import ConfusionInterval
from crowdcore.data import CrowdData, Floats
from crowdcore.methods.bayesian import ebcc, hbcc
from crowdcore.registry import fit
from crowdcore.simulation.classes import simulate
from crowdcore.workspace.result_files import read_result, write_result
from tests.crowds import draw, easy_crowd, golden_crowd, lopsided_crowd
from tests.left_behind import left_behind


def expected_log(counts: Floats) -> Floats:
    logs: Floats = digamma(counts) - digamma(counts.sum(-1, keepdims=True))
    return logs


def sweeps(data: CrowdData, prior: Floats, steps: int) -> Floats:
    """Mean field, label by label, with this prior of the classes."""
    shape = (data.n_workers, data.n_classes, data.n_classes)
    posterior: Floats = data.votes / data.votes.sum(1, keepdims=True)
    for _ in range(steps):
        counts = np.ones(shape) + 3 * np.eye(data.n_classes)
        for i, w, given in zip(data.item, data.worker, data.label, strict=True):
            counts[w, :, given] += posterior[i]
        scores = np.tile(expected_log(prior + posterior.sum(0)), (data.n_items, 1))
        logs = expected_log(counts)
        for i, w, given in zip(data.item, data.worker, data.label, strict=True):
            scores[i] += logs[w, :, given]
        scores = np.exp(scores - scores.max(1, keepdims=True))
        posterior = scores / scores.sum(1, keepdims=True)
    return posterior


def test_ibcc_equals_the_textbook_loops() -> None:
    data = golden_crowd()
    result = fit(data, "ibcc", max_iter=6, tol=0)
    np.testing.assert_allclose(result.posterior, sweeps(data, np.ones(3), 6), atol=1e-9)


def test_ebcc_with_one_subtype_equals_ibcc_with_the_votes_as_class_prior() -> None:
    data = golden_crowd()
    votes = data.votes / data.votes.sum(1, keepdims=True)
    result = fit(data, "ebcc", subtypes=1, restarts=1, max_iter=60, tol=0)
    np.testing.assert_allclose(result.posterior, sweeps(data, votes.sum(0), 120), atol=1e-5)


@pytest.mark.parametrize("name", ["ibcc", "cbcc"])
def test_the_bound_never_falls(name: str) -> None:
    result = fit(golden_crowd(), name, tol=0, max_iter=80)
    bounds = [float(row["elbo"]) for row in result.history]
    assert bounds[-1] > bounds[0]
    assert min(np.diff(bounds)) > -1e-12


def test_intervals_of_sampled_matrices_hold_the_true_ones() -> None:
    data, truth = lopsided_crowd()
    result = fit(data, "bcc", burn_in=50, samples=300, level=0.9)
    interval = left_behind(result, ConfusionInterval)
    low, high = interval.low, interval.high
    assert result.confusion is not None
    assert ((low <= result.confusion) & (result.confusion <= high)).mean() > 0.98
    assert 0.8 < ((low <= truth) & (truth <= high)).mean() < 0.98
    assert 0.02 < (high - low).mean() < 0.2


def test_intervals_survive_a_round_trip_through_files(tmp_path: Path) -> None:
    result = fit(golden_crowd(), "bcc", burn_in=5, samples=60)
    write_result(result, tmp_path)
    again = left_behind(read_result(tmp_path, result.data), ConfusionInterval)
    np.testing.assert_array_equal(again.high, left_behind(result, ConfusionInterval).high)


def test_sampling_agrees_with_mean_field_on_an_easy_crowd() -> None:
    data = easy_crowd()
    sampled, mean_field = fit(data, "bcc", burn_in=50, samples=400), fit(data, "ibcc")
    assert np.abs(sampled.posterior - mean_field.posterior).mean() < 0.01
    assert sampled.provenance.converged


def two_kinds(rng: np.random.Generator) -> tuple[CrowdData, np.ndarray]:
    """Thirty careful workers, and ten who nearly always say the second class."""
    careful, yes = np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([[0.15, 0.85], [0.05, 0.95]])
    kind = np.repeat([0, 1], [30, 10])
    confusion = np.where((kind == 0)[:, None, None], careful, yes)
    return draw(confusion, rng.integers(0, 2, 300), 8, rng), kind


def test_communities_are_found_with_their_members() -> None:
    data, kind = two_kinds(np.random.default_rng(3))
    result = fit(data, "cbcc", communities=2)
    found = result.worker_scores["community"]
    assert max((found == kind).mean(), (found != kind).mean()) > 0.95
    communities = left_behind(result, Communities)
    biased = communities.confusion[np.argmin(communities.share)]
    assert biased[0, 1] > 0.6
    np.testing.assert_allclose(communities.membership.sum(1), 1)


def test_a_worker_with_few_labels_is_judged_by_their_community() -> None:
    data, _ = two_kinds(np.random.default_rng(3))
    near = fit(data, "cbcc", communities=1, closeness=200).confusion
    far = fit(data, "cbcc", communities=1, closeness=0.1).confusion
    assert near is not None
    assert far is not None
    assert near.std(0).max() < 0.3 * far.std(0).max()


def test_fewer_starts_on_large_data_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = golden_crowd()
    work = data.n_labels * data.n_classes * 3
    monkeypatch.setattr(ebcc, "MAX_SWEEP_WORK", 2 * work)
    result = fit(data, "ebcc", restarts=10, subtypes=3)
    assert result.provenance.notes == ("The data are large: 2 of 10 random starts were tried.",)
    assert fit(data, "ebcc", restarts=2, subtypes=3).provenance.notes == ()


def test_hbcc_extrapolates_on_large_data_and_ends_at_the_same_truths(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = simulate(items=400, workers=40, classes=5, labels_per_item=4, seed=2).data
    plain = fit(data, "hbcc", tol=1e-6)
    monkeypatch.setattr(hbcc, "EXTRAPOLATE_FROM_LABELS", 100)
    fast = fit(data, "hbcc", tol=1e-6)
    assert fast.provenance.converged
    assert fast.provenance.steps < 0.8 * plain.provenance.steps
    assert np.array_equal(fast.truth, plain.truth)
    assert np.allclose(fast.posterior, plain.posterior, atol=1e-3)
