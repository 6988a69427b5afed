"""A result holds its method to its promises."""

from __future__ import annotations

import numpy as np
import pytest

from crowdcore import result
from crowdcore.result import TIE, ResultError, _distributions, _winners


@pytest.fixture(autouse=True)
def few_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result, "ROWS", 2)


@pytest.mark.parametrize("bad", [[0.7, 0.7], [-0.1, 1.1], [np.nan, 1.0], [np.inf, 0.0]])
def test_a_table_is_checked_to_its_last_row(bad: list[float]) -> None:
    rows = np.full((5, 2), 0.5)
    assert np.array_equal(_distributions(rows, (5, 2), "posterior"), rows)
    rows[4] = bad
    with pytest.raises(ResultError, match="posterior"):
        _distributions(rows, (5, 2), "posterior")


def test_ties_are_seen_in_every_row_and_go_to_the_lowest_class() -> None:
    rows = np.array([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1], [0.3, 0.7], [0.5, 0.5]])
    truth, tied = _winners(rows)
    assert truth.tolist() == [1, 0, 0, 1, 0]
    assert tied.tolist() == [False, True, False, False, True]


@pytest.mark.parametrize("n_classes", [1, 2, 3, 8, 9, 30])
def test_many_and_few_classes_have_the_same_winners(n_classes: int) -> None:
    votes = np.random.default_rng(0).multinomial(6, np.full(n_classes, 1 / n_classes), 60)
    rows = votes / 6
    rows[:10] += np.random.default_rng(1).uniform(0, TIE / 10, (10, n_classes))  # noise ties, too
    truth, tied = _winners(rows)
    near = rows >= rows.max(1, keepdims=True) - TIE
    assert tied.tolist() == (near.sum(1) > 1).tolist()
    assert tied.any() == (n_classes > 1)
    assert truth.tolist() == rows.argmax(1).tolist()
