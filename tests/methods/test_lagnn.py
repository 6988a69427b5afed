"""The graph of workers, and what it learns."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from crowdcore.data import CrowdData, DataError
from crowdcore.methods.graph import lagnn as module
from crowdcore.registry import fit
from tests.crowds import draw, easy_crowd, golden_crowd, with_some_gold


def reliable_and_careless() -> CrowdData:
    """Two good workers against four who guess."""
    rng = np.random.default_rng(0)
    accuracy = np.array([0.98, 0.98, 0.5, 0.5, 0.5, 0.5])
    confusion = np.array([[[a, 1 - a], [1 - a, a]] for a in accuracy])
    return draw(confusion, rng.integers(0, 2, 300), 6, rng)


@pytest.mark.parametrize("graph", ["agreement", "quality"])
def test_gold_teaches_whose_votes_count(graph: str) -> None:
    data = with_some_gold(reliable_and_careless())
    truth = reliable_and_careless().gold
    majority, found = fit(data, "mv"), fit(data, "lagnn", graph=graph)
    unseen = ~data.has_gold
    right = [(one.truth == truth)[unseen].mean() for one in (found, majority)]
    assert right[0] > right[1] + 0.1
    weight = found.worker_scores["weight"]
    assert weight[:2].min() > weight[2:].max()


def test_gold_items_keep_their_answer_and_the_result_says_that_gold_was_used() -> None:
    data = with_some_gold(easy_crowd())
    result = fit(data, "lagnn", epochs=2)
    assert data.gold is not None
    np.testing.assert_array_equal(result.truth[data.has_gold], data.gold[data.has_gold])
    assert result.provenance.used_gold
    assert result.provenance.notes[0].startswith("Learnt from 49 gold items")


def test_the_consensus_leaves_gold_to_the_judge() -> None:
    data = with_some_gold(easy_crowd())
    result = fit(data, "lagnn", teacher="consensus", epochs=2)
    bare = fit(dataclasses.replace(data, gold=None), "lagnn", epochs=2)
    np.testing.assert_array_equal(result.posterior, bare.posterior)
    assert not result.provenance.used_gold
    assert result.provenance.notes[0].startswith("No gold was used")


def test_blocks_of_items_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = fit(golden_crowd(), "lagnn", teacher="consensus", epochs=3)
    monkeypatch.setattr(module, "NUMBERS_PER_CHUNK", 1)
    parts = fit(golden_crowd(), "lagnn", teacher="consensus", epochs=3)
    np.testing.assert_allclose(parts.posterior, whole.posterior, atol=1e-9)


def test_before_anything_is_learnt_the_majority_decides() -> None:
    data = easy_crowd()
    result = fit(data, "lagnn", teacher="consensus", epochs=1, rate=1e-9)
    votes = np.sort(data.votes, 1)
    clear = votes[:, -1] > votes[:, -2]
    np.testing.assert_array_equal(result.truth[clear], data.votes.argmax(1)[clear])


def test_too_many_workers_are_refused_with_a_way_out() -> None:
    workers = 3000
    triples = [("i", f"w{number}", "ab"[number % 2]) for number in range(workers)]
    with pytest.raises(DataError, match="54,000,000 with 3,000 workers"):
        fit(CrowdData.from_triples(triples), "lagnn")
