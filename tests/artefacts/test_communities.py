"""Communities of workers, and habits of single ones."""

from __future__ import annotations

import numpy as np
import pytest

from crowdcore.artefacts.communities import Communities
from crowdcore.audit.evidence import label_counts, spam_habit
from crowdcore.data import DataError
from crowdcore.registry import fit
from crowdcore.simulation.classes import simulate
from tests.left_behind import left_behind

CROWD = simulate(items=150, workers=30, classes=3, labels_per_item=10, spammers=0.3, seed=3)


def test_communities_come_by_size_with_the_labels_of_their_members() -> None:
    result = fit(CROWD.data, "cbcc")
    found = left_behind(result, Communities).with_members(result)
    shares = [one.share for one in found]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1)
    assert sorted(code for one in found for code in one.members) == list(range(30))
    for number, one in enumerate(found, start=1):
        assert (result.worker_scores["community"][one.members] == number).all()
        names = [CROWD.data.workers[code] for code in one.members]
        own = [label_counts(result, name) for name in names]
        assert np.array_equal(one.counts, sum(own, np.zeros((3, 3), np.int64)))
    good = max(found, key=lambda one: one.accuracy)
    bad = min((one for one in found if len(one.members)), key=lambda one: one.accuracy)
    accuracy = result.workers()["accuracy"].to_numpy()
    assert accuracy[good.members].mean() > accuracy[bad.members].mean() + 0.2


def test_a_method_without_communities_or_habits_has_none() -> None:
    result = fit(CROWD.data, "ds")
    assert result.artefact(Communities) is None
    assert spam_habit(result, CROWD.data.workers[0]) is None


def test_a_habit_is_what_a_worker_gives_without_looking() -> None:
    triples = [(f"i{i}", w, "ab"[i % 2]) for i in range(200) for w in ("ann", "bob", "cat")]
    triples += [(f"i{i}", "always a", "a") for i in range(200)]
    data = type(CROWD.data).from_triples(triples)
    result = fit(data, "mace")
    found = spam_habit(result, "always a")
    assert found is not None
    share, given = found
    assert share > 0.5
    assert given.argmax() == data.classes.index("a")
    assert given[0] > 0.9
    careful = spam_habit(result, "ann")
    assert careful is not None
    assert careful[0] < 0.2
    with pytest.raises(DataError):
        spam_habit(result, "nobody")
