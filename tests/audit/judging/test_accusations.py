from __future__ import annotations

import numpy as np
import pytest

from crowdcore.audit.judging.accusations import accuse

EVERYBODY = np.ones(100, bool)


def test_the_expected_share_of_wrong_accusations_is_at_most_five_per_cent() -> None:
    probability = np.linspace(0.8, 1, 100)
    listed = accuse(probability, EVERYBODY)
    assert listed.expected_wrong == pytest.approx((1 - probability[listed.accused]).sum())
    assert 0.045 < listed.expected_wrong / listed.n_accused <= 0.05
    assert listed.accused[-listed.n_accused :].all()


def test_nobody_is_accused_on_odds_below_three_to_one() -> None:
    sure = np.where(np.arange(100) < 90, 1.0, 0.74)
    assert accuse(sure, EVERYBODY).n_accused == 90
    assert accuse(np.where(sure < 1, 0.76, 1.0), EVERYBODY).n_accused == 100
    assert accuse(np.where(sure < 1, 0.76, 1.0), EVERYBODY, min_probability=0.8).n_accused == 90


def test_who_cannot_be_judged_is_not_accused() -> None:
    judged = np.arange(100) < 3
    assert accuse(np.ones(100), judged).n_accused == 3
    nobody = accuse(np.zeros(100), EVERYBODY)
    assert (nobody.n_accused, nobody.expected_wrong) == (0, 0.0)
