"""Files of every format become tables of text, or a DataError that says what to do."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crowdcore.data import DataError
from crowdcore.reading import open_table
from tests.reading.tables import HEADER, ROWS, table, text

EXPECTED = [dict(zip(HEADER, row, strict=True)) for row in ROWS]


def parquet(columns: dict[str, object]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le"])
def test_every_delimiter_and_encoding_is_recognised(delimiter: str, encoding: str) -> None:
    rows = [("t1", "Zoë", "für"), ("t2", "Zoë", "naïve")]
    parsed = open_table(text(rows, by=delimiter).encode(encoding))
    assert parsed.preview() == [dict(zip(HEADER, row, strict=True)) for row in rows]


def test_a_path_a_buffer_and_bytes_are_read_alike(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_bytes(table())
    for source in (path, str(path), table(), io.BytesIO(table())):
        assert open_table(source).preview() == EXPECTED
    with path.open("rb") as file:
        assert open_table(file).name == "labels.csv"


def test_only_the_last_part_of_an_uploads_name_is_shown() -> None:
    upload = io.BytesIO(table())
    upload.name = "../../etc/passwd.csv"
    assert open_table(upload).name == "passwd.csv"


def test_everything_is_read_as_text() -> None:
    rows = [("007", "1.0", "NA"), ("1e3", "None", ""), ("null", "true", "nan")]
    assert [tuple(row.values()) for row in open_table(table(rows)).preview()] == rows


def test_quoted_cells_may_hold_delimiters_quotes_and_line_breaks() -> None:
    parsed = open_table(b'task,worker,label\n"a,b","say ""x""","two\nlines"\nt2,w,c\n')
    assert parsed.preview(1) == [{"task": "a,b", "worker": 'say "x"', "label": "two\nlines"}]
    assert parsed.locate(1) == "row 2", "with such cells the line of a row is not known"


def test_rows_are_told_by_their_line() -> None:
    assert open_table(table()).locate(0) == "line 2"
    assert open_table(b"\n\n" + table()).locate(0) == "line 4"
    assert open_table(b"sep=,\n" + table()).locate(0) == "line 3"
    assert open_table(table(), header=True).row_number(2) == 4


@pytest.mark.parametrize("ends", ["\r\n", "\r"])
def test_other_line_ends_are_read(ends: str) -> None:
    parsed = open_table(text().replace("\n", ends).encode())
    assert parsed.preview() == EXPECTED
    assert parsed.locate(3) == "line 5"


def test_commas_in_a_text_do_not_hide_the_tabs() -> None:
    rows = [("one, two, three", "w1", "a"), ("four, five", "w1", "b")]
    assert open_table(text(rows, by="\t").encode()).columns == HEADER


def test_decimal_commas_do_not_hide_the_semicolons() -> None:
    assert open_table(b"task;worker;label\n1;w1;1,5\n2;w1;2,5\n").columns == HEADER


def test_a_column_that_a_trailing_delimiter_makes_is_left_out() -> None:
    assert open_table(b"task,worker,label,\nt1,w1,cat,\n").columns == HEADER
    assert open_table(b"task,worker,label,\nt1,w1,cat,x\n").columns == (*HEADER, "column 4")


def test_a_cell_larger_than_a_block_is_read() -> None:
    picture = "data:image/png;base64," + "A" * 3_000_000
    parsed = open_table(table([("t1", "w1", f'"{picture}"'), ("t2", "w1", "b")]))
    assert parsed.preview(1)[0]["label"] == picture


def test_non_utf8_bytes_far_behind_are_read_as_windows_1252() -> None:
    rows = [(f"t{number}", "w1", "a") for number in range(20_000)] + [("t", "w1", "\xe9")]
    parsed = open_table(text(rows).encode("cp1252"))
    assert parsed.text("label").to_pylist()[-1] == "é"
    assert "Windows-1252" in parsed.description


def test_json_records_lines_and_answers_are_read() -> None:
    records = [dict(zip(HEADER, row, strict=True)) for row in ROWS]
    lines = "\n".join(json.dumps(record) for record in records)
    columns = {name: [record[name] for record in records] for name in HEADER}
    frame = {name: dict(enumerate(values)) for name, values in columns.items()}
    for source in (json.dumps(records), json.dumps(records, indent=2), lines, json.dumps(columns)):
        assert open_table(source.encode()).preview() == EXPECTED
    assert open_table(json.dumps(frame).encode()).preview() == EXPECTED
    answers = open_table(b'{"t1": {"w1": "cat", "w2": "dog"}, "t2": {"w1": "cat", "w2": "cat"}}')
    assert [tuple(row.values()) for row in answers.preview()] == list(ROWS)


def test_json_values_keep_their_spelling() -> None:
    line = '{"task": 7, "worker": "007", "label": 1.50, "a": null, "b": true, "c": ["x", 1.5]}'
    (row,) = open_table(line.encode()).preview()
    assert row == {
        "task": "7",
        "worker": "007",
        "label": "1.50",
        "a": "",
        "b": "true",
        "c": '["x", 1.5]',
    }


def test_json_records_may_lack_keys() -> None:
    rows = open_table(b'[{"task": "t1", "worker": "w1"}, {"task": "t2", "label": "a"}]').preview()
    assert rows[0]["label"] == "" == rows[1]["worker"]


def test_a_table_may_begin_with_a_bracket() -> None:
    assert open_table(b"[task],worker,label\nt1,w1,cat\n").columns[0] == "[task]"


def test_parquet_of_any_types_is_read_as_text() -> None:
    data = parquet(
        {
            "task": [1, 2],
            "worker": pa.array(["a", None]).dictionary_encode(),
            "label": [1.0, 2.5],
            "sure": [True, False],
            "more": [[1, 2], None],
        }
    )
    assert open_table(data).preview() == [
        {"task": "1", "worker": "a", "label": "1", "sure": "true", "more": "[1, 2]"},
        {"task": "2", "worker": "", "label": "2.5", "sure": "false", "more": ""},
    ]


@pytest.mark.parametrize(
    "source",
    [
        b"t1,w1,cat\nt1,w2,dog\nt2,w1,cat\n",
        b"t1,w1,cat\nt2,w1,dog\n",
        b"1,17,3\n2,18,4\n",
        b"0,1,1\n1,1,0\n0,0,1\n",
    ],
)
def test_a_first_line_of_data_is_recognised(source: bytes) -> None:
    parsed = open_table(source)
    assert parsed.columns == ("column 1", "column 2", "column 3")
    assert parsed.n_rows == source.count(b"\n")
    assert parsed.locate(0) == "line 1"
    assert "the first line is data" in parsed.description


@pytest.mark.parametrize(
    "source",
    [
        b"foo,bar,baz\nt1,w1,cat\nt2,w1,cat\n",
        b"text,1,2,3\nnice,1,2,2\nbad,3,1,3\n",
        b",w1,w2\n0,a,b\n1,b,b\n",
        b"w1,w2,w3\n1,2,1\n2,2,1\n",
    ],
)
def test_a_header_of_unusual_names_is_recognised(source: bytes) -> None:
    assert open_table(source).n_rows == source.count(b"\n") - 1


def test_the_user_may_say_whether_there_is_a_header() -> None:
    assert open_table(table(), header=False).n_rows == 5
    assert open_table(b"t1,w1,cat\nt2,w1,cat\n", header=True).columns == ("t1", "w1", "cat")


def test_a_preview_gives_the_first_rows() -> None:
    assert open_table(table()).preview(2) == EXPECTED[:2]


FAULTS = {
    "empty": (b"", "empty"),
    "blank": (b" \n\n\t\n", "blank"),
    "header only": (table([]), "no row below the header"),
    "header without a line end": (b"task,worker,label", "no row below the header"),
    "only delimiters": (b",\n,\n", "neither a name nor a cell"),
    "one column": (b"label\ncat\ndog\n", "one column only"),
    "binary": (bytes(range(256)) * 20, "binary"),
    "zero byte far behind": (table(ROWS * 10_000) + b"t,w,\0\n", "binary"),
    "zero in utf-16": ("task,worker,la\0bel\nt1,w1,a\nt1,w2,b\n".encode("utf-16"), "binary"),
    "same names": (b"task,worker,task\nt1,w1,t2\n", "columns 1, 3 have the same name"),
    "zip": (b"PK\x03\x04" + b"x" * 50, "Pack it anew"),
    "gzip": (b"\x1f\x8b" + b"x" * 50, "Pack it anew"),
    "old excel": (b"\xd0\xcf\x11\xe0" + b"x" * 50, "Save the sheet as CSV"),
    "numpy": (b"\x93NUMPY" + b"x" * 50, "as features"),
    "damaged parquet": (b"PAR1" + b"x" * 50, "damaged"),
    "neither encoding": (b"task,worker,label\nt1,w1,\x81\x8d\n", "neither UTF-8 nor"),
    "broken utf-16": ("task,worker,label\nt,w,\n".encode("utf-16") + b"\xdc", "not proper utf-16"),
    "json list": (b'["a", "b"]', "not an object"),
    "json empty list": (b"[]", "no record"),
    "json twice": (b'{"t1": {"w1": "a", "w1": "b"}}', "there twice"),
    "json nested": (b'{"t1": {"w1": {"x": 1}}}', "nested"),
    "json mixed": (b'{"t1": {"w1": "a"}, "t2": 3}', "several kinds"),
    "json uneven": (b'{"task": ["a"], "label": ["a", "b"]}', "differ in length"),
    "json surrogate": (b'[{"task": "\\ud800", "worker": "w"}]', "surrogate"),
    "json deep": (b'[{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}]", "nested too deeply"),
}


@pytest.mark.parametrize(("source", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_a_file_that_is_no_table_is_refused_with_advice(source: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        open_table(source)
    assert caught.value.file is not None


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (table([*ROWS, ("t3", "w1", "a", "b")]), 6),
        (b"task,worker,label\n\n\nt1,w1,a,b\n", 4),
        (b'task,worker,label\n"two\nlines",w1,a\nt1,w1,a,b\n', 4),
        (b"sep=;\ntask;worker;label\nt1;w1;a\nt1;w1;a;b\n", 4),
    ],
)
def test_a_row_that_is_too_long_is_told_by_its_line(source: bytes, line: int) -> None:
    with pytest.raises(DataError, match="This line has") as caught:
        open_table(source)
    assert caught.value.row == line


def test_a_lone_json_value_is_refused() -> None:
    with pytest.raises(DataError, match="neither a list nor an object"):
        open_table(b"3", name="labels.json")


def test_a_broken_line_of_json_is_told() -> None:
    with pytest.raises(DataError, match="not valid") as caught:
        open_table(b'{"task": "a", "label": "b"}\n\n{"task": }\n')
    assert caught.value.row == 3


def test_a_broken_byte_in_utf8_is_told_rather_than_read_as_something_else() -> None:
    with pytest.raises(DataError, match="is UTF-8, but") as caught:
        open_table("task,worker,label\nt1,Zoë,a\n".encode() + b"t2,w\xff,a\n")
    assert caught.value.row == 3


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="There is no file"):
        open_table(tmp_path / "no.csv")
    with pytest.raises(DataError, match="no file in it holds one"):
        open_table(tmp_path)
    with pytest.raises(DataError, match="cannot be read"):
        open_table("a\0b")


def test_blanks_cut_columns_where_nearly_all_rows_are_cut_alike() -> None:
    rows = [f"item{n} worker{n % 5} {n % 2}" for n in range(100)]
    rows[10] = "item0 worker1"
    assert len(open_table("\n".join(["task worker label", *rows, ""]).encode()).columns) == 3
    rows[11:13] = ["item0 worker1"] * 2
    with pytest.raises(DataError, match="one column only"):
        open_table("\n".join(["task worker label", *rows, ""]).encode())
