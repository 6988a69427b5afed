"""Gold as a column or as a file of its own."""

from __future__ import annotations

import pytest

from crowdcore.data import DataError
from crowdcore.reading import Cleaning, read_labels
from tests.reading.tables import HEADER, ROWS, finding, gold, table


def with_gold(*answers: str) -> bytes:
    rows = [(*row, answer) for row, answer in zip(ROWS, answers, strict=True)]
    return table(rows, (*HEADER, "gold"))


def test_a_gold_column_is_read_and_blank_is_unknown() -> None:
    data = read_labels(with_gold("", "cat", "", ""))
    assert gold(data) == {"t1": "cat"}
    assert data.n_gold == 1


def test_a_gold_column_of_a_wide_table_is_read() -> None:
    data = read_labels(b"item,a,b,c,truth\nx,1,2,2,2\ny,1,1,2,\nz,2,2,1,1\n")
    assert data.workers == ("a", "b", "c")
    assert gold(data) == {"x": "2", "z": "1"}


@pytest.mark.parametrize(
    "file",
    [
        b"task,label\nt2,dog\n",
        b"question;truth\nt2;dog\n",
        b"answer,item\ndog,t2\n",
        b"foo,bar\nt2,dog\n",
        b"item,gold,remark\nt2,dog,sure\n",
        b"t2\tdog\nt2\tdog\n",
        b'{"t2": "dog"}',
        b'[{"task": "t2", "answer": "dog"}]',
        b"id,ground_truth\n t2 ,dog\n",
    ],
)
def test_a_gold_file_is_read_under_any_usual_names(file: bytes) -> None:
    assert gold(read_labels(table(), gold=file)) == {"t2": "dog"}


def test_a_gold_file_takes_the_place_of_a_gold_column() -> None:
    data = read_labels(with_gold("cat", "", "", ""), gold=b"task,label\nt2,dog\n")
    assert gold(data) == {"t2": "dog"}


def test_several_answers_for_one_item_are_told_and_the_first_is_kept() -> None:
    data = read_labels(with_gold("cat", "dog", "cat", ""))
    assert gold(data) == {"t1": "cat", "t2": "cat"}
    found = finding(data, "gold_conflicts")
    assert (found.count, found.severity) == (1, "warning")
    assert found.examples == ("item 't1': 'cat', then 'dog' (line 3)",)
    agreed = read_labels(with_gold("cat", "cat", "cat", ""))
    assert finding(agreed, "gold_conflicts").severity == "ok"


def test_gold_of_unlabelled_items_is_told_and_left_out() -> None:
    data = read_labels(table(), gold=b"task,label\nt2,dog\nt9,bird\n")
    assert data.classes == ("cat", "dog"), "a class of gold that is left out is no class"
    assert finding(data, "gold_without_labels").examples == ("item 't9'",)
    data = read_labels(table(), gold=b"task,label\nt2,dog\n")
    assert finding(data, "gold_without_labels").severity == "ok"


def test_a_gold_answer_that_nobody_gave_is_a_class_and_a_warning() -> None:
    data = read_labels(table(), gold=b"task,label\nt2,bird\n")
    assert data.classes == ("bird", "cat", "dog")
    assert finding(data, "gold_only_classes").examples == ("'bird'",)
    data = read_labels(table(), gold=b"task,label\nt2,dog\n")
    assert finding(data, "gold_only_classes").severity == "ok"


def test_spellings_and_missing_marks_apply_to_gold() -> None:
    cleaning = Cleaning(spellings={"DOG": "dog"}, missing=("NA",))
    data = read_labels(table(), gold=b"task,label\nt1,NA\nt2,DOG\n", cleaning=cleaning)
    assert gold(data) == {"t2": "dog"}


def test_without_gold_there_is_no_finding_about_it() -> None:
    data = read_labels(table())
    assert data.gold is None
    assert data.report.finding("gold_only_classes") is None


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (b"task,label\nx,dog\n", "No item in gold has a label; gold has 'x', the labels 't1'"),
        (b"task\nt1\n", "one column only"),
        (b"task,a,b\nt1,dog,cat\n", "gold, truth, answer or label"),
        (b'[{"task": "t1"}]', "one column only"),
        (b"", "empty"),
    ],
)
def test_a_gold_file_that_cannot_be_used_is_refused(file: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read_labels(table(), gold=file, gold_name="gold.csv")
    assert caught.value.file == "gold.csv"


def test_gold_cannot_be_a_column_where_rows_are_workers() -> None:
    source = b"rater,q1,q2,q3,gold\nann,y,n,y,y\nbo,n,n,y,n\n"
    with pytest.raises(DataError, match="file of its own"):
        read_labels(source)
