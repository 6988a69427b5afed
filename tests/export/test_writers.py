"""Tables are written whole or not at all, safe for spreadsheets or exact for machines."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pandas as pd
import pytest

from crowdcore.atomic import atomic
from crowdcore.export.writers import (
    Format,
    defuse_text,
    frame_bytes,
    write_csv,
    write_jsonl,
    write_parquet,
)


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "item": ["a", 'say "b"', "c,d", "two\nlines"],
            "p:x": [0.1, 1 / 3, 1e-17, 0.0],
            "tied": [True, False, False, True],
            "n": [1, 2, 3, 4],
            "kind": pd.Categorical(["u", "v", "u", None]),
        }
    )


def rows(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode(), newline="")))


RISKY = [
    "=1+1",
    "+cmd",
    "-2+3",
    "@SUM(A1)",
    "\tx",
    "\rx",
    "  =1",
    "\u00a0=1",
    "＝1",
    "- 5",
    "-",
    "+",
]
HARMLESS = ["-1", "+4", "-1.5e3", "1-2", "a=b", "", "'=1", "w@x.org", ".5", "-.5"]


@pytest.mark.parametrize("text", RISKY)
def test_a_text_that_a_spreadsheet_would_compute_gets_a_quote(text: str) -> None:
    table = pd.DataFrame({"a": ["x", text], text: ["y", "z"]})
    header, _, last = rows(frame_bytes(table, "csv"))
    assert last[0] == "'" + text
    assert header[1] == "'" + text


@pytest.mark.parametrize("text", HARMLESS)
def test_numbers_and_other_texts_stay_as_they_are(text: str) -> None:
    table = pd.DataFrame({"a": ["x", text], "b" + text: ["y", "z"]})
    assert rows(frame_bytes(table, "csv")) == [["a", "b" + text], ["x", "y"], [text, "z"]]


@pytest.mark.parametrize("text", [*RISKY, *HARMLESS])
def test_the_exact_flavour_changes_nothing(text: str) -> None:
    table = pd.DataFrame({"a": ["x", text], "b" + text: ["y", "z"]})
    assert rows(frame_bytes(table, "csv-exact")) == [["a", "b" + text], ["x", "y"], [text, "z"]]


def test_negative_numbers_of_number_columns_are_not_quoted() -> None:
    assert rows(frame_bytes(pd.DataFrame({"a": [-1.5, 2.0]}), "csv"))[1] == ["-1.5"]


def test_categories_are_made_safe_too() -> None:
    table = pd.DataFrame({"a": pd.Categorical(["=1", "b"])})
    assert rows(frame_bytes(table, "csv"))[1] == ["'=1"]


def test_quotes_delimiters_and_line_breaks_survive_csv() -> None:
    back = rows(frame_bytes(frame(), "csv-exact"))
    assert [row[0] for row in back[1:]] == frame()["item"].tolist()
    assert float(back[2][1]) == 1 / 3
    assert back[4][4] == ""
    header = pd.DataFrame({'say "x", y': [1]})
    assert rows(frame_bytes(header, "csv"))[0] == ['say "x", y']


def test_parquet_survives() -> None:
    back = pd.read_parquet(io.BytesIO(frame_bytes(frame(), "parquet")))
    assert back["item"].tolist() == frame()["item"].tolist()
    assert back["p:x"].tolist() == frame()["p:x"].tolist()
    assert back["tied"].dtype == bool


def test_json_lines_survive() -> None:
    lines = frame_bytes(frame(), "jsonl").decode().splitlines()
    records = [json.loads(line) for line in lines]
    assert [record["item"] for record in records] == frame()["item"].tolist()
    assert records[1]["p:x"] == pytest.approx(1 / 3, abs=1e-14)
    assert records[0]["tied"] is True
    assert records[3]["kind"] is None


def test_columns_of_mixed_values_are_written_as_text() -> None:
    table = pd.DataFrame({"a": pd.Series([1, "x", None], dtype=object)})
    assert [row[0] for row in rows(frame_bytes(table, "csv"))[1:3]] == ["1", "x"]


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ValueError, match="no format 'xlsx'"):
        frame_bytes(frame(), "xlsx")  # type: ignore[arg-type]


FORMATS: list[Format] = ["csv", "csv-exact", "parquet", "jsonl"]


@pytest.mark.parametrize("format", FORMATS)
def test_an_empty_table_is_written(format: Format) -> None:
    assert isinstance(frame_bytes(frame().head(0), format), bytes)


def test_files_are_written_to_paths(tmp_path: Path) -> None:
    write_csv(frame(), tmp_path / "a.csv")
    write_csv(frame(), str(tmp_path / "b.csv"), spreadsheet_safe=False)
    write_parquet(frame(), tmp_path / "c.parquet")
    write_jsonl(frame(), tmp_path / "d.jsonl")
    assert (tmp_path / "a.csv").read_bytes() == frame_bytes(frame(), "csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a.csv",
        "b.csv",
        "c.parquet",
        "d.jsonl",
    ]


def test_an_atomic_file_replaces_the_old_one_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), atomic(path) as temporary:
        temporary.write_text(f"half {1 / 0}")
    assert path.read_text() == "old"
    with atomic(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
        assert temporary.parent == tmp_path
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_an_atomic_file_gets_the_usual_permissions(tmp_path: Path) -> None:
    usual = tmp_path / "usual"
    usual.touch()
    with atomic(tmp_path / "a") as temporary:
        temporary.write_text("x")
    assert (tmp_path / "a").stat().st_mode == usual.stat().st_mode


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a;=HYPERLINK(1);b", "a;'=HYPERLINK(1);b"),
        ("a; +1+cmd;@x", "a;' +1+cmd;'@x"),
        ("a\t=1", "a\t'=1"),
        ("=1;=2", "'=1;'=2"),
        ("a;b=c; d", "a;b=c; d"),
    ],
)
def test_no_formula_hides_behind_a_semicolon(text: str, written: str) -> None:
    assert defuse_text(text) == written
