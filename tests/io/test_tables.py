"""Results and data as tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from crowdcore.data import UNKNOWN, CrowdData
from crowdcore.io import labels_table, truths_table
from crowdcore.result import Provenance, Result

DATA = CrowdData.from_triples([("i1", "w1", "a"), ("i1", "w2", "b"), ("i2", "w1", "b")])


def result(**changes: Any) -> Result:
    provenance = Provenance(
        method="mv",
        title="Majority vote",
        params={},
        seed=0,
        device="cpu",
        seconds=0.0,
        steps=0,
        converged=None,
        created="",
        version="0",
        torch="0",
        data="",
    )
    made = Result(
        data=DATA,
        posterior=np.array([[0.5, 0.5], [0.25, 0.75]]),
        truth=np.array([UNKNOWN, 1], np.int32),
        tied=np.array([True, False]),
        confusion=None,
        worker_scores={},
        item_scores={},
        artefacts={},
        history=[],
        provenance=provenance,
    )
    return replace(made, **changes)


def test_truths_have_one_row_an_item() -> None:
    table = truths_table(result())
    assert table.columns.tolist() == [
        "item",
        "truth",
        "confidence",
        "n_labels",
        "tied",
        "p:a",
        "p:b",
    ]
    assert table["item"].tolist() == ["i1", "i2"]
    assert table["truth"].tolist() == ["", "b"]
    assert table["confidence"].tolist() == [0.5, 0.75]
    assert table["n_labels"].tolist() == [2, 1]
    assert table["tied"].tolist() == [True, False]
    assert table["p:b"].tolist() == [0.5, 0.75]


def test_what_a_method_tells_of_items_stands_beside_their_truths() -> None:
    table = truths_table(result(item_scores={"difficulty": np.array([0.2, 3.0])}))
    assert table.columns.tolist()[-3:] == ["difficulty", "p:a", "p:b"]
    assert table["difficulty"].tolist() == [0.2, 3.0]


def test_a_result_gives_its_truths() -> None:
    assert result().truths().equals(truths_table(result()))


def test_labels_have_names() -> None:
    table = labels_table(DATA)
    assert table.astype(str).to_numpy().tolist() == [
        ["i1", "w1", "a"],
        ["i1", "w2", "b"],
        ["i2", "w1", "b"],
    ]


def test_ratings_stay_numbers() -> None:
    data = CrowdData(
        item=np.array([0, 0]),
        worker=np.array([0, 1]),
        label=np.array([1.5, 2.0]),
        items=("i",),
        workers=("v", "w"),
        kind="ratings",
    )
    assert labels_table(data)["label"].tolist() == [1.5, 2.0]
