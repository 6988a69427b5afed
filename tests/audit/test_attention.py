from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest

from crowdcore import CrowdData, fit
from crowdcore.artefacts.attention import AttentionMap, Side
from crowdcore.audit import attention
from crowdcore.simulation.classes import simulate
from tests.attending import attending

SIDES: list[Side] = ["workers", "items"]
Neighbourhood = Literal["full", "two_hop"]


def seen(kind: Literal["additive", "dot"] = "dot", around: Neighbourhood = "full") -> AttentionMap:
    data = simulate(items=60, workers=12, classes=3, labels_per_item=4, features=0, seed=3).data
    shown = attending(fit(data, "mv"), kind=kind, neighbourhood=around).artefact(AttentionMap)
    assert shown is not None
    return shown


def by_hand(keys: list[float]) -> AttentionMap:
    """Four workers with the same keys for everyone: all look at all in the same way."""
    data = CrowdData.from_triples([("i", f"w{w}", "a") for w in range(len(keys))])
    return replace(
        seen("additive"),
        data=data,
        workers_query=np.zeros(len(keys)),
        workers_key=np.array(keys),
        items_query=None,
        items_key=None,
    )


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("kind", ["additive", "dot"])
def test_weights_of_a_row_are_one_on_average(side: Side, kind: Any) -> None:
    shown = seen(kind)
    rows = attention.relative_weights(shown, side, [0, 3, 5])
    np.testing.assert_allclose(rows.mean(1), 1)
    part = attention.relative_weights(shown, side, [3], [7, 2])
    np.testing.assert_allclose(part, rows[1:2, [7, 2]])


def test_even_keys_are_even_shares_and_a_doubled_one_is_double() -> None:
    np.testing.assert_allclose(attention.relative_weights(by_hand([0.0] * 4), "workers", [0, 1]), 1)
    weights = attention.relative_weights(by_hand([0, 0, 0, np.log(5)]), "workers", [0])
    np.testing.assert_allclose(weights, [[0.5, 0.5, 0.5, 2.5]])


def test_in_a_neighbourhood_an_even_share_is_one_of_the_neighbours() -> None:
    shown = seen(around="two_hop")
    rows = attention.relative_weights(shown, "items", np.arange(60))
    known = rows > 0
    assert not known.all()
    np.testing.assert_allclose(rows.sum(1) / known.sum(1), 1)


@pytest.mark.parametrize("side", SIDES)
def test_the_survey_is_what_all_rows_say(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = seen()
    n = len(shown.key[side])
    monkeypatch.setattr(attention, "WEIGHTS_PER_CHUNK", 5 * n)  # several blocks
    overview = attention.survey(shown, side)
    rows = attention.relative_weights(shown, side, np.arange(n))
    off = np.where(np.eye(n, dtype=bool), 0, rows)
    np.testing.assert_allclose(overview.received, off.sum(0) / (n - 1))
    np.testing.assert_allclose(overview.peak, np.maximum(off.max(0), off.max(1)))
    assert 1 <= overview.reach <= n
    assert overview.n_sampled == n


def test_reach_is_everyone_for_even_weights_and_one_for_a_single_favourite() -> None:
    assert attention.survey(by_hand([0.0] * 6), "workers").reach == pytest.approx(6)
    assert attention.survey(by_hand([0.0] * 5 + [60.0]), "workers").reach == pytest.approx(1)


def test_rows_are_alike_where_only_the_columns_differ() -> None:
    rng = np.random.default_rng(0)
    columns = np.exp(rng.normal(size=9))
    assert attention.common_share(np.tile(columns, (9, 1))) == pytest.approx(1)
    assert attention.common_share(np.exp(rng.normal(size=(9, 9)))) < 0.5
    assert attention.common_share(np.ones((3, 3))) == 1
    assert attention.common_share(np.ones((1, 1))) == 1
    assert attention.survey(by_hand([0.0] * 4), "workers").is_even
    assert not attention.survey(by_hand([0.0, 0, 0, 1]), "workers").is_even


def test_of_a_large_side_a_sample_looks_always_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = seen()
    monkeypatch.setattr(attention, "MAX_WEIGHTS", 600)
    overview = attention.survey(shown, "items")
    assert overview.n_sampled == 10
    np.testing.assert_array_equal(overview.received, attention.survey(shown, "items").received)


def test_the_strongest_links_leave_the_node_itself_out() -> None:
    shown = seen()
    row = attention.relative_weights(shown, "workers", [4])[0]
    links = attention.strongest_links(shown, "workers", 4, max_links=5)
    assert 4 not in links.target
    assert (np.diff(links.weight) <= 0).all()
    assert links.weight[0] == np.delete(row, 4).max()
    few = attention.strongest_links(shown, "workers", 4, max_links=5, among=np.arange(12) < 2)
    assert set(few.target.tolist()) == {0, 1}


def test_links_between_groups_are_the_strongest_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = seen()
    monkeypatch.setattr(attention, "WEIGHTS_PER_CHUNK", 60 * 7)
    sources, targets = np.arange(0, 30), np.arange(20, 60)
    links = attention.links_between(shown, "items", sources, targets, max_links=8)
    block = attention.relative_weights(shown, "items", sources, targets)
    block[sources[:, None] == targets] = 0
    np.testing.assert_allclose(links.weight, np.sort(block.ravel())[::-1][:8])
    assert (links.source != links.target).all()
    assert (
        len(attention.links_between(shown, "items", sources[:1], sources[:1], max_links=8).source)
        == 0
    )


def test_group_means_are_means_over_links(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = seen()
    monkeypatch.setattr(attention, "WEIGHTS_PER_CHUNK", 60 * 7)
    group = np.arange(60) % 3
    group[:6] = -1
    means = attention.group_means(shown, "items", group, 4)
    rows = attention.relative_weights(shown, "items", np.arange(60))
    off = ~np.eye(60, dtype=bool)
    for one in range(3):
        for two in range(3):
            links = np.outer(group == one, group == two) & off
            assert means[one, two] == pytest.approx(rows[links].mean())
    assert np.isnan(means[3]).all()
    assert np.isnan(means[:, 3]).all()


def test_alike_nodes_stand_together() -> None:
    rng = np.random.default_rng(0)
    group = rng.permutation(np.repeat(np.arange(4), 6))
    weights = np.where(group[:, None] == group, 5.0, 0.2) * rng.uniform(0.8, 1.2, (24, 24))
    np.fill_diagonal(weights, 50)  # a node's look at itself must not matter
    order = attention.seriation(weights)
    assert sorted(order.tolist()) == list(range(24))
    assert (np.diff(group[order]) != 0).sum() == 3


@pytest.mark.parametrize("m", [0, 1, 2, 3, 5])
def test_any_few_nodes_have_an_order(m: int) -> None:
    for weights in (np.ones((m, m)), np.full((m, m), np.nan), np.zeros((m, m))):
        assert sorted(attention.seriation(weights).tolist()) == list(range(m))


def test_a_label_weighs_what_it_weighs_among_its_nodes_labels() -> None:
    shown = seen()
    own = attention.label_weights(shown, "workers", 2)
    assert own["share"].sum() == pytest.approx(1)
    assert own["weight"].mean() == pytest.approx(1)
    assert own["share"].is_monotonic_decreasing
    assert set(own["worker"]) == {2}
    of_item = attention.label_weights(shown, "items", 7)
    assert len(of_item) == 4
    assert set(of_item["item"]) == {7}


def test_without_weights_of_labels_or_with_those_of_others_there_are_none() -> None:
    shown = seen()
    assert attention.label_weights(replace(shown, of_worker=None), "workers", 2).empty
    filled = replace(shown, of_item=np.ones(shown.data.n_labels + 5))  # labels were filled in
    assert attention.label_weights(filled, "items", 7).empty


def test_common_workers_of_two_items_are_counted() -> None:
    data = CrowdData.from_triples(
        [("i", "x", "a"), ("i", "y", "b"), ("j", "x", "a"), ("j", "y", "a"), ("k", "z", "a")]
    )
    shared, same = attention.common_workers(data, 0, np.array([1, 2]))
    assert (shared.tolist(), same.tolist()) == ([2, 0], [1, 0])
