"""Characters to tokens: how a text is cut, and which tokens a marked passage holds."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from crowdcore.reading.labels.cleaning import Cleaning
from crowdcore.reading.sequences.annotated import AnnotatedText, Tally
from crowdcore.spans import BEGIN, INSIDE, OUTSIDE

_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class Passage:
    """A marked passage: its first character, the one after its last, and its type."""

    start: int
    end: int
    type: str


@dataclass(eq=False)
class MarkedText:
    """A text with passages marked by character, as platforms export them.

    Parameters
    ----------
    name, document
        What the file calls the text, and the document that it is a part of.
    text
        The text itself.
    passages
        What each worker marked; an empty list says that they saw the text.
    gold
        What is known to be right; None where nothing is.
    tokens
        First and last character of each token, where the file says so itself.
    """

    name: str
    text: str
    document: str = ""
    passages: dict[str, list[Passage]] = field(default_factory=dict)
    gold: list[Passage] | None = None
    tokens: list[tuple[int, int]] | None = None


def cut(text: str) -> list[tuple[int, int]]:
    """Cut a text into words and signs.

    Parameters
    ----------
    text
        Any text.

    Returns
    -------
    list of tuple of int
        First character, and the one after the last, of each token.
    """
    return [match.span() for match in _TOKEN.finditer(text)]


def to_tokens(marked: MarkedText, cleaning: Cleaning, tally: Tally) -> AnnotatedText:
    """Turn passages of characters into tags of tokens.

    A token belongs to a passage that covers it whole. Passages that cut through a word, and
    passages that overlap, are counted.

    Parameters
    ----------
    marked
        The text with its passages.
    cleaning
        Whether half-covered words are taken, and which of overlapping passages is kept.
    tally
        Where findings are counted.

    Returns
    -------
    AnnotatedText
    """
    bounds = cut(marked.text) if marked.tokens is None else marked.tokens
    text = AnnotatedText(
        name=marked.name,
        document=marked.document,
        tokens=[marked.text[start:end] for start, end in bounds],
        starts=[start for start, _ in bounds],
    )
    for worker, passages in marked.passages.items():
        where = f"{worker} on {marked.name}"
        tags = _tags(marked, bounds, passages, where=where, cleaning=cleaning, tally=tally)
        text.add(worker, tags, tally)
    if marked.gold is not None:
        where = f"gold of {marked.name}"
        text.gold = _tags(marked, bounds, marked.gold, where=where, cleaning=cleaning, tally=tally)
    return text


def _tags(
    marked: MarkedText,
    bounds: Sequence[tuple[int, int]],
    passages: list[Passage],
    *,
    where: str,
    cleaning: Cleaning,
    tally: Tally,
) -> list[str]:
    starts = [start for start, _ in bounds]
    ends = [end for _, end in bounds]
    covered: list[tuple[int, int, str]] = []
    for passage in passages:
        first, last = bisect_left(starts, passage.start), bisect_right(ends, passage.end)
        wide_first = bisect_right(ends, passage.start)
        wide_last = bisect_left(starts, passage.end)
        quote = f"{where}: {marked.text[passage.start : passage.end]!r}"
        is_partial = (wide_first, wide_last) != (first, last)
        if is_partial and cleaning.partial_words == "take":
            first, last = wide_first, wide_last
        if is_partial:
            tally.count("partial_words", quote, left_out=int(first >= last))
        if first < last:
            covered.append((first, last, passage.type))
        elif not is_partial:
            tally.count("empty_spans", quote, left_out=1)
    tags = [OUTSIDE] * len(bounds)
    longest_first = sorted(enumerate(covered), key=lambda pair: (pair[1][0] - pair[1][1], pair[0]))
    if cleaning.overlaps == "first":
        longest_first = list(enumerate(covered))
    for _, (first, last, name) in longest_first:
        if any(tag != OUTSIDE for tag in tags[first:last]):
            words = marked.text[starts[first] : ends[last - 1]]
            tally.count("overlapping_spans", f"{where}: {name} {words!r}", left_out=1)
            continue
        tags[first:last] = [BEGIN + name, *[INSIDE + name] * (last - first - 1)]
    return tags
