from __future__ import annotations

import numpy as np
import torch
from scipy.stats import gaussian_kde

from crowdcore.methods.experts.mmlc_owf import _centres as centres

VALUES = torch.tensor(np.random.default_rng(0).gamma(2.0, size=(60, 3)))
EVEN = torch.ones(60, dtype=torch.float64)
WEIGHT = torch.tensor(np.random.default_rng(1).integers(1, 5, 60).astype(np.float64))
REPEATED = VALUES.repeat_interleave(WEIGHT.long(), 0)


def test_the_median_without_weights_is_the_usual_one() -> None:
    for n in (1, 2, 7, 60):
        found = centres.median(VALUES[:n], EVEN[:n])
        np.testing.assert_allclose(found, np.median(VALUES[:n], 0))


def test_a_weight_counts_like_as_many_workers() -> None:
    np.testing.assert_allclose(centres.median(VALUES, WEIGHT), np.median(REPEATED, 0))
    np.testing.assert_allclose(centres.mean(VALUES, WEIGHT), REPEATED.mean(0))


def test_the_mode_is_where_scipys_density_peaks() -> None:
    for weight in (EVEN, WEIGHT):
        found = centres.mode(VALUES, weight)
        for column, peak in zip(VALUES.T, found, strict=True):
            grid = np.linspace(float(column.min()), float(column.max()), 20_000)
            density = gaussian_kde(column.numpy(), weights=weight.numpy())(grid)
            step = float(column.max() - column.min()) / (centres.GRID_POINTS - 1)
            assert abs(grid[density.argmax()] - float(peak)) < 2 * step


def test_the_rules_are_scipys() -> None:
    for rule in ("scott", "silverman"):
        theirs = gaussian_kde(VALUES[:, 0].numpy(), rule, weights=WEIGHT.numpy())
        found = centres._bandwidth(VALUES[:, :1], WEIGHT, rule)
        np.testing.assert_allclose(found, np.sqrt(theirs.covariance[0]))


def test_workers_at_one_place_have_their_centre_there() -> None:
    identical = torch.full((4, 2), 0.3, dtype=torch.float64)
    for centre in (centres.mode, centres.mean, centres.median):
        np.testing.assert_allclose(centre(identical, torch.ones(4, dtype=torch.float64)), 0.3)
