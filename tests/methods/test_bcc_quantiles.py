"""Quantiles from draws, within memory."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from crowdcore.methods.bayesian.bcc import _quantiles as quantiles
from crowdcore.methods.bayesian.bcc._quantiles import ThinnedDraws


def fill(total: int, size: int) -> tuple[ThinnedDraws, np.ndarray]:
    draws = torch.randn((total, size), generator=torch.Generator().manual_seed(0))
    kept = ThinnedDraws(total, torch.Size((size,)), torch.device("cpu"))
    for step, draw in enumerate(draws):
        kept.add(step, draw.double())
    return kept, draws.numpy()


def test_quantiles_equal_those_of_numpy() -> None:
    kept, draws = fill(101, 7)
    assert kept.kept == 101
    for level in (0.025, 0.5, 0.975):
        np.testing.assert_allclose(kept.quantile(level), np.quantile(draws, level, 0), atol=1e-5)


def test_where_memory_is_short_every_so_many_th_draw_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(quantiles, "MAX_KEPT_NUMBERS", 7 * 60)
    kept, draws = fill(101, 7)
    assert kept.stride == 2
    np.testing.assert_allclose(kept.quantile(0.5), np.median(draws[::2], 0), atol=1e-6)


def test_too_few_draws_are_not_kept_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantiles, "MAX_KEPT_NUMBERS", 7 * 20)
    kept, _ = fill(101, 7)
    assert kept.kept == 0
