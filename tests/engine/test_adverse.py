from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from crowdcore.data import CrowdData
from crowdcore.engine import adverse
from crowdcore.engine.adverse import relate
from crowdcore.simulation import simulate
from tests.crowds import easy_crowd


@pytest.mark.parametrize("classes", [2, 4, 10])
def test_adversaries_are_found_and_honest_workers_are_not_blamed(classes: int) -> None:
    crowd = simulate(items=600, workers=40, classes=classes, adversaries=0.25, spammers=0.0, seed=1)
    found = relate(crowd.data)
    liar = np.array([one == "adversary" for one in crowd.character])
    assert found.adverse[liar].all()
    assert found.adverse[~liar].mean() < 0.05
    assert found.kappa[liar].max() < found.kappa[~liar].mean()


def test_random_answers_are_unrelated() -> None:
    crowd = simulate(items=800, workers=30, classes=4, spammers=0.2, activity=0.0, seed=0)
    random = np.array([one == "random" for one in crowd.character])
    honest = np.isin(crowd.character, ("expert", "good", "careless", "lopsided"))
    found = relate(crowd.data)
    assert np.abs(found.kappa[random]).mean() < 0.15 < found.kappa[honest].min()
    assert found.adverse[random].mean() > 0.5
    assert not found.adverse[honest].any()


def test_a_decent_crowd_has_nobody_adverse() -> None:
    assert not relate(easy_crowd()).adverse.any()


def test_neither_the_order_of_labels_nor_blocks_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    data = simulate(items=200, workers=20, adversaries=0.2, seed=2).data
    whole = relate(data)
    order = np.random.default_rng(0).permutation(data.n_labels)
    shuffled = dataclasses.replace(
        data, item=data.item[order], worker=data.worker[order], label=data.label[order]
    )
    monkeypatch.setattr(adverse, "BLOCK", 17)
    again = relate(shuffled)
    np.testing.assert_allclose(again.kappa, whole.kappa, atol=1e-9)
    np.testing.assert_array_equal(again.adverse, whole.adverse)


def test_who_cannot_be_compared_is_not_blamed() -> None:
    alone = CrowdData.from_triples([("i1", "w1", "a"), ("i2", "w2", "b"), ("i3", "w1", "b")])
    found = relate(alone)
    assert not found.adverse.any()
    np.testing.assert_array_equal(found.kappa, 0)
