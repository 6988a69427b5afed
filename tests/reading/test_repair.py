"""Open quotes and missing cells: no row is swallowed, every repair is said."""

from __future__ import annotations

import pytest

from crowdcore.data import DataError
from crowdcore.reading import Cleaning, open_table, read_labels
from crowdcore.reading.findings import Finding
from crowdcore.reading.parsing.table import Table

HEADER = "task,worker,label\n"
LINES = [f"t{n},w{n % 3},{'cat' if n % 2 else 'dog'}\n" for n in range(40)]


def cells(table: Table) -> list[tuple[str, ...]]:
    return [tuple(row.values()) for row in table.preview(table.n_rows)]


def finding(table: Table, id: str) -> Finding:
    return next(finding for finding in table.findings if finding.id == id)


EXPECTED = cells(open_table((HEADER + "".join(LINES)).encode()))


def spoil(**spoiled: str) -> bytes:
    """The file with some lines (L10=…) written otherwise."""
    lines = list(LINES)
    for name, line in spoiled.items():
        lines[int(name[1:])] = line
    return (HEADER + "".join(lines)).encode()


OPEN_QUOTES = {
    "to the end of the file": (spoil(L10='t10,w1,"dog\n'), [12]),
    "in the first cell": (spoil(L10='"t10,w1,dog\n'), [12]),
    "in the middle": (spoil(L10='t10,"w1,dog\n'), [12]),
    "twice": (spoil(L10='t10,w1,"dog\n', L20='t20,w2,"dog\n'), [12, 22]),
    "on lines that follow each other": (spoil(L10='t10,w1,"dog\n', L11='"t11,w2,cat\n'), [12, 13]),
    "before quoted cells": (spoil(L10='t10,w1,"dog\n', L20='"t20","w2","dog"\n'), [12]),
    "on the last line": (spoil(L39='t39,w0,"cat\n'), [41]),
    "with other line ends": (spoil(L10='t10,w1,"dog\n').replace(b"\n", b"\r\n"), [12]),
    "in UTF-16": (spoil(L10='t10,w1,"dog\n').decode().encode("utf-16"), [12]),
}


@pytest.mark.parametrize(("source", "lines"), OPEN_QUOTES.values(), ids=OPEN_QUOTES)
def test_an_open_quote_swallows_no_row(source: bytes, lines: list[int]) -> None:
    table = open_table(source)
    assert cells(table) == EXPECTED
    assert table.content is not None
    assert cells(open_table(table.content.all())) == EXPECTED, "the way back finds the same rows"
    said = finding(table, "open_quotes")
    assert said.severity == "warning"
    assert [int(text.split()[1].rstrip(":")) for text in said.examples] == lines


def test_an_open_quote_before_a_cell_with_delimiters_ends_with_its_line() -> None:
    table = open_table(spoil(L10='t10,w1,"big, brown, dog\n'))
    assert cells(table)[10] == ("t10", "w1", "big, brown, dog")
    assert cells(table)[11:] == EXPECTED[11:]


def test_an_open_quote_that_fits_no_row_is_named() -> None:
    with pytest.raises(DataError, match="nothing closes it") as caught:
        open_table(spoil(L10='t10,x,y,"w1,dog\n'))
    assert caught.value.row == 12


def test_texts_over_several_lines_are_left_alone() -> None:
    table = open_table(spoil(L10='t10,w1,"a dog,\nor, say, a ""wolf""\n"\n'))
    assert cells(table)[10] == ("t10", "w1", 'a dog,\nor, say, a "wolf"\n')
    assert not any(finding.count for finding in table.findings)


def test_cells_that_look_like_rows_are_said_and_can_be_split() -> None:
    source = spoil(L10='t10,w1,"dog\n', L20='t20,w2,dog"\n')
    data = read_labels(source)
    said = data.report.finding("rows_in_cells")
    assert said is not None
    assert (data.report.n_rows, said.count, said.severity) == (30, 1, "warning")
    assert said.examples == ("line 12: a quotation mark opens a cell of 11 lines",)
    split = read_labels(source, cleaning=Cleaning().with_option(said.option))
    assert split.report.n_rows == len(LINES)
    assert split.classes == ("cat", "dog")


def test_missing_cells_at_the_end_of_a_row_are_empty() -> None:
    """Mechanical Turk leaves out the cells of Approve and Reject of unreviewed work."""
    header = [f"Input.{n}" for n in range(29)] + ["WorkerId", "Answer.label", "Approve", "Reject"]
    rows = [[*["x"] * 29, f"w{n}", "cat"] for n in range(5)]
    text = "\n".join(",".join(f'"{cell}"' for cell in row) for row in [header, *rows])
    table = open_table(text.encode())
    assert table.n_rows == 5
    assert cells(table)[0] == (*["x"] * 29, "w0", "cat", "", "")
    assert finding(table, "missing_cells").count == 5


def test_a_file_that_was_cut_off_loses_its_last_label_and_says_so() -> None:
    data = read_labels(spoil(L39="t39,w"))
    assert data.n_labels == 39
    said = data.report.finding("missing_cells")
    assert said is not None
    assert said.examples == ("line 41: the last 1 cell missing",)


def test_repairs_of_the_gold_file_are_said_with_its_name() -> None:
    gold = b'task,gold\nt1,cat\nt2,"dog\nt3,cat\n'
    data = read_labels(spoil(L10='t10,w1,"dog\n'), gold=gold, gold_name="gold.csv")
    said = data.report.finding("open_quotes")
    assert said is not None
    assert said.count == 2
    assert said.examples[1].startswith("gold.csv, line 3")
    assert data.n_gold == 3


def test_the_report_accounts_for_every_row() -> None:
    rows = ["t1,w1,cat", "t1,w1,cat", "t1,w1,dog", "t2,w1,dog", "t2,w1,dog", ",w1,cat", "t3,w2,"]
    report = read_labels((HEADER + "\n".join(rows)).encode()).report
    assert (report.n_answers, report.n_labels) == (7, 2)
    assert sum(report.left_out.values()) == 5
    assert report.accounting == (
        "7 rows = 2 labels used + 1 left out (Rows without an item or a worker) + 1 left out "
        "(Empty labels) + 1 left out (Labels that are there twice) + 2 left out (Workers who gave "
        "one item several labels)"
    )


def test_a_report_that_does_not_add_up_is_a_bug() -> None:
    from dataclasses import replace

    report = read_labels((HEADER + "".join(LINES)).encode()).report
    with pytest.raises(AssertionError, match="41 answers became 40 labels"):
        replace(report, n_answers=41)
