from __future__ import annotations

import numpy as np
import pytest

from crowdcore.audit.judging import labels
from crowdcore.audit.judging.labels import JudgedLabels
from crowdcore.data import CrowdData
from tests.crowds import golden_crowd


def test_sums_by_worker_in_blocks_of_items_are_those_of_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = golden_crowd()
    table = np.random.default_rng(0).random((data.n_items, 3))
    whole = JudgedLabels.from_data(data).by_given @ table
    monkeypatch.setattr(labels, "ITEMS_PER_BLOCK", 7)
    in_blocks = JudgedLabels.from_data(data).by_given
    assert not hasattr(in_blocks, "indptr")
    np.testing.assert_allclose(in_blocks @ table, whole, atol=1e-12)


def test_the_last_of_a_workers_labels_of_an_item_counts() -> None:
    triples = [("i", "a", "x"), ("i", "b", "x"), ("j", "a", "x"), ("i", "a", "y"), ("i", "a", "z")]
    judged = JudgedLabels.from_data(CrowdData.from_triples(triples))
    assert judged.row.tolist() == [2, 4, 1]
    assert judged.worker.tolist() == [0, 0, 1]
