"""Where bags of rows start, and how long ones are cut."""

from __future__ import annotations

import numpy as np
import pytest

from crowdcore.engine import bags


def test_a_bag_starts_where_those_before_it_end() -> None:
    assert bags.bag_starts(np.array([2, 0, 3])).tolist() == [0, 2, 2]


def test_long_bags_are_cut_and_the_pieces_know_their_bag(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bags, "MAX_ROWS_PER_BAG", 4)
    starts, owner = bags.cut_long_bags(np.array([4, 0, 9, 5]))
    assert starts.tolist() == [0, 4, 4, 8, 12, 13, 17]
    assert owner.tolist() == [0, 1, 2, 2, 2, 3, 3]
