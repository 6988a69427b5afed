"""What a method returns is held to its promises."""

from __future__ import annotations

import numpy as np
import pytest

from crowdcore import distributions
from crowdcore.distributions import TIE_TOLERANCE, checked_distributions, likeliest_classes
from crowdcore.errors import ResultError


@pytest.fixture(autouse=True)
def few_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributions, "ROWS_PER_CHUNK", 2)


@pytest.mark.parametrize("bad", [[0.7, 0.7], [-0.1, 1.1], [np.nan, 1.0], [np.inf, 0.0]])
def test_a_table_is_checked_to_its_last_row(bad: list[float]) -> None:
    rows = np.full((5, 2), 0.5)
    assert np.array_equal(checked_distributions(rows, (5, 2), "posterior"), rows)
    rows[4] = bad
    with pytest.raises(ResultError, match="posterior"):
        checked_distributions(rows, (5, 2), "posterior")


def test_ties_are_seen_in_every_row_and_go_to_the_lowest_class() -> None:
    rows = np.array([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1], [0.3, 0.7], [0.5, 0.5]])
    truth, tied = likeliest_classes(rows)
    assert truth.tolist() == [1, 0, 0, 1, 0]
    assert tied.tolist() == [False, True, False, False, True]


@pytest.mark.parametrize("n_classes", [2, 3, 9])
def test_a_difference_of_a_hundred_thousandth_decides_and_one_of_a_ten_millionth_does_not(
    n_classes: int,
) -> None:
    even = np.full(n_classes, 1 / n_classes)
    ahead = np.eye(n_classes)[-1]
    truth, tied = likeliest_classes(np.stack([even + 1e-5 * ahead, even + 1e-7 * ahead]))
    assert truth.tolist() == [n_classes - 1, n_classes - 1]
    assert tied.tolist() == [False, True]


@pytest.mark.parametrize("n_classes", [1, 2, 3, 8, 9, 30])
def test_many_and_few_classes_have_the_same_winners(n_classes: int) -> None:
    votes = np.random.default_rng(0).multinomial(6, np.full(n_classes, 1 / n_classes), 60)
    rows = votes / 6
    noise = np.random.default_rng(1).uniform(0, TIE_TOLERANCE / 10, (10, n_classes))
    rows[:10] += noise  # which leaves ties tied
    truth, tied = likeliest_classes(rows)
    near = rows >= rows.max(1, keepdims=True) - TIE_TOLERANCE
    assert tied.tolist() == (near.sum(1) > 1).tolist()
    assert tied.any() == (n_classes > 1)
    assert truth.tolist() == rows.argmax(1).tolist()
