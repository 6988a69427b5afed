"""Labels come out of long and wide tables as they stand in the file."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import crowdcore
from crowdcore.data import CrowdData, DataError
from crowdcore.reading import Cleaning, HealthReport, guess_roles, open_table, read_labels
from crowdcore.reading.columns import guess
from tests.reading.tables import HEADER, ROWS, finding, table, triples

WIDE = b"item,text,ann,bo,cy\ni1,nice,pos,pos,\ni2,bad,neg,,neu\ni3,odd,,,\n"


def test_a_long_table_becomes_labels_in_order_of_appearance() -> None:
    data = read_labels(table())
    assert data.items == ("t1", "t2")
    assert data.workers == ("w1", "w2")
    assert data.classes == ("cat", "dog")
    assert [data.items[item] for item in data.item] == [row[0] for row in ROWS]
    assert triples(data).keys() == set(ROWS)
    assert data.kind == "classes"


def test_the_public_name_is_the_reader() -> None:
    assert crowdcore.read_labels is read_labels


def test_classes_stand_in_their_natural_order() -> None:
    rows = [("t1", f"w{n}", label) for n, label in enumerate(["10", "9", "b", "a", "-1"])]
    assert read_labels(table(rows)).classes == ("-1", "9", "10", "a", "b")


def test_texts_that_look_like_nothing_are_labels() -> None:
    rows = [("007", "w1", "NA"), ("007", "w2", "None"), ("7", "w1", "nan")]
    data = read_labels(table(rows))
    assert data.items == ("007", "7")
    assert data.classes == ("NA", "None", "nan")


def test_a_wide_table_becomes_labels_and_blank_cells_do_not() -> None:
    data = read_labels(WIDE)
    assert triples(data).keys() == {
        ("i1", "ann", "pos"),
        ("i1", "bo", "pos"),
        ("i2", "ann", "neg"),
        ("i2", "cy", "neu"),
    }
    assert data.items == ("i1", "i2", "i3")
    assert data.details == {"text": ("nice", "bad", "odd")}


def test_a_wide_table_may_have_workers_in_rows() -> None:
    data = read_labels(b"rater,q1,q2,q3\nann,y,n,y\nbo,n,n,\n")
    assert data.items == ("q1", "q2", "q3")
    assert data.workers == ("ann", "bo")
    assert ("q1", "bo", "n") in triples(data)


def test_a_matrix_without_names_is_read_with_numbers() -> None:
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 3, (30, 4))
    source = "".join(",".join(map(str, row)) + "\n" for row in cells)
    data = read_labels(source.encode())
    assert data.items == tuple(str(number) for number in range(1, 31))
    assert data.n_labels == 120


def test_peerannots_answers_are_read() -> None:
    data = read_labels(b'{"0": {"w1": 2, "w7": 2}, "1": {"w3": 0}}')
    assert triples(data).keys() == {("0", "w1", "2"), ("0", "w7", "2"), ("1", "w3", "0")}


def test_a_table_is_not_parsed_twice() -> None:
    parsed = open_table(table(), name="labels.csv")
    assert read_labels(parsed).report.source == "labels.csv"


def test_details_come_from_the_first_row_of_an_item() -> None:
    rows = [(*row, f"{row[0]} said {row[1]}") for row in ROWS]
    data = read_labels(table(rows, (*HEADER, "text")), roles={"details": ["text"]})
    assert data.details == {"text": ("t1 said w1", "t2 said w1")}
    assert finding(data, "details_vary").count == 1
    same = [(*row, row[0]) for row in ROWS]
    data = read_labels(table(same, (*HEADER, "text")), roles={"details": ["text"]})
    assert finding(data, "details_vary").severity == "ok"


@pytest.mark.parametrize(
    ("cell", "seconds"),
    [
        ("2024-03-09T22:16:08Z", 1_710_022_568),
        ("2024-03-09T22:16:08.5", 1_710_022_568.5),
        ("2024-03-09 23:16:08+01:00", 1_710_022_568),
        ("2024-03-09 22:16:08 UTC", 1_710_022_568),
        ("3/9/2024 22:16:08", 1_710_022_568),
        ("Sat Mar 09 14:16:08 PST 2024", 1_710_022_568),
        ("1710022568", 1_710_022_568),
        ("1710022568000", 1_710_022_568),
    ],
)
def test_times_of_many_forms_are_read(cell: str, seconds: float) -> None:
    rows = [(*row, cell) for row in ROWS]
    data = read_labels(table(rows, (*HEADER, "timestamp")))
    assert data.time is not None
    assert data.time.tolist() == [seconds] * 4
    assert finding(data, "times").severity == "ok"


def test_times_that_cannot_be_read_are_counted_and_the_labels_kept() -> None:
    times = ["2024-02-29T10:00:00", "2023-02-29T10:00:00", "", "soon"]
    rows = [(*row, time) for row, time in zip(ROWS, times, strict=True)]
    data = read_labels(table(rows, (*HEADER, "timestamp")))
    assert data.time is not None
    assert np.isfinite(data.time).tolist() == [True, False, False, False]
    assert finding(data, "times").count == 2
    assert "line 3: '2023-02-29T10:00:00'" in finding(data, "times").examples


def test_seconds_of_work_are_durations_and_no_times() -> None:
    data = read_labels(table([(*row, "12.5") for row in ROWS], (*HEADER, "time")))
    assert data.time is None
    assert data.duration is not None
    assert data.duration.tolist() == [12.5] * 4


def test_a_file_whose_every_label_is_empty_is_refused() -> None:
    with pytest.raises(DataError, match="No label is left"):
        read_labels(table([("t1", "w1", ""), ("t2", "w1", " ")]))


def test_the_report_is_stored_with_the_data_and_survives_json() -> None:
    report = read_labels(WIDE, name="wide.csv").report
    assert (report.source, report.n_rows, report.n_labels) == ("wide.csv", 3, 4)
    assert (report.n_items, report.n_workers, report.n_classes) == (3, 3, 3)
    assert HealthReport.from_json(json.loads(json.dumps(report.to_json()))) == report


def test_options_of_findings_add_up() -> None:
    cleaning = Cleaning(spellings={"a": "b"}, missing=("NA",))
    cleaning = cleaning.with_option({"spellings": {"c": "d"}, "missing": ["-", "NA"]})
    assert cleaning == Cleaning(spellings={"a": "b", "c": "d"}, missing=("NA", "-"))


def test_cleaning_that_cannot_be_is_refused() -> None:
    with pytest.raises(DataError, match="Choose one of all, last, first, drop"):
        Cleaning(contradictions="some")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="no cleaning option 'colour'"):
        Cleaning().with_option({"colour": "red"})


def test_reading_needs_neither_pandas_nor_torch_and_importing_nothing_heavy() -> None:
    code = (
        "import sys, crowdcore.reading\n"
        "heavy = {'pandas', 'pyarrow', 'scipy', 'torch'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "crowdcore.reading.read_labels(b'task,worker,label\\nt,w,a\\nt,v,b\\n')\n"
        "assert not {'pandas', 'sklearn', 'torch'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_roles_are_guessed_only_where_they_are_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = open_table(table())
    found = guess_roles(parsed)
    monkeypatch.setattr(guess, "guess_roles", lambda _: pytest.fail("guessed once more"))
    data = read_labels(parsed, roles=found)
    assert (data.report.roles, data.report.reasons) == (found.roles, found.reasons)
    data = read_labels(parsed, roles=found.roles)
    assert data.report.reasons["item"] == "'task' was chosen by hand."


def test_a_guess_of_another_table_is_refused() -> None:
    found = guess_roles(open_table(table(header=("a", "b", "c"))))
    with pytest.raises(DataError, match="not in the file"):
        read_labels(table(), roles=found)


def test_labels_are_put_together_and_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[CrowdData] = []
    monkeypatch.setattr(crowdcore.data, "check_data", checked.append)
    data = read_labels(table(), gold=b"task,label\nt2,dog\n", features=b"task,a\nt2,1\n")
    assert len(checked) == 1
    assert checked[0] is data


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (b"task,worker,label\nt1,w1,a\nt1,w2," + b"x" * 100_001, "The label of line 3 has 100,001"),
        (b"task,worker,label\nt1,w1,a\n" + b"x" * 100_001 + b",w2,a", "The item of line 3"),
    ],
)
def test_a_cell_that_is_too_long_for_a_name_is_refused(source: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_labels(source)
