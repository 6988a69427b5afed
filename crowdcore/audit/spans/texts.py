"""What a manager asks of a text: which spans, how sure, disputed, changed against the vote."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crowdcore.annotations import annotation_spans, vote_by_token
from crowdcore.data import CrowdData, Floats
from crowdcore.export.columns import TableColumn, build_table
from crowdcore.spans import Spans, TagSet, find_spans, is_among, repaired

if TYPE_CHECKING:
    from crowdcore.audit.spans.comparison import Codes
    from crowdcore.results.result import Result

MAX_WORDS = 12
"""Words of a span that a table shows."""


def text_names(data: CrowdData) -> list[str]:
    """Return the name of each text [S]."""
    starts = np.asarray(data.offsets)[:-1].tolist()
    names = data.details.get("text")
    return [names[start] if names else data.items[start] for start in starts]


def text_words(data: CrowdData, text: int) -> list[str]:
    """Return the tokens of a text."""
    begin, end = np.asarray(data.offsets)[text : text + 2].tolist()
    return list(data.details.get("token", data.items)[begin:end])


def span_words(data: CrowdData, start: int, end: int) -> str:
    """Return the words of a span, shortened."""
    words = list(data.details.get("token", data.items)[start : min(end, start + MAX_WORDS)])
    return " ".join(words) + (" …" if end - start > MAX_WORDS else "")


class TextAudit:
    """Numbers of a result's texts that several columns share, each computed once."""

    def __init__(self, result: Any) -> None:
        self.result = result
        self.data: CrowdData = result.data
        self.tag_set: TagSet = result.tag_set
        self.n_texts = len(result.starts)

    def text_of(self, tokens: NDArray[Any]) -> Codes:
        """The text of each token."""
        return np.searchsorted(self.result.starts, tokens, side="right") - 1

    @cached_property
    def span_text(self) -> Codes:
        """The text of each true span."""
        return self.text_of(self.result.spans.start)

    @cached_property
    def least_sure(self) -> Floats:
        """The confidence of the least sure span of each text [S]; of no span, that there is none.

        Without a span it is that of the least sure token to be outside of every span.
        """
        result = self.result
        outside = result.posterior[:, self.tag_set.outside]
        least = np.minimum.reduceat(
            np.where(result.truth == self.tag_set.outside, outside, 1.0), result.starts
        )
        with_spans = np.ones(self.n_texts)
        np.minimum.at(with_spans, self.span_text, result.span_confidence)
        has = np.bincount(self.span_text, minlength=self.n_texts) > 0
        return np.where(has, with_spans, least)

    @cached_property
    def n_spans(self) -> Codes:
        """Spans of each text [S]."""
        return np.bincount(self.span_text, minlength=self.n_texts)

    @cached_property
    def written(self) -> list[str]:
        """The spans of each text in words [S], such as "LOC Rome; PER Anna"."""
        parts: list[list[str]] = [[] for _ in range(self.n_texts)]
        spans = self.result.spans
        for text, start, end, name in zip(
            self.span_text.tolist(),
            spans.start.tolist(),
            spans.end.tolist(),
            spans.type.tolist(),
            strict=True,
        ):
            words = span_words(self.data, start, end)
            parts[text].append(f"{self.tag_set.types[name]} {words}")
        return ["; ".join(part) for part in parts]

    @cached_property
    def annotations(self) -> Any:
        """Every span that a worker marked."""
        return annotation_spans(self.data, self.tag_set)

    @cached_property
    def disagreement(self) -> Floats:
        """The share of marks in a text that most of its workers did not make so [S]."""
        marked = self.annotations
        keys = marked.spans.keys(len(self.tag_set.types))
        _, index = np.unique(keys, return_inverse=True)
        votes = np.bincount(index)[index]
        minority = 2 * votes <= marked.annotations_per_text[marked.text]
        total = np.bincount(marked.text, minlength=self.n_texts)
        alone = np.bincount(marked.text, minority, self.n_texts)
        share: Floats = np.where(total > 0, alone / np.maximum(total, 1), 0.0)
        return share

    def _differs(self, spans: Spans) -> NDArray[np.bool_]:
        """Which texts [S] have other spans than the truths."""
        n_types, mine = len(self.tag_set.types), self.result.spans
        only_mine = self.span_text[~is_among(mine, spans, n_types)]
        only_theirs = self.text_of(spans.start[~is_among(spans, mine, n_types)])
        differs = np.zeros(self.n_texts, bool)
        differs[only_mine] = True
        differs[only_theirs] = True
        return differs

    @cached_property
    def changed(self) -> NDArray[np.bool_]:
        """Which texts [S] have other spans than the vote by token."""
        vote = repaired(vote_by_token(self.data), self.result.starts, self.tag_set)
        return self._differs(find_spans(vote, self.result.starts, self.tag_set))

    @cached_property
    def right(self) -> NDArray[np.int8]:
        """Whether all spans of a text are those of gold [S]: 1 or 0, and -1 without gold."""
        if self.data.gold is None:
            return np.full(self.n_texts, -1, np.int8)
        gold = find_spans(self.data.gold, self.result.starts, self.tag_set)
        unknown = np.add.reduceat(self.data.gold < 0, self.result.starts) > 0
        return np.where(unknown, -1, ~self._differs(gold)).astype(np.int8)

    @cached_property
    def marked_but_empty(self) -> NDArray[np.bool_]:
        """Which texts [S] have marks of workers but no true span."""
        marks = np.bincount(self.annotations.text, minlength=self.n_texts)
        return np.asarray((marks > 0) & (self.n_spans == 0), bool)


def _column(name: str, title: str, help: str, unit: Any, values: Any) -> TableColumn[Any]:
    return TableColumn(name=name, title=title, help=help, unit=unit, values=values)


def _of(values: Any) -> Any:
    return lambda result: values(TextAudit(result))


TRUTH_COLUMNS: tuple[TableColumn[Any], ...] = (
    _column("item", "Text", "The name of the text.", "name", lambda r: text_names(r.data)),
    _column(
        "truth",
        "Spans",
        "The spans of the text: type and words, from left to right; empty where there is none.",
        "text",
        _of(lambda audit: audit.written),
    ),
    _column(
        "confidence",
        "Least sure",
        "The confidence of the text's least sure span: the product of its tokens' probabilities. "
        "Without a span, how sure it is that there is none.",
        "share",
        _of(lambda audit: audit.least_sure),
    ),
    _column(
        "n_spans",
        "Number of spans",
        "How many spans the text has.",
        "labels",
        _of(lambda audit: audit.n_spans),
    ),
    _column(
        "n_labels",
        "Annotations",
        "How many workers annotated the text.",
        "labels",
        _of(lambda audit: audit.annotations.annotations_per_text),
    ),
    _column(
        "words",
        "Words",
        "The tokens of the text, with blanks between them.",
        "text",
        lambda r: [" ".join(text_words(r.data, t)) for t in range(len(r.starts))],
    ),
)
"""Columns of truths.csv and truths.parquet, one row per text."""

TEXT_COLUMNS: tuple[TableColumn[TextAudit], ...] = (
    _column(
        "disagreement",
        "Disputed",
        "The share of marks in the text that most of its workers did not make exactly so.",
        "share",
        lambda audit: audit.disagreement,
    ),
    _column(
        "changed",
        "Changed",
        "Whether the spans differ from those of a vote by token.",
        "yes or no",
        lambda audit: audit.changed,
    ),
    _column(
        "marked_but_empty",
        "Marked, but empty",
        "Whether workers marked something but no span was inferred.",
        "yes or no",
        lambda audit: audit.marked_but_empty,
    ),
    _column(
        "right",
        "Right",
        "1 where all spans are those of gold, 0 where not, -1 where gold is not known.",
        "yes or no",
        lambda audit: audit.right,
    ),
)
"""What a page adds to the truths of texts."""


def compare_texts(result: Result) -> pd.DataFrame:
    """Compare the spans of texts with the vote by token, and with gold.

    Parameters
    ----------
    result
        Truths of the kind "sequences".

    Returns
    -------
    pandas.DataFrame
        One row per text, with the columns of `TEXT_COLUMNS`.
    """
    return build_table(TEXT_COLUMNS, TextAudit(result))
