from __future__ import annotations

import numpy as np
import pytest

from crowdcore import CrowdData, fit
from crowdcore.audit import pairs
from crowdcore.audit.pairs import MIN_SHARED_ITEMS, compare_pairs, crowd_pairs, shared_items
from crowdcore.data import UNKNOWN
from crowdcore.simulation.classes import simulate


def crowd() -> CrowdData:
    """x, y and z are right; p and q are wrong together on the first four items of ten."""
    names = ["a", "b", "c"]
    triples = []
    for item in range(10):
        truth = item % 3
        triples += [(f"i{item}", worker, names[truth]) for worker in "xyz"]
        said = names[(truth + (item < 4)) % 3]
        triples += [(f"i{item}", worker, said) for worker in "pq"]
    return CrowdData.from_triples(triples)


def test_same_labels_and_same_wrong_ones_are_counted() -> None:
    result = fit(crowd(), "mv")
    x, p, q = (result.data.workers.index(name) for name in "xpq")
    agreement = compare_pairs(result, [x, p, p], [p, q, p])
    assert agreement.n_shared.tolist() == [10, 10, 0]  # nobody is a pair with themselves
    assert agreement.n_same.tolist() == [6, 10, 0]
    assert agreement.n_same_wrong.tolist() == [0, 4, 0]
    assert agreement.share[:2].tolist() == [0.6, 1.0]
    assert np.isnan(agreement.share[2])


def test_pairs_come_in_any_shape_and_both_ways_alike() -> None:
    result = fit(crowd(), "mv")
    codes = np.arange(5)
    square = compare_pairs(result, codes[:, None], codes)
    for values in vars(square).values():
        np.testing.assert_allclose(values, values.T)
    row = compare_pairs(result, 0, codes)
    np.testing.assert_allclose(row.expected_same_wrong, square.expected_same_wrong[0])
    np.testing.assert_array_equal(square.select((0, slice(None))).n_same, row.n_same)


def test_good_workers_are_expected_to_agree_and_guessers_are_not() -> None:
    crowd = simulate(items=2000, workers=12, classes=4, labels_per_item=6, spammers=0.5, seed=4)
    result = fit(crowd.data, "ds")
    good = np.flatnonzero(np.isin(crowd.character, ["good", "expert"]))[:2]
    blind = np.flatnonzero(np.array(crowd.character) == "random")[:2]
    agreement = compare_pairs(result, [good[0], blind[0]], [good[1], blind[1]])
    assert agreement.expected_share[0] > 0.6
    assert agreement.expected_share[1] == pytest.approx(0.25, abs=0.06)
    assert agreement.blind_share == pytest.approx([0.25, 0.25], abs=0.06)
    np.testing.assert_allclose(agreement.share, agreement.expected_share, atol=0.08)
    assert not agreement.beyond_luck(2).any()


@pytest.mark.parametrize("method", ["mv", "ds"])
def test_copiers_stand_out_and_honest_workers_do_not(method: str) -> None:
    crowd = simulate(
        items=1200, workers=30, classes=4, labels_per_item=6, copiers=0.2, features=0, seed=1
    )
    compared = crowd_pairs(fit(crowd.data, method))
    source = np.where(crowd.copied_from >= 0, crowd.copied_from, np.arange(30))
    copies = source[compared.first] == source[compared.second]
    assert copies[compared.beyond_luck].all()
    assert compared.beyond_luck.sum() >= copies.sum() / 2
    assert (np.diff(compared.agreement.p_value) >= 0).all()
    assert (compared.agreement.n_shared >= MIN_SHARED_ITEMS).all()
    assert (compared.first < compared.second).all()


@pytest.mark.parametrize("method", ["mv", "ds"])
def test_hard_items_alone_hardly_make_anyone_a_copier(method: str) -> None:
    crowd = simulate(
        items=900, workers=25, classes=3, labels_per_item=6, hard_items=0.3, features=0, seed=2
    )
    compared = crowd_pairs(fit(crowd.data, method))
    assert len(compared.first) > 290
    assert compared.beyond_luck.sum() <= 1


def test_the_more_pairs_are_compared_the_more_it_takes_to_stand_out() -> None:
    result = fit(crowd(), "mv")
    p, q = (result.data.workers.index(name) for name in "pq")
    agreement = compare_pairs(result, [p], [q])
    assert 0 < agreement.p_value[0] < 1
    assert not agreement.beyond_luck(10**9)[0]


def test_few_shared_items_say_nothing() -> None:
    triples = [
        (f"i{i}", worker, "ab"[i % 2]) for i in range(MIN_SHARED_ITEMS - 1) for worker in "xy"
    ]
    result = fit(CrowdData.from_triples(triples), "mv")
    agreement = compare_pairs(result, [0], [1])
    assert np.isnan(agreement.excess[0])
    assert not agreement.beyond_luck(1)[0]
    assert len(crowd_pairs(result).first) == 0


def test_undecided_items_are_no_evidence() -> None:
    result = fit(crowd(), "mv")
    truth = result.truth.copy()
    truth[:6] = UNKNOWN
    agreement = compare_pairs(result.with_fields(truth=truth), [0], [1])
    assert agreement.n_shared.tolist() == [4]
    nothing = compare_pairs(result.with_fields(truth=np.full_like(truth, UNKNOWN)), [0], [1])
    assert nothing.n_shared.tolist() == [0]
    assert nothing.p_value.tolist() == [1.0]


def test_in_a_huge_crowd_only_the_busiest_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    result = fit(simulate(items=300, workers=40, labels_per_item=5, seed=0).data, "mv")
    monkeypatch.setattr(pairs, "MAX_LABEL_PAIRS", 1500)
    compared = crowd_pairs(result)
    assert compared.n_workers < 40
    busiest = np.argsort(-result.data.labels_per_worker, kind="stable")[: compared.n_workers]
    assert set(compared.first.tolist()) | set(compared.second.tolist()) <= set(busiest.tolist())


def test_shared_items_put_same_wrong_labels_first() -> None:
    result = fit(crowd(), "mv")
    x, p, q = (result.data.workers.index(name) for name in "xpq")
    table = shared_items(result, p, q)
    assert table["wrong"].tolist() == [True] * 4 + [False] * 6
    assert table["same"].all()
    assert sorted(table["item"][:4]) == [0, 1, 2, 3]
    mixed = shared_items(result, x, p)
    assert mixed["same"].tolist() == [True] * 6 + [False] * 4
    assert (mixed["first"] == mixed["truth"]).all()


def test_workers_without_a_shared_item_share_an_empty_table() -> None:
    result = fit(CrowdData.from_triples([("i", "x", "a"), ("j", "y", "b")]), "mv")
    assert shared_items(result, 0, 1).empty
