"""Exports of platforms are recognised by their headers."""

from __future__ import annotations

import numpy as np
import pytest

from crowdcore.data import DataError
from crowdcore.reading import Cleaning, read_labels
from crowdcore.reading.columns.platforms import find_platform, platforms
from tests.reading.tables import finding, gold, triples

MTURK = """\
"HITId","Title","AssignmentId","WorkerId","AssignmentStatus","SubmitTime","Input.url",\
"Answer.category.label","Approve"
"H1","Pets","A1","W1","Approved","Wed Jan 24 09:48:31 PST 2024","http://x/1.jpg","cat",""
"H1","Pets","A2","W2","Submitted","Wed Jan 24 09:50:05 PST 2024","http://x/1.jpg","dog",""
"H2","Pets","A3","W2","Rejected","Wed Jul 24 09:50:05 PDT 2024","http://x/2.jpg","dog",""
"""
TOLOKA = """\
INPUT:image\tOUTPUT:result\tGOLDEN:result\tHINT:text\tASSIGNMENT:worker_id\tASSIGNMENT:status\
\tASSIGNMENT:started
http://x/1.jpg\tcat\t\t\tw7\tAPPROVED\t2024-02-01T10:00:00.1
http://x/1.jpg\tdog\t\t\tw9\tAPPROVED\t2024-02-01T10:00:09.4

http://x/9.jpg\tcat\tcat\t\tw7\tAPPROVED\t2024-02-01T10:00:00.1
"""
APPEN = """\
_unit_id,_created_at,_golden,_tainted,_trust,_worker_id,_ip,sentiment,text,sentiment_gold
150,2/25/2015 05:24:10,false,false,0.9,17,10.0.0.1,positive,"nice flight",
151,2/25/2015 05:24:40,true,false,0.7,99,10.0.0.2,neutral,"lost my bag",negative
151,2/25/2015 05:24:41,true,true,0.7,17,10.0.0.1,neutral,"lost my bag",negative
"""
LABEL_STUDIO = """\
"annotation_id","annotator","created_at","id","lead_time","sentiment","text","updated_at"
101,"ann@x.org","2024-03-09T22:16:08Z",1,4.2,"positive","nice flight","2024-03-09T22:16:08Z"
102,"bo@x.org","2024-03-09T22:18:00Z",1,9.0,"neutral","nice flight","2024-03-09T22:18:00Z"
103,"bo@x.org","2024-03-09T22:19:00Z",1,9.0,"positive","nice flight","2024-03-09T22:12:00Z"
"""
ZOONIVERSE = """\
classification_id,user_name,user_ip,created_at,annotations,subject_ids
61,ann,ddf0,2025-01-21 16:08:41 UTC,"[{""task"":""T0"",""value"":""Cat""}]",9001
62,bo,ddf1,2025-01-21 16:08:42 UTC,"[{""task"":""T0"",""value"":""Dog""}]",9001
63,cy,ddf1,2025-01-21 16:08:42 UTC,"[{""task"":""T0"",""value"":null}]",9001
"""


def test_mechanical_turk_leaves_out_rejected_assignments_and_says_so() -> None:
    data = read_labels(MTURK.encode())
    assert set(triples(data)) == {("H1", "W1", "cat"), ("H1", "W2", "dog")}
    assert data.details["Input.url"] == ("http://x/1.jpg", "http://x/2.jpg")
    assert finding(data, "rejected").count == 1
    assert finding(data, "rejected").done
    assert "Mechanical Turk" in data.report.reasons["file"]


def test_rejected_rows_may_be_kept() -> None:
    data = read_labels(MTURK.encode(), cleaning=Cleaning(rejected="keep"))
    assert data.n_labels == 3
    assert not finding(data, "rejected").done
    assert data.time is not None
    summer = data.time[2] - data.time[1]
    assert summer == (
        np.datetime64("2024-07-24T16:50:05") - np.datetime64("2024-01-24T17:50:05")
    ) / np.timedelta64(1, "s")


def test_mechanical_turk_with_several_answers_lists_them_as_questions() -> None:
    source = (
        MTURK.replace('"Answer.category.label"', '"Answer.a","Answer.b"')
        .replace('"cat",""', '"cat","x",""')
        .replace('"dog",""', '"dog","y",""')
    )
    data = read_labels(source.encode())
    assert data.report.roles.label == "Answer.a"
    assert "Answer.b" in finding(data, "questions").examples[0]


def test_toloka_has_gold_and_blank_lines() -> None:
    data = read_labels(TOLOKA.encode())
    assert data.items == ("http://x/1.jpg", "http://x/9.jpg")
    assert gold(data) == {"http://x/9.jpg": "cat"}
    assert data.time is not None


def test_toloka_takes_the_task_id_where_there_is_one() -> None:
    lines = TOLOKA.replace("\n\n", "\n").splitlines()
    ids = ["ASSIGNMENT:task_id", "a", "a", "b"]
    source = "\n".join(f"{line}\t{id}" for line, id in zip(lines, ids, strict=True))
    assert read_labels(source.encode()).items == ("a", "b")


def test_appen_leaves_out_tainted_rows_and_addresses() -> None:
    data = read_labels(APPEN.encode())
    assert set(triples(data)) == {("150", "17", "positive"), ("151", "99", "neutral")}
    assert gold(data) == {"151": "negative"}
    assert set(data.details) == {"text"}
    assert "_ip seems to hold IP addresses" in finding(data, "personal").examples


def test_label_studio_keeps_the_latest_annotation() -> None:
    data = read_labels(LABEL_STUDIO.encode())
    assert set(triples(data)) == {("1", "ann@x.org", "positive"), ("1", "bo@x.org", "neutral")}
    assert "by time" in finding(data, "contradictions").done
    assert data.details == {"text": ("nice flight",)}


def test_label_studio_json_min_is_read() -> None:
    record = (
        '{"text":"nice flight","id":%d,"sentiment":"%s","annotator":%d,"annotation_id":1,'
        '"created_at":"","updated_at":"","lead_time":4.2}'
    )
    records = ",".join(record % row for row in [(1, "good", 3), (1, "bad", 4), (2, "bad", 3)])
    data = read_labels(f"[{records}]".encode())
    assert set(triples(data)) == {("1", "3", "good"), ("1", "4", "bad"), ("2", "3", "bad")}


def test_zooniverse_answers_are_taken_out_of_their_cells() -> None:
    data = read_labels(ZOONIVERSE.encode())
    assert set(triples(data)) == {("9001", "ann", "Cat"), ("9001", "bo", "Dog")}
    assert finding(data, "empty_labels").count == 1
    assert data.time is not None
    assert data.time[1] - data.time[0] == 1


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (b"Submission id,Participant id,Status\na,b,c\nd,e,f\n", "what they answered"),
        (b"_unit_id,_trusted_judgments,answer\n1,5,yes\n2,5,no\n", "full report"),
        (b"INPUT:a\tOUTPUT:r\tCONFIDENCE:r\nx\tyes\t90%\ny\tno\t80%\n", "assignments"),
    ],
)
def test_exports_without_a_table_of_labels_are_refused_with_advice(
    source: bytes, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        read_labels(source)


def test_a_refused_file_is_read_where_the_roles_are_named() -> None:
    data = read_labels(
        b"worker,left,right,label\nw1,a,b,a\nw2,a,b,b\n",
        roles={"item": "left", "worker": "worker", "label": "label"},
    )
    assert data.items == ("a",)


def test_every_platform_can_be_found_and_either_reads_or_refuses() -> None:
    for platform in platforms():
        assert find_platform(platform.headers) is platform
        assert (platform.hints is None) == bool(platform.refusal and platform.seems)


def test_test_questions_of_a_platform_are_counted_and_kept() -> None:
    rows = [
        f"{600 + i},{7000 + 9 * i + w},{'true' if i < 2 else 'false'},false,{70 + w},"
        f"{'cat' if (i + w) % 3 else 'dog'},{'cat' if i < 2 else ''}"
        for i in range(12)
        for w in range(4)
    ]
    header = "_unit_id,_id,_golden,_tainted,_worker_id,animal,animal_gold"
    data = read_labels("\n".join([header, *rows, ""]).encode())
    found = data.report.finding("platform_tests")
    assert found is not None
    assert (found.count, found.left_out) == (8, 0)
    assert data.n_labels == 48


def test_previews_of_a_survey_are_left_out_and_told() -> None:
    header = "ResponseId,RecordedDate,Finished,Status," + ",".join(f"Q{k}" for k in range(1, 7))
    rows = [
        f"R_{n},2024-01-01 10:00:00,True,{'Survey Preview' if n < 2 else 'IP Address'},"
        + ",".join(("Yes", "No")[(n * k) % 3 == 0] for k in range(1, 7))
        for n in range(20)
    ]
    data = read_labels("\n".join([header, *rows, ""]).encode())
    found = data.report.finding("rejected")
    assert found is not None
    assert found.left_out == 12
    assert data.n_workers == 18
