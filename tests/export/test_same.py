"""The file that was given comes back byte for byte, with cells added at the end of its rows."""

from __future__ import annotations

import csv
import io
import json
import zlib
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdcore import DataError
from crowdcore.export.originals import AddedColumns, delimited
from crowdcore.export.targets import checked_files, get_target, write_files
from crowdcore.reading import read_labels
from tests.export.finished import LONG, finished
from tests.reading.exports import workbook, zipped


def same(
    content: bytes, folder: Path, name: str = "labels.csv", *, for_spreadsheets: bool = False
) -> bytes:
    run = finished(content, name, for_spreadsheets=for_spreadsheets)
    (path,) = write_files(checked_files(get_target("same"), run), folder)
    assert path.name == f"{Path(name).stem}-with-truths{Path(name).suffix}"
    return path.read_bytes()


def cut(text: str, delimiter: str) -> list[list[str]]:
    """Cut a text into rows and cells by Python's own reader."""
    return [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]


def test_truth_confidence_and_agreement_stand_behind_every_row(tmp_path: Path) -> None:
    assert same(LONG, tmp_path).decode() == (
        "task,text,worker,label,truth,confidence,agrees\n"
        't1,"a, b",ann,cat,cat,0.666667,true\n'
        't1,"a, b",bob,cat,cat,0.666667,true\n'
        't1,"a, b",cyd,dog,cat,0.666667,false\n'
        "t2,second one,ann,dog,dog,1,true\n"
        "t2,second one,bob,dog,dog,1,true\n"
        "t3,third one,cyd,,cat,1,\n"  # it holds no label, so that nothing agrees
        "t3,third one,ann,cat,cat,1,true\n"
    )


@pytest.mark.parametrize(
    "content",
    [
        "\ufefftask;worker;label\r\nü;w1;a\r\nü;w2;b\r\n".encode(),
        "task\tworker\tlabel\nü\tw1\ta\nü\tw2\tb".encode("utf-16"),
        "\ufefftask\tworker\tlabel\nü\tw1\ta\nü\tw2\tb\n".encode("utf-16-be"),
        "task,worker,label\rü,w1,a\rü,w2,b\r".encode(),
        "sep=;\ntask;worker;label\nü;w1;a\n\nü;w2;b\n\n".encode(),
        "task|worker|label\nü|w1|a\nü|w2|b\n".encode("cp1252"),
        '"task","worker","label"\n"ü","w1","say ""a"",\n\nor not"\n"ü","w2","b"\n'.encode(),
        'task,worker,label\nü,w1,5" disk\nü,w2,b\n'.encode(),
        b"t1,w1,a\nt1,w2,b\nt2,w1,a\n",  # no header
        "task,worker,label,,\nü,w1,a,,\nü,w2,b,,\n".encode(),
    ],
)
def test_taking_the_added_cells_away_leaves_the_bytes_that_were_given(
    content: bytes, tmp_path: Path
) -> None:
    written = same(content, tmp_path)
    layout = finished(content).data.original.layout
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else layout.encoding
    given_text = content.decode(encoding)
    text = written.decode(encoding)
    rows, given_rows = (cut(part, layout.delimiter) for part in (text, given_text))
    skipped = layout.n_skipped_lines
    assert [row[:-3] for row in rows[skipped:]] == given_rows[skipped:]
    # Every character that was given is still there, in its order.
    remaining = iter(text)
    assert all(sign in remaining for sign in given_text)
    assert len(text.splitlines()) == len(given_text.splitlines())
    assert written[:2] == content[:2]


CELL = st.text(st.sampled_from('ab,;"\n\r\té '), max_size=5)


ROWS = st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=5)


@settings(max_examples=60, deadline=None)
@given(ROWS, st.booleans())
def test_any_cells_survive(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]], quote_all: bool
) -> None:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, quoting=csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL)
    writer.writerow(("task", "worker", "label"))
    writer.writerows(("t", f"w{number}x", cells[2]) for number, cells in enumerate(rows))
    writer.writerows(rows)
    content = stream.getvalue().encode()
    try:
        data = read_labels(content)
    except DataError:
        return
    original = data.original
    if original is None or original.item is None or original.content().all() != content:
        return  # rows were repaired, and what is kept is the repaired text
    added = AddedColumns(
        names=("x",), records=[("1",)], code=pd.array([0] * len(original.item)).to_numpy()
    )
    path = tmp_path_factory.mktemp("same") / "x.csv"
    delimited.write(original, original.layout, added, path)
    written = cut(path.read_bytes().decode(), ",")
    assert [row[:-1] for row in written] == cut(content.decode(), ",")
    assert {row[-1] for row in written[1:]} == {"1"}


def test_rows_that_lack_their_last_cells_get_theirs_in_the_right_column(tmp_path: Path) -> None:
    content = b"task,worker,label,approve,reject\nt1,w1,a\nt1,w2,a,x,\nt1,w3,b,\n"
    frame = pd.read_csv(io.BytesIO(same(content, tmp_path)))
    assert frame["truth"].tolist() == ["a", "a", "a"]
    assert frame["approve"].fillna("").tolist() == ["", "x", ""]


def test_a_column_that_is_there_keeps_its_name(tmp_path: Path) -> None:
    content = b"task,worker,label,Truth\nt1,w1,a,b\nt1,w2,a,b\n"
    header = same(content, tmp_path).decode().splitlines()[0]
    assert header == "task,worker,label,Truth,truth (crowdcore),confidence,agrees"


def test_what_a_run_inferred_is_not_read_as_gold(tmp_path: Path) -> None:
    again = read_labels(same(LONG, tmp_path))
    assert again.n_gold == 0
    assert again.report.roles.label == "label"
    assert read_labels(b"task,worker,label,truth\nt1,w1,a,b\nt1,w2,a,b\n").n_gold == 1


def test_a_wide_table_gets_truths_and_no_agreement(tmp_path: Path) -> None:
    content = b"item,ann,bob,cyd\ni1,a,a,b\ni2,b,b,b\ni3,,a,a\ni4,a,a,b\n"
    lines = same(content, tmp_path).decode().splitlines()
    assert lines[0] == "item,ann,bob,cyd,truth,confidence"
    assert lines[3] == "i3,,a,a,a,1"


def test_rows_that_are_workers_have_no_truth_beside_them(tmp_path: Path) -> None:
    content = b"worker,i1,i2,i3\nann,a,b,a\nbob,a,b,b\ncyd,a,b,a\n"
    items = {"layout": "wide", "worker": "worker", "worker_columns": ("i1", "i2", "i3")}
    with pytest.raises(DataError, match="Each row of the file is a worker"):
        checked_files(get_target("same"), finished(content, roles=items))


def test_formulas_among_the_truths_are_marked_for_spreadsheets_only(tmp_path: Path) -> None:
    content = b"task,worker,label\nt1,w1,=1+1\nt1,w2,=1+1\n"
    assert b"t1,w1,=1+1,=1+1,1,true" in same(content, tmp_path)
    assert b"t1,w1,=1+1,'=1+1,1,true" in same(content, tmp_path, for_spreadsheets=True)


def test_json_keeps_every_character_and_gets_keys(tmp_path: Path) -> None:
    record = '{"task": "t1",\t"worker": "w%d", "label": "a", "n": 1.50, "u": "\\u00fc" }'
    for sep, start, end in ((",\n ", "[ ", "\n]\n"), ("\n", "", "\n")):
        content = (start + sep.join(record % number for number in (1, 2)) + end).encode()
        written = same(content, tmp_path, "labels.json" if start else "labels.jsonl")
        added = b', "truth": "a", "confidence": 1.0, "agrees": true'
        assert written.replace(added, b"") == content
        records = json.loads(written) if start else list(map(json.loads, written.splitlines()))
        assert [one["truth"] for one in records] == ["a", "a"]


def test_parquet_keeps_types_and_gets_columns(tmp_path: Path) -> None:
    table = pa.table({"task": [1, 1, 2], "worker": ["w", "v", "w"], "label": ["a", "a", "b"]})
    pq.write_table(table, tmp_path / "labels.parquet")
    written = same((tmp_path / "labels.parquet").read_bytes(), tmp_path, "labels.parquet")
    back = pq.read_table(io.BytesIO(written))
    assert back.select(["task", "worker", "label"]).equals(table)
    assert back["truth"].to_pylist() == ["a", "a", "b"]
    assert back["agrees"].to_pylist() == [True, True, True]


def test_a_workbook_comes_back_as_a_sheet_with_its_rows_in_order(tmp_path: Path) -> None:
    rows: list[list[Any]] = [["task", "coder", "label", "no"]]
    rows += [[f"t{n // 2}", f"c{n % 2}", "a" if n < 2 else "b", 1.5 * n] for n in range(12)]
    content = workbook({"Labels": [["A title"], [], *rows, ["Total", None, None, 99]]})
    written = same(content, tmp_path, "labels.xlsx")
    back = pd.read_excel(io.BytesIO(written), engine="calamine")
    assert back.columns.tolist() == [
        "task",
        "coder",
        "label",
        "no",
        "truth",
        "confidence",
        "agrees",
    ]
    assert back["no"].tolist()[:12] == [1.5 * n for n in range(12)]
    assert back["truth"].tolist()[:3] == ["a", "a", "b"]
    again = read_labels(written, name="labels-with-truths.xlsx")  # without a question
    assert again.n_labels == 12


def test_a_zip_with_a_file_per_annotator_comes_back_as_a_sheet(tmp_path: Path) -> None:
    files = {f"{who}.csv": f"id,code\n1,a\n2,{who[0]}\n".encode() for who in ("ann", "bob", "cy")}
    run = finished(zipped(files), "labels.zip")
    (path,) = write_files(checked_files(get_target("same"), run), tmp_path)
    assert path.name == "labels-with-truths.xlsx"
    back = pd.read_excel(path, engine="calamine")
    assert back["annotator"].tolist() == ["ann", "ann", "bob", "bob", "cy", "cy"]
    assert back["truth"].tolist()[::2] == ["a", "a", "a"]


def test_a_hundred_thousand_rows_take_moments(tmp_path: Path) -> None:
    rows = (f'item {n % 9999},"w{n % 101}",{zlib.crc32(b"%d" % n) % 3}\n' for n in range(100_000))
    content = ("task,worker,label\n" + "".join(rows)).encode()
    written = same(content, tmp_path)
    assert written.count(b"\n") == 100_001
    assert len(pd.read_csv(io.BytesIO(written))) == 100_000


def test_a_json_object_has_no_records_to_put_truths_into() -> None:
    content = b'{"t1": {"w1": "a", "w2": "a"}, "t2": {"w1": "b", "w2": "b"}}'
    with pytest.raises(DataError, match="into a file of this kind"):
        checked_files(get_target("same"), finished(content, "answers.json"))
