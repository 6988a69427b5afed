"""Matrices from moments."""

from __future__ import annotations

import numpy as np
import pytest

from crowdcore.methods.confusion.spectral_em import _moments as moments
from crowdcore.registry import fit
from tests.crowds import draw, golden_crowd


def columns(n_groups: int, n_classes: int, rng: np.random.Generator) -> np.ndarray:
    """Matrices [group, given, true] with a strong diagonal."""
    noise = rng.dirichlet(np.ones(n_classes), size=(n_groups, n_classes)).transpose(0, 2, 1)
    return 0.6 * np.eye(n_classes) + 0.4 * noise


def test_exact_moments_give_back_the_matrices_and_the_prior() -> None:
    rng = np.random.default_rng(0)
    matrices, prior = columns(3, 3, rng), np.array([0.5, 0.3, 0.2])
    truth = np.repeat(np.arange(3), (prior * 1000).astype(int))
    # The groups' mean answers themselves: given the truth there is no noise left.
    shares = matrices[:, :, truth].transpose(0, 2, 1)
    found, weight = moments.decompose(shares)
    np.testing.assert_allclose(found, matrices, atol=1e-6)
    np.testing.assert_allclose(weight, prior, atol=1e-6)


def test_a_large_crowd_is_found_by_moments_alone() -> None:
    rng = np.random.default_rng(1)
    confusion = columns(12, 3, rng).transpose(0, 2, 1)
    data = draw(confusion, rng.integers(0, 3, 4000), 12, rng)
    result = fit(data, "spectral_em", max_iter=1, smoothing=0)
    assert result.provenance.notes == ()
    assert result.confusion is not None
    assert np.abs(result.confusion - confusion).max() < 0.06


def test_a_start_that_is_not_valid_is_told_and_replaced_by_the_votes() -> None:
    data = golden_crowd()
    few = data.only(data.item < 12)
    result = fit(few, "spectral_em", smoothing=0.01, max_iter=30)
    assert len(result.provenance.notes) == 1
    assert "spectral start was not possible" in result.provenance.notes[0]
    np.testing.assert_allclose(result.posterior, fit(few, "ds", max_iter=30).posterior, atol=1e-9)


def test_groups_are_of_like_size_and_do_not_depend_on_names() -> None:
    data = golden_crowd()
    groups = moments.group(data)
    assert np.ptp(np.bincount(groups, minlength=3)) <= 1
    work = np.bincount(groups, data.labels_per_worker, minlength=3)
    assert np.ptp(work) < 0.3 * work.mean()


def test_answers_that_do_not_depend_on_each_other_are_refused() -> None:
    rng = np.random.default_rng(2)
    shares = rng.dirichlet(np.ones(3), size=(3, 500))
    with pytest.raises(moments.NotValidError):
        moments.decompose(shares)
