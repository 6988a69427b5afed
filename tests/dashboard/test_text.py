from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest

from dashboard.text import WORD_JOINER, count, escape_md, interval, percent, percents, seconds, when

BEACONS = [
    "![x](http://evil.example/a.png)",
    "[click](http://evil.example)",
    "<img src=x>",
    "# heading",
    "* item",
    "1. item",
    "$x^2$",
    "`code`",
    "a_b_c **d** ~~e~~",
    ":red[hot]",
    "a | b",
]


def unescaped(text: str) -> str:
    signs = iter(text.replace(WORD_JOINER, ""))
    return "".join(next(signs) if sign == "\\" else sign for sign in signs)


@pytest.mark.parametrize("text", BEACONS)
def test_every_sign_that_markdown_knows_is_escaped(text: str) -> None:
    escaped = escape_md(text)
    bare = [
        sign
        for before, sign in zip(" " + escaped, escaped, strict=False)
        if sign in "![](){}<>#*_`$~|+-.:\\" and before != "\\" and sign != "\\"
    ]
    assert bare == []


@pytest.mark.parametrize("text", BEACONS)
def test_an_escaped_text_still_reads_as_it_was(text: str) -> None:
    assert unescaped(escape_md(text)) == text


@pytest.mark.parametrize("text", [":smile:", ":material/star:", "http://a.b", "www.a.b", "a@b.c"])
def test_what_streamlit_replaces_in_finished_text_is_broken_by_an_unseen_sign(text: str) -> None:
    assert WORD_JOINER in escape_md(text)


def test_line_breaks_and_hidden_direction_marks_become_spaces() -> None:
    assert escape_md("a\n\n# b\u202ec") == "a \\# b c"


def test_a_long_text_is_cut_and_the_cut_shows() -> None:
    assert escape_md("abcdefgh", limit=5) == "abcd…"
    assert escape_md("abcde", limit=5) == "abcde"


@pytest.mark.parametrize(
    ("share", "written"),
    [
        (0.9342, "93.4%"),
        (1.0, "100.0%"),
        (0.99999, ">99.9%"),
        (0.0, "0.0%"),
        (0.00001, "<0.1%"),
        (math.nan, "–"),
        (None, "–"),
    ],
)
def test_a_share_is_never_rounded_to_none_or_all(share: float | None, written: str) -> None:
    assert percent(share) == written


def test_a_table_of_shares_keeps_what_is_not_quite_all_below_a_hundred() -> None:
    assert percents([0.5, 0.99999, 1.0]).tolist() == [50.0, 99.9, 100.0]


def test_numbers_are_written_one_way() -> None:
    assert count(1234567) == "1,234,567"
    assert count(1, "item") == "1 item"
    assert count(0, "item") == "0 items"
    assert count(2, "class", "classes") == "2 classes"
    assert count(math.nan) == "–"
    assert interval(0.814, 0.957) == "81–96%"
    assert interval(None, 1.0) == "–"


@pytest.mark.parametrize(
    ("duration", "written"),
    [
        (0.01, "<0.1 s"),
        (3.14, "3.1 s"),
        (59.6, "1 min 0 s"),
        (75, "1 min 15 s"),
        (7380, "2 h 3 min"),
        (None, "–"),
    ],
)
def test_a_duration_uses_the_unit_that_fits(duration: float | None, written: str) -> None:
    assert seconds(duration) == written


def test_a_moment_is_told_as_long_as_it_is_news_and_dated_after() -> None:
    now = datetime(2026, 3, 14, 12, tzinfo=UTC)
    assert when(now.isoformat(), now=now) == "just now"
    assert when(now - timedelta(minutes=5), now=now) == "5 min ago"
    assert when((now - timedelta(hours=3)).timestamp(), now=now) == "3 h ago"
    assert "Mar 2026" in when("2026-03-02T10:00:00+00:00", now=now)
    assert when(None) == "–"
