"""Results and data as tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from crowdcore.data import UNKNOWN, CrowdData
from crowdcore.export.columns import TableColumn, build_table, score_columns
from crowdcore.export.tables import TRUTH_COLUMNS, items, labels, predictions
from crowdcore.results.classes import ClassResult
from crowdcore.results.result import Provenance, Result

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
    made = ClassResult(
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


def test_truths_have_one_row_per_item() -> None:
    table = items(result())
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
    table = items(result(item_scores={"difficulty": np.array([0.2, 3.0])}))
    assert table.columns.tolist()[-3:] == ["score:difficulty", "p:a", "p:b"]
    assert table["score:difficulty"].tolist() == [0.2, 3.0]


def test_a_score_never_takes_the_place_of_a_column() -> None:
    table = items(result(item_scores={"confidence": np.array([7.0, 8.0])}))
    assert table["confidence"].tolist() == [0.5, 0.75]
    assert table["score:confidence"].tolist() == [7, 8]


def test_a_result_gives_its_truths() -> None:
    assert result().truths().equals(items(result()))


def test_labels_have_names() -> None:
    table = labels(DATA)
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
    assert labels(data)["label"].tolist() == [1.5, 2.0]


def test_items_of_a_data_set_have_gold_details_and_counts() -> None:
    data = replace(
        DATA, gold=np.array([1, UNKNOWN]), details={"text": ("x", "y"), "gold": ("rich", "poor")}
    )
    table = items(data)
    assert table.columns.tolist() == ["item", "gold", "text", "gold (detail)", "n_labels"]
    assert table["gold"].tolist() == ["b", ""]
    assert table["gold (detail)"].tolist() == ["rich", "poor"]
    assert table["n_labels"].tolist() == [2, 1]
    assert items(DATA)["gold"].tolist() == ["", ""]


def test_labels_beside_a_result_have_the_truth_of_their_item_and_whether_they_agree() -> None:
    table = labels(result(data=replace(DATA, time=np.array([1.0, 2.0, np.nan]))))
    assert table.columns.tolist()[3:] == ["truth", "confidence", "agrees", "time"]
    assert table["truth"].astype(str).tolist() == ["", "", "b"]
    assert table["confidence"].tolist() == [0.5, 0.5, 0.75]
    assert table["agrees"].tolist() == [False, False, True]
    assert table["time"].tolist()[:2] == [1, 2]


def test_labels_of_workers_who_were_left_out_are_not_in_the_table() -> None:
    table = labels(result(data=DATA.without_workers(["w2"])))
    assert table["worker"].astype(str).tolist() == ["w1", "w1"]


def test_an_empty_class_name_does_not_hide_what_is_undecided() -> None:
    data = CrowdData.from_triples([("i1", "w1", ""), ("i2", "w1", "b")])
    table = labels(result(data=data))
    assert table["truth"].astype(str).tolist() == ["", "b"]


def test_predictions_have_the_columns_of_truths() -> None:
    table = predictions(("n1", "n2"), ("a", "b"), np.array([[0.9, 0.1], [0.2, 0.8]]))
    assert table.columns.tolist() == ["item", "truth", "confidence", "p:a", "p:b"]
    assert table["truth"].tolist() == ["a", "b"]
    assert table["confidence"].tolist() == [0.9, 0.8]
    assert all(any(column.covers(name) for column in TRUTH_COLUMNS) for name in table.columns)


def test_a_column_is_added_by_one_entry() -> None:
    length = TableColumn(
        name="length", title="Length", help="Signs of its name.", unit="score", values=_lengths
    )
    table = build_table((*TRUTH_COLUMNS[:1], length), result())
    assert table["length"].tolist() == [2, 2]


def _lengths(source: Result) -> list[int]:
    return [len(name) for name in source.data.items]


def test_scores_are_found_with_their_prefix_and_in_earlier_files_without() -> None:
    new = ["item", "truth", "score:p:odd", "score:difficulty", "p:a", "remark"]
    assert score_columns(new, TRUTH_COLUMNS) == {
        "score:p:odd": "p:odd",
        "score:difficulty": "difficulty",
    }
    old = ["item", "truth", "confidence", "difficulty", "p:a"]
    assert score_columns(old, TRUTH_COLUMNS) == {"difficulty": "difficulty"}
