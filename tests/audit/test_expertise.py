"""Expertise by class: the method's estimate, and the count on gold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdcore import CrowdData, fit
from crowdcore.audit.expertise import MIN_GOLD_ITEMS, expertise
from tests.crowds import lopsided_crowd


def test_the_estimate_is_the_diagonal_of_the_confusion_matrices() -> None:
    result = fit(lopsided_crowd()[0], "ds")
    estimates = expertise(result)
    assert result.confusion is not None
    np.testing.assert_allclose(estimates.right, np.einsum("wkk->wk", result.confusion))
    assert estimates.workers == result.data.workers
    assert (estimates.n_labels == result.data.labels_per_worker).all()


def test_gold_shows_who_is_right_about_which_class() -> None:
    data, truth = lopsided_crowd()
    estimates = expertise(fit(data, "mv"))
    assert np.abs(estimates.gold - np.einsum("wkk->wk", truth)).max() < 0.15
    assert (estimates.gold[:, 0] < estimates.gold[:, 1]).all()  # class 0 is taken for class 1


def test_a_share_of_too_few_gold_items_is_not_told() -> None:
    n = MIN_GOLD_ITEMS
    rows = [(f"a{i}", "w", "a") for i in range(n)] + [(f"b{i}", "w", "b") for i in range(n - 1)]
    data = CrowdData.from_triples(rows, gold={item: label for item, _, label in rows})
    estimates = expertise(fit(data, "mv"))
    assert estimates.gold[0, 0] == pytest.approx(1)
    assert np.isnan(estimates.gold[0, 1])


def test_without_gold_nothing_is_claimed_of_it() -> None:
    estimates = expertise(fit(replace(lopsided_crowd()[0], gold=None), "mv"))
    assert np.isnan(estimates.gold).all()
    assert np.isfinite(estimates.right).all()
