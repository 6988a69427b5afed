"""Dirichlet sums against scipy and against plain sampling."""

from __future__ import annotations

import numpy as np
import torch
from scipy import special, stats

from crowdcore.engine import dirichlet


def test_expected_logs_and_evidence_equal_those_of_scipy() -> None:
    prior = torch.tensor([[4.0, 1.0, 1.0], [1.0, 4.0, 1.0]]).double()
    counts = torch.tensor([[2.5, 0.0, 1.5], [0.0, 30.0, 3.0]]).double()
    total = (prior + counts).numpy()
    expected = special.digamma(total) - special.digamma(total.sum(1, keepdims=True))
    np.testing.assert_allclose(dirichlet.expected_log(prior + counts), expected, atol=1e-12)
    for row, (before, counted) in enumerate(zip(prior.numpy(), counts.numpy(), strict=True)):
        size = special.gammaln(before.sum()) - special.gammaln((before + counted).sum())
        product = (special.gammaln(before + counted) - special.gammaln(before)).sum()
        assert abs(float(dirichlet.log_evidence(prior, counts)[row]) - size - product) < 1e-9


def test_the_elbo_term_is_minus_the_divergence_from_the_prior() -> None:
    prior, counts = torch.tensor([2.0, 3.0]).double(), torch.tensor([5.0, 1.0]).double()
    logs = dirichlet.expected_log(prior + counts)
    after, before = stats.beta(7, 4), stats.beta(2, 3)
    grid = np.linspace(1e-6, 1 - 1e-6, 200_001)
    divergence = np.trapezoid(after.pdf(grid) * (after.logpdf(grid) - before.logpdf(grid)), grid)
    assert abs(float(dirichlet.elbo_term(prior, counts, logs)) + divergence) < 1e-4


def test_draws_have_the_mean_of_the_distribution_and_follow_the_seed() -> None:
    counts = torch.tensor([[8.0, 1.0, 1.0]]).double().expand(20_000, -1)
    first = dirichlet.draw(counts, torch.Generator().manual_seed(1))
    again = dirichlet.draw(counts, torch.Generator().manual_seed(1))
    assert torch.equal(first, again)
    np.testing.assert_allclose(first.sum(1), 1, atol=1e-12)
    np.testing.assert_allclose(first.mean(0), [0.8, 0.1, 0.1], atol=0.01)
