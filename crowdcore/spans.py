"""Spans: what BIO tags of tokens mean, and how well two sets of spans agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from crowdcore.errors import DataError

Rule = Literal["conlleval", "begins with B"]
"""Where a span begins: at B-x and at I-x after another type, or at B-x alone."""

OUTSIDE = "O"
BEGIN, INSIDE = "B-", "I-"

Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class TagSet:
    """The tags O, B-x and I-x of some types of spans.

    Parameters
    ----------
    classes
        The tags, in the order of their codes.

    Raises
    ------
    DataError
        If a tag is none of O, B-x, I-x, or if O is missing.
    """

    classes: tuple[str, ...]

    def __post_init__(self) -> None:
        bad = [tag for tag in self.classes if tag != OUTSIDE and tag[:2] not in (BEGIN, INSIDE)]
        if bad:
            raise DataError(f"{bad[0]!r} is no tag", fix="Tags are O, B-type and I-type.")
        if OUTSIDE not in self.classes:
            raise DataError("The tags lack O, for tokens outside of every span")

    @classmethod
    def of_types(cls, types: Sequence[str]) -> TagSet:
        """Return O and the tags B-x, I-x of each type, in this order."""
        return cls((OUTSIDE, *(edge + name for name in types for edge in (BEGIN, INSIDE))))

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The types of spans, in the order of the tags."""
        return tuple(dict.fromkeys(tag[2:] for tag in self.classes if tag != OUTSIDE))

    @cached_property
    def type_of(self) -> Codes:
        """The type of each tag [K]; -1 for O."""
        code = {name: index for index, name in enumerate(self.types)}
        return np.array([code.get(tag[2:], -1) if tag != OUTSIDE else -1 for tag in self.classes])

    @cached_property
    def is_begin(self) -> Flags:
        """Which tags are B-x [K]."""
        return np.array([tag.startswith(BEGIN) for tag in self.classes])

    @cached_property
    def is_inside(self) -> Flags:
        """Which tags are I-x [K]."""
        return np.array([tag.startswith(INSIDE) for tag in self.classes])

    @property
    def outside(self) -> int:
        """The code of O."""
        return self.classes.index(OUTSIDE)

    @cached_property
    def begin_of(self) -> Codes:
        """The code of B-x for each tag B-x or I-x [K]; O, and an I-x without B-x, stay."""
        code = {tag: index for index, tag in enumerate(self.classes)}
        return np.array([code.get(BEGIN + tag[2:], code[tag]) for tag in self.classes])

    @cached_property
    def allowed(self) -> Flags:
        """Which tag [K] may be followed by which [K]: I-x comes only after B-x and I-x."""
        same_type = self.type_of[:, None] == self.type_of[None, :]
        return np.array(~self.is_inside[None, :] | same_type)

    @cached_property
    def can_start(self) -> Flags:
        """Which tags a text may begin with [K]."""
        return np.asarray(self.allowed[self.outside], bool)


@dataclass(frozen=True, eq=False)
class Spans:
    """Spans of tokens, in the order of the tokens.

    Parameters
    ----------
    start, end
        The first token of each span, and the one after its last [M].
    type
        The code of its type [M].
    """

    start: Codes
    end: Codes
    type: Codes

    def __len__(self) -> int:
        return len(self.start)

    def only(self, keep: NDArray[Any]) -> Spans:
        """Keep some spans, by flags or indices."""
        return Spans(self.start[keep], self.end[keep], self.type[keep])

    def keys(self, n_types: int) -> Codes:
        """Return a number for each span [M]; equal spans have equal numbers."""
        return (self.start * (1 << 32) + self.end) * max(1, n_types) + self.type


def find_spans(
    tags: NDArray[Any], starts: NDArray[Any], tag_set: TagSet, rule: Rule = "conlleval"
) -> Spans:
    """Find the spans that tags describe.

    Parameters
    ----------
    tags
        The code of each token's tag [N]; -1 counts as O.
    starts
        Where texts start among the tokens; no span crosses such a point.
    tag_set
        What the codes mean.
    rule
        Where a span begins.

    Returns
    -------
    Spans
        Positions count from the first of the tags.
    """
    codes = np.where(np.asarray(tags) < 0, tag_set.outside, tags)
    types = tag_set.type_of[codes]
    first = np.zeros(len(codes), bool)
    first[np.asarray(starts)[np.asarray(starts) < len(codes)]] = True
    before = np.where(first, -1, np.concatenate([[-1], types[:-1]]))
    begins = tag_set.is_begin[codes]
    continues = tag_set.is_inside[codes] & (before == types)
    if rule == "conlleval":
        begins = begins | (tag_set.is_inside[codes] & ~continues)
    else:  # an I-x counts only behind a B-x of its type
        run = np.cumsum(~continues)
        led = np.zeros(run[-1] + 1 if len(run) else 1, bool)
        led[run[begins]] = True
        continues = continues & led[run]
    start = np.flatnonzero(begins)
    stops = np.flatnonzero(~continues)
    after = np.searchsorted(stops, start, side="right")
    end = np.append(stops, len(codes))[after]
    return Spans(start, end.astype(np.int64), types[start])


def repaired(tags: NDArray[Any], starts: NDArray[Any], tag_set: TagSet) -> NDArray[np.int32]:
    """Return tags in which every span begins with B-x: an I-x after another type becomes B-x."""
    codes = np.array(tags, np.int32)
    types = tag_set.type_of[codes]
    first = np.zeros(len(codes), bool)
    first[np.asarray(starts)[np.asarray(starts) < len(codes)]] = True
    before = np.where(first, -1, np.concatenate([[-1], types[:-1]]))
    begun = tag_set.is_inside[codes] & (before != types) & (codes >= 0)
    codes[begun] = tag_set.begin_of[codes[begun]]
    return codes


@dataclass(frozen=True)
class SpanScore:
    """How many spans are exactly right: first token, last token and type.

    Parameters
    ----------
    correct
        Spans that are in both sets.
    predicted, expected
        Spans in the set that is scored, and in the one it is scored by.
    """

    correct: float
    predicted: float
    expected: float

    @property
    def precision(self) -> float:
        """The share of predicted spans that are right; 0 where there are none."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """The share of expected spans that were found; 0 where there are none."""
        return self.correct / self.expected if self.expected else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 1 where neither set has a span."""
        total = self.predicted + self.expected
        return 2 * self.correct / total if total else 1.0


def is_among(spans: Spans, others: Spans, n_types: int) -> Flags:
    """Tell which spans [M] are also, exactly, in another set."""
    return np.isin(spans.keys(n_types), others.keys(n_types))


def score(predicted: Spans, expected: Spans, n_types: int) -> SpanScore:
    """Count the spans that are exactly right."""
    correct = int(is_among(predicted, expected, n_types).sum())
    return SpanScore(correct, len(predicted), len(expected))


def relaxed_score(predicted: Spans, expected: Spans, n_tokens: int) -> SpanScore:
    """Score spans by the share of their tokens that have the right type in the other set.

    Precision is the mean share over predicted spans, recall the one over expected spans; `f1`
    of the returned counts is made of these two means.
    """
    precision = _mean_share(predicted, token_types(expected, n_tokens))
    recall = _mean_share(expected, token_types(predicted, n_tokens))
    if not precision + recall:
        return SpanScore(0, len(predicted), len(expected))
    # Counts with these precision and recall, so that one class serves both scores.
    return SpanScore(precision * recall, recall, precision)


def token_types(spans: Spans, n_tokens: int) -> Codes:
    """Return the type of the span that each token lies in [N]; -1 outside of all."""
    change = np.zeros(n_tokens + 1, np.int64)
    change[spans.start] += spans.type + 1
    np.subtract.at(change, spans.end, spans.type + 1)
    return np.cumsum(change[:-1]) - 1


def _mean_share(spans: Spans, types: Codes) -> float:
    if not len(spans):
        return 0.0
    length = spans.end - spans.start
    owner = np.repeat(np.arange(len(spans)), length)
    offset = np.arange(len(owner)) - np.repeat(np.cumsum(length) - length, length)
    right = types[spans.start[owner] + offset] == spans.type[owner]
    return float((np.bincount(owner, right, len(spans)) / length).mean())


def spans_to_tags(spans: Spans, n_tokens: int, tag_set: TagSet) -> NDArray[np.int32]:
    """Write spans that do not overlap as tags [N]."""
    code = {tag: number for number, tag in enumerate(tag_set.classes)}
    inside = np.array([code[INSIDE + name] for name in tag_set.types], np.int64)
    begin = np.array([code[BEGIN + name] for name in tag_set.types], np.int64)
    types = token_types(spans, n_tokens)
    tags = np.full(n_tokens, tag_set.outside, np.int32)
    tags[types >= 0] = inside[types[types >= 0]]
    tags[spans.start] = begin[spans.type]
    return tags
