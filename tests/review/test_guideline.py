"""Guideline problems: what good workers differ on, apart from the noise of bad ones."""

from __future__ import annotations

import numpy as np
import pytest

from crowdcore import CrowdData, fit
from crowdcore.data import DataError
from crowdcore.review.guideline import GuidelineProblems, guideline_problems


def problems(*, planted: bool, n_classes: int = 5) -> GuidelineProblems:
    """Four spammers and sixteen good workers, who take b for c and c for b if that is planted."""
    rng = np.random.default_rng(0)
    triples = []
    for item in range(300):
        truth = int(rng.integers(n_classes))
        for worker in rng.choice(20, 6, replace=False).tolist():
            given = truth if worker >= 4 and rng.random() < 0.88 else int(rng.integers(n_classes))
            if planted and worker >= 4 and truth in (1, 2) and rng.random() < 0.3:
                given = 3 - truth
            triples.append((f"i{item}", f"w{worker}", "abcde"[given]))
    result = fit(CrowdData.from_triples(triples), "ds")
    return guideline_problems(result, [f"w{worker}" for worker in range(4, 20)])


def test_two_classes_that_good_workers_confuse_stand_first_and_alone() -> None:
    found = problems(planted=True)
    assert found.n_problems == 1
    assert found.pairs.iloc[0][["first", "second"]].tolist() == ["b", "c"]
    assert found.pairs["of_good"].iloc[0] > 0.6


def test_spammers_alone_are_no_guideline_problem() -> None:
    assert problems(planted=False).n_problems == 0


def test_merging_confused_classes_is_expected_to_settle_truths_and_others_do_not() -> None:
    found = problems(planted=True)
    confused, clear = found.merge_effect("b", "c"), found.merge_effect("a", "e")
    assert confused.right_after > confused.right_before
    assert confused.agree_after > confused.agree_before + 0.05
    assert confused.n_settled > clear.n_settled
    assert confused.right_after - confused.right_before > clear.right_after - clear.right_before
    with pytest.raises(DataError, match="no class"):
        found.merge_effect("b", "z")


def test_two_classes_cannot_be_merged_and_one_good_worker_cannot_differ() -> None:
    with pytest.raises(DataError, match="only two classes"):
        problems(planted=False, n_classes=2).merge_effect("a", "b")
    data = CrowdData.from_triples([("i", "v", "a"), ("i", "w", "b")])
    with pytest.raises(DataError, match="Fewer than two workers"):
        guideline_problems(fit(data, "mv"), ["v"])
