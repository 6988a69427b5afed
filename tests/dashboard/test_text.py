from __future__ import annotations

import pytest

from dashboard.text import WORD_JOINER, escape_md

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
