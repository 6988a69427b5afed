"""The EM core against a few lines of plain numpy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from crowdcore.data import UNKNOWN
from crowdcore.engine import em
from crowdcore.engine.labels import Labels
from crowdcore.registry import fit
from tests.crowds import golden_crowd


def test_dawid_skene_equals_the_textbook_loops() -> None:
    data = golden_crowd()
    smoothing, shape = 0.01, (data.n_workers, data.n_classes, data.n_classes)
    posterior = data.votes / data.votes.sum(1, keepdims=True)
    for _ in range(7):
        prior = posterior.mean(0)
        confusion = np.full(shape, smoothing)
        for i, w, given in zip(data.item, data.worker, data.label, strict=True):
            confusion[w, :, given] += posterior[i]
        confusion /= confusion.sum(2, keepdims=True)
        posterior = np.tile(prior, (data.n_items, 1))
        for i, w, given in zip(data.item, data.worker, data.label, strict=True):
            posterior[i] *= confusion[w, :, given]
        posterior /= posterior.sum(1, keepdims=True)
    result = fit(data, "ds", max_iter=7, tol=0, smoothing=smoothing)
    np.testing.assert_allclose(result.posterior, posterior, atol=1e-9)
    assert result.confusion is not None
    np.testing.assert_allclose(result.confusion, confusion, atol=1e-9)


def test_likelihood_never_falls() -> None:
    result = fit(golden_crowd(), "ds", smoothing=0, tol=0)
    log_likelihoods = [float(row["loglik"]) for row in result.history]
    assert len(log_likelihoods) == 100
    assert min(np.diff(log_likelihoods)) > -1e-10


def test_single_precision_gives_the_same_truths() -> None:
    labels = Labels(golden_crowd(), torch.device("cpu"))
    exact = em.initial_posterior(labels, "quality")
    labels.dtype = torch.float32
    rough = em.initial_posterior(labels, "quality")
    assert rough.dtype == torch.float32
    np.testing.assert_allclose(rough.numpy(), exact.numpy(), atol=1e-6)


def test_a_step_may_overwrite_the_start_but_not_the_earlier_result() -> None:
    data = golden_crowd()
    labels = Labels(data, torch.device("cpu"), start=fit(data, "mv").warm_start)
    first = em.initial_posterior(labels, "votes")
    assert labels.warm_start is not None
    first.zero_()
    assert float(labels.warm_start.sum()) == data.n_items


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_class_that_is_next_to_impossible_does_not_spoil_gold(dtype: torch.dtype) -> None:
    data = golden_crowd()
    assert data.gold is not None
    data = replace(data, gold=np.where(data.gold == 1, UNKNOWN, data.gold))
    labels = Labels(data, torch.device("cpu"), use_gold=True)
    log_prior = torch.tensor([0.0, -2000.0, -1.0])
    scores, total = em.normalise(labels, torch.zeros(data.n_items, 3, dtype=dtype), log_prior)
    assert torch.isfinite(total)
    assert data.gold is not None
    has_gold = data.has_gold
    assert (scores.argmax(1).numpy()[has_gold] == data.gold[has_gold]).all()
    expected = torch.softmax(log_prior, 0).to(dtype)
    assert torch.allclose(scores[torch.from_numpy(~has_gold)], expected)


@pytest.mark.parametrize("shift", [0.0, -40.0, -5000.0, 300.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_scores_of_any_size_become_the_same_distributions(shift: float, dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(0)
    exact = torch.randn(50, 4, generator=generator, dtype=torch.float64) * 5
    log_prior = torch.tensor([0.7, 0.2, 0.0999, 0.0001], dtype=torch.float64).log()
    labels = Labels(golden_crowd(), torch.device("cpu"))
    scores, total = em.normalise(labels, (exact + shift).to(dtype), log_prior)
    expected = torch.softmax(exact + log_prior, 1)
    assert scores.dtype == dtype
    error = 1e-12 if dtype == torch.float64 else 1e-7 * (1 + abs(shift))
    np.testing.assert_allclose(scores, expected, atol=error)
    logs = torch.logsumexp(exact + log_prior, 1).sum() + 50 * shift
    np.testing.assert_allclose(float(total), float(logs), atol=200 * error, rtol=1e-6)


def test_one_coin_rows_are_distributions_with_even_errors() -> None:
    confusion = em.one_coin_confusion(torch.tensor([0.7, 1.0]), 3)
    np.testing.assert_allclose(confusion[0], 0.7 * np.eye(3) + 0.15 * (1 - np.eye(3)), atol=1e-6)
    np.testing.assert_allclose(confusion[1], np.eye(3), atol=1e-6)


def test_undecided_leaves_ties_without_a_truth_and_random_follows_the_seed() -> None:
    data = golden_crowd()
    tied = fit(data, "mv").tied
    assert tied.any()
    assert (fit(data, "mv", ties="undecided").truth[tied] == -1).all()
    draws = [fit(data, "mv", ties="random", seed=seed).truth for seed in range(20)]
    assert len({tuple(draw[tied]) for draw in draws}) > 1
    for draw in draws:
        best = data.votes == data.votes.max(1, keepdims=True)
        assert best[np.arange(data.n_items), draw].all()
