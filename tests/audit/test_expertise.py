"""Expertise by class: the method's estimate, and the count on gold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdcore import CrowdData, fit
from crowdcore.audit.expertise import FEWEST_GOLD, expertise
from tests.crowds import lopsided_crowd


def test_the_estimate_is_the_diagonal_of_the_confusion_matrices() -> None:
    result = fit(lopsided_crowd()[0], "ds")
    found = expertise(result)
    assert result.confusion is not None
    np.testing.assert_allclose(found.right, np.einsum("wkk->wk", result.confusion))
    assert found.workers == result.data.workers
    assert (found.n_labels == result.data.labels_per_worker).all()


def test_gold_shows_who_is_right_about_which_class() -> None:
    data, truth = lopsided_crowd()
    found = expertise(fit(data, "mv"))
    assert np.abs(found.gold - np.einsum("wkk->wk", truth)).max() < 0.15
    assert (found.gold[:, 0] < found.gold[:, 1]).all()  # many of class 0 are taken for class 1


def test_a_share_of_too_few_gold_items_is_not_told() -> None:
    n = FEWEST_GOLD
    rows = [(f"a{i}", "w", "a") for i in range(n)] + [(f"b{i}", "w", "b") for i in range(n - 1)]
    data = CrowdData.from_triples(rows, gold={item: label for item, _, label in rows})
    found = expertise(fit(data, "mv"))
    assert found.gold[0, 0] == pytest.approx(1)
    assert np.isnan(found.gold[0, 1])


def test_without_gold_nothing_is_claimed_of_it() -> None:
    found = expertise(fit(replace(lopsided_crowd()[0], gold=None), "mv"))
    assert np.isnan(found.gold).all()
    assert np.isfinite(found.right).all()
