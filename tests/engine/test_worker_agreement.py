"""Pairs of workers against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from crowdcore.data import CrowdData, DataError
from crowdcore.engine import worker_agreement
from tests.crowds import golden_crowd


def test_common_items_and_agreements_are_counted_for_every_pair() -> None:
    data = golden_crowd()
    given_by: list[dict[int, int]] = [{} for _ in data.workers]
    for item, worker, label in zip(data.item, data.worker, data.label, strict=True):
        given_by[worker][int(item)] = int(label)
    pairs = worker_agreement.compare_workers(data)
    assert len(pairs.first) > 20
    for first, second, common, skill in zip(
        pairs.first, pairs.second, pairs.common, pairs.skill, strict=True
    ):
        both = given_by[first].keys() & given_by[second].keys()
        agree = sum(given_by[first][item] == given_by[second][item] for item in both)
        assert common == len(both)
        assert skill == pytest.approx((agree / len(both) - 1 / 3) / (2 / 3))


def test_trimmed_mean_leaves_out_extremes_beyond_the_own_value() -> None:
    triples = [("i", f"w{w}", "a") for w in range(9)] + [("j", "w0", "b")]
    pairs = worker_agreement.compare_workers(CrowdData.from_triples(triples))
    skill = np.full(9, 0.5)
    ratio = np.full(len(pairs.first), 0.6)
    ratio[:2] = [100.0, -100.0]  # two liars beside the first worker
    assert worker_agreement.trimmed_mean(pairs, ratio, skill, trim=0.0)[0] == pytest.approx(0.45)
    assert worker_agreement.trimmed_mean(pairs, ratio, skill, trim=0.25)[0] == pytest.approx(0.6)


def test_workers_below_chance_get_a_minus() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 200)
    liars = {1, 4}
    triples = [
        (i, f"w{w}", int(truth[i]) ^ int(w in liars) ^ int(rng.random() < 0.2))
        for i in range(200)
        for w in range(7)
    ]
    data = CrowdData.from_triples(triples)
    signs = worker_agreement.skill_signs(
        worker_agreement.compare_workers(data), data.labels_per_worker
    )
    assert np.flatnonzero(signs < 0).tolist() == sorted(liars)


def test_too_many_pairs_are_refused_before_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_agreement, "MAX_PAIRS", 10)
    with pytest.raises(DataError, match="at most 10"):
        worker_agreement.compare_workers(golden_crowd())
