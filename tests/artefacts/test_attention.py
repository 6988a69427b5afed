"""Attention rows that are made when they are looked at, against the whole softmax."""

from __future__ import annotations

import numpy as np
import pytest

from crowdcore.artefacts import attention
from crowdcore.artefacts.attention import AttentionMap, Side
from crowdcore.artefacts.embedding import Embedding
from crowdcore.data import CrowdData, Floats
from crowdcore.registry import fit
from tests.attending import attending
from tests.crowds import golden_crowd


def map_of(data: CrowdData, **how: str) -> AttentionMap:
    found = attending(fit(data, "mv"), **how).artefact(AttentionMap)  # type: ignore[arg-type]
    assert found is not None
    return found


def softmax(scores: Floats) -> Floats:
    weight = np.exp(scores - scores.max(1, keepdims=True))
    shares: Floats = weight / weight.sum(1, keepdims=True)
    return shares


SIDES: list[Side] = ["workers", "items"]


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("kind", ["additive", "dot"])
def test_rows_are_those_of_the_whole_softmax(
    side: Side, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = map_of(golden_crowd(), kind=kind)
    query, key = found.query[side], found.key[side]
    scores = query @ key.T if kind == "dot" else np.maximum(query[:, None] + key, 0)
    monkeypatch.setattr(attention, "WEIGHTS_PER_CHUNK", 3 * len(key))  # three rows at a time
    nodes = [0, 4, 2, 3, 1]
    np.testing.assert_allclose(found.rows(side, nodes), softmax(scores)[nodes])
    np.testing.assert_allclose(found.block(side, nodes, [1, 0]), softmax(scores)[nodes][:, [1, 0]])


def test_two_hops_reach_only_those_who_share_an_item() -> None:
    data = CrowdData.from_triples(
        [("i", "a", "x"), ("i", "b", "y"), ("j", "b", "x"), ("j", "c", "x"), ("k", "d", "y")]
    )
    rows = map_of(data, neighbourhood="two_hop").rows("workers", [0, 1, 3])
    assert (rows > 0).tolist() == [
        [True, True, False, False],
        [True, True, True, False],
        [False, False, False, True],
    ]
    np.testing.assert_allclose(rows.sum(1), 1)


def test_nodes_without_labels_take_no_part() -> None:
    data = golden_crowd()
    fewer = data.only(data.worker != 2)
    rows = map_of(fewer).rows("workers", [0, 2])
    assert rows[0, 2] == 0
    assert rows[1].tolist() == [float(w == 2) for w in range(data.n_workers)]
    whole = map_of(data)
    everyone = whole.rows("workers", [0])
    assert (everyone > 0).all()


def test_a_result_without_artefacts_has_neither_map_nor_embedding() -> None:
    result = fit(golden_crowd(), "mv")
    assert result.artefact(AttentionMap) is None
    assert result.artefact(Embedding) is None


def test_an_embedding_comes_back_as_it_was() -> None:
    result = attending(fit(golden_crowd(), "mv"))
    found = result.artefact(Embedding)
    assert found is not None
    assert len(found.workers) == result.data.n_workers
    assert len(found.items) == result.data.n_items


def test_a_method_may_weigh_labels_only() -> None:
    result = attending(fit(golden_crowd(), "mv"), sides=())
    found = result.artefact(AttentionMap)
    assert found is not None
    assert found.query == found.key == {}
    assert found.of_worker is not None
    total = np.bincount(result.data.worker, weights=found.of_worker)
    np.testing.assert_allclose(total, 1)
