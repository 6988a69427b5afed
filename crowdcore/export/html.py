"""Pieces of an HTML document whose texts come from data: everything is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

MAX_WORD_LETTERS = 24
"""Longer words may be broken, so that a table fits on paper."""


def section(title: str, body: str) -> str:
    """Return a heading with what stands below it; `body` is HTML."""
    return f"<section><h2>{escape(title)}</h2>{body}</section>"


def paragraphs(sentences: Iterable[str]) -> str:
    """Return a paragraph for each text."""
    return "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of texts."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(text: str) -> str:
    """A cell of a table; only one with a very long word may break words."""
    is_long = any(len(word) > MAX_WORD_LETTERS for word in text.split())
    return f"{'<td class=long>' if is_long else '<td>'}{escape(text)}</td>"
