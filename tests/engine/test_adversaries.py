from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from crowdcore.data import CrowdData
from crowdcore.engine import adversaries
from crowdcore.engine.adversaries import compare_with_others
from crowdcore.simulation.classes import simulate
from tests.crowds import easy_crowd


@pytest.mark.parametrize("classes", [2, 4, 10])
def test_adversaries_are_found_and_honest_workers_are_not_blamed(classes: int) -> None:
    crowd = simulate(items=600, workers=40, classes=classes, adversaries=0.25, spammers=0.0, seed=1)
    agreement = compare_with_others(crowd.data)
    liar = np.array([character == "adversary" for character in crowd.character])
    assert agreement.adverse[liar].all()
    assert agreement.adverse[~liar].mean() < 0.05
    assert agreement.kappa[liar].max() < agreement.kappa[~liar].mean()


def test_random_answers_are_unrelated() -> None:
    crowd = simulate(items=800, workers=30, classes=4, spammers=0.2, activity=0.0, seed=0)
    random = np.array([character == "random" for character in crowd.character])
    honest = np.isin(crowd.character, ("expert", "good", "careless", "lopsided"))
    agreement = compare_with_others(crowd.data)
    assert np.abs(agreement.kappa[random]).mean() < 0.15 < agreement.kappa[honest].min()
    assert agreement.adverse[random].mean() > 0.5
    assert not agreement.adverse[honest].any()


def test_a_decent_crowd_has_nobody_adverse() -> None:
    assert not compare_with_others(easy_crowd()).adverse.any()


def test_neither_the_order_of_labels_nor_chunks_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    data = simulate(items=200, workers=20, adversaries=0.2, seed=2).data
    before = compare_with_others(data)
    order = np.random.default_rng(0).permutation(data.n_labels)
    shuffled = dataclasses.replace(
        data, item=data.item[order], worker=data.worker[order], label=data.label[order]
    )
    monkeypatch.setattr(adversaries, "LABELS_PER_CHUNK", 17)
    after = compare_with_others(shuffled)
    np.testing.assert_allclose(after.kappa, before.kappa, atol=1e-9)
    np.testing.assert_array_equal(after.adverse, before.adverse)


def test_who_cannot_be_compared_is_not_blamed() -> None:
    data = CrowdData.from_triples([("i1", "w1", "a"), ("i2", "w2", "b"), ("i3", "w1", "b")])
    agreement = compare_with_others(data)
    assert not agreement.adverse.any()
    np.testing.assert_array_equal(agreement.kappa, 0)
