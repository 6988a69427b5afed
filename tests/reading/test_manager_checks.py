"""Checks that somebody who runs a project would make by hand."""

from __future__ import annotations

import random

import pytest

from crowdcore.data import CrowdData
from crowdcore.reading import read_labels
from crowdcore.reading.findings import Finding
from tests.reading.tables import table

_RNG = random.Random(3)
ROWS = [
    (f"t{item}", f"w{worker}", "cat" if _RNG.random() < 0.6 else _RNG.choice(("dog", "cow")))
    for item in range(60)
    for worker in range(4)
]


def finding(data: CrowdData, id: str) -> Finding:
    found = data.report.finding(id)
    assert isinstance(found, Finding)
    return found


IDS = ("rare_classes", "date_labels", "own_answers", "similar_items", "similar_workers",
       "twin_workers", "extra_rows")  # fmt: skip


@pytest.mark.parametrize("id", IDS)
def test_a_plain_file_raises_no_such_doubt(id: str) -> None:
    found = read_labels(table(ROWS)).report.finding(id)
    assert found is None or found.count == 0


def test_a_class_that_comes_once_or_twice_is_told() -> None:
    rows = [*ROWS, ("t1", "w9", "horse"), ("t2", "w9", "goat"), ("t3", "w9", "goat")]
    assert finding(read_labels(table(rows)), "rare_classes").count == 2


def test_swapped_letters_are_a_slip() -> None:
    rows = [(item, worker, "positive" if label == "cat" else label) for item, worker, label in ROWS]
    found = finding(read_labels(table([*rows, ("t1", "w9", "postiive")])), "spellings")
    assert found.option == {"spellings": {"postiive": "positive"}}


def test_dates_among_the_labels_are_told() -> None:
    rows = [*ROWS, ("t1", "w9", "2-Jan"), ("t2", "w9", "2024-01-02")]
    assert finding(read_labels(table(rows)), "date_labels").count == 2


def test_a_column_of_remarks_among_the_workers_is_told() -> None:
    rows = [*ROWS, *((f"t{n}", "remarks", f"I am not sure {n}") for n in range(20))]
    assert (
        finding(read_labels(table(rows)), "own_answers")
        .examples[0]
        .startswith("worker 'remarks': 20")
    )


def test_ids_that_differ_by_case_or_blanks_are_told() -> None:
    rows = [*ROWS, ("T1", "w1", "cat"), ("t 2", "W1", "cat")]
    data = read_labels(table(rows))
    assert finding(data, "similar_items").count == 4
    assert finding(data, "similar_workers").count == 2


def test_a_worker_with_two_names_is_told_by_the_same_answers_at_the_same_times() -> None:
    rows = [(*row, f"2024-01-01T10:{n // 60:02d}:{n % 60:02d}Z") for n, row in enumerate(ROWS)]
    again = [(item, "ann", label, time) for item, worker, label, time in rows if worker == "w2"]
    header = ("task", "worker", "label", "time")
    found = finding(read_labels(table([*rows, *again], header)), "twin_workers")
    assert found.count == 2
    assert "'w2'" in found.examples[0]
    assert "the same times" in found.examples[0]
    later = [(item, who, label, time.replace("T10", "T11")) for item, who, label, time in again]
    assert finding(read_labels(table([*rows, *later], header)), "twin_workers").count == 0


def test_without_times_only_answers_that_nobody_else_gave_tell_two_names() -> None:
    own = [(f"t{n}", who, "bird" if n % 8 == 0 else "cat") for who in ("x", "y") for n in range(40)]
    assert finding(read_labels(table([*ROWS, *own])), "twin_workers").count == 2
    same = [(item, who, label) for who in "xy" for item, worker, label in ROWS if worker == "w1"]
    agreed = [(item, worker, "cat") for item, worker, _ in [*ROWS, *same]]
    assert finding(read_labels(table(agreed)), "twin_workers").count == 0


def test_totals_and_repeated_headers_are_left_out_and_told() -> None:
    lines = ["item,rater1,rater2,rater3"] + [f"i{n},{n % 2},{n % 2},{n % 3 % 2}" for n in range(20)]
    text = "\n".join([*lines[:10], lines[0], *lines[10:], "Total,10,10,7", ""])
    data = read_labels(text.encode())
    assert (data.n_items, data.n_labels) == (20, 60)
    found = finding(data, "extra_rows")
    assert found.count == 2
    assert found.examples[0].startswith("line 11")
