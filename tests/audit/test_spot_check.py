from __future__ import annotations

import numpy as np
import pytest

from crowdcore.audit.spot_check import SIZES, describe_margins, margin


def test_the_margin_holds_at_least_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    for n_checked in SIZES:
        for accuracy in (0.5, 0.7, 0.9):
            found = rng.binomial(n_checked, accuracy, 20_000) / n_checked
            assert (np.abs(found - accuracy) <= margin(n_checked) + 1e-9).mean() >= 0.94


@pytest.mark.parametrize(("n_checked", "expected"), [(30, 0.168), (100, 0.096), (400, 0.049)])
def test_the_worst_case_is_half_right_and_more_items_narrow_it(
    n_checked: int, expected: float
) -> None:
    assert margin(n_checked) == pytest.approx(expected, abs=0.001)
    assert margin(n_checked, accuracy=0.9) < margin(n_checked)
    assert margin(4 * n_checked) == pytest.approx(margin(n_checked) / 2, rel=0.1)


def test_margins_are_rounded_up_in_the_sentence() -> None:
    assert "30 items to ±17 points, 100 items to ±10 points, 400 items to ±5" in describe_margins()
