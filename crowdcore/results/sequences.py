"""Results of texts with marked spans: a valid tag for each token, and the spans that they make."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import Floats
from crowdcore.errors import ResultError
from crowdcore.results.classes import ClassEstimate, ClassResult
from crowdcore.results.result import Score
from crowdcore.spans import (
    Spans,
    SpanScore,
    TagSet,
    find_spans,
    is_among,
    relaxed_score,
    repaired,
    score,
)
from crowdcore.wording import percent

N_RESAMPLES = 1000
"""How often documents are drawn anew for the interval of a score."""

MIN_DOCUMENTS = 10
"""Fewer documents are too few to draw from; their texts are drawn instead."""


@dataclass(frozen=True, kw_only=True)
class SequenceEstimate(ClassEstimate):
    """What a method infers of the tags of tokens; its truths must be valid BIO."""

    def to_result(self, **common: Any) -> SequenceResult:
        """Check distributions and tags; see `Estimate.to_result`."""
        data = common["data"]
        by_token = super().to_result(**common)
        starts = data.offsets[:-1]
        valid = repaired(by_token.truth, starts, TagSet(data.classes))
        if not np.array_equal(valid, by_token.truth):
            raise ResultError("truth: an I-x stands behind another type")
        answers = {name: getattr(by_token, name) for name in ClassResult.answers}
        return SequenceResult(**answers, **common)


@dataclass(frozen=True, kw_only=True)
class SequenceScore(Score):
    """How many spans are exactly right, with an interval by drawing documents anew.

    Parameters
    ----------
    n
        How many texts have gold.
    exact
        By the rule of conlleval: first token, last token and type must be right.
    begins_with_b
        The same, counting only spans that begin with B-, as some papers do.
    relaxed
        By the share of a span's tokens that have the right type.
    interval
        The 95 % interval of the exact F1.
    """

    exact: SpanScore
    begins_with_b: SpanScore
    relaxed: SpanScore
    interval: tuple[float, float]

    @property
    def figures(self) -> dict[str, float | int]:
        """The measures by name, as they are written to files."""
        low, high = self.interval
        return {
            "f1": self.exact.f1,
            "low": low,
            "high": high,
            "precision": self.exact.precision,
            "recall": self.exact.recall,
            "correct": int(self.exact.correct),
            "spans": int(self.exact.predicted),
            "gold_spans": int(self.exact.expected),
            "relaxed_f1": self.relaxed.f1,
            "f1_begins_with_b": self.begins_with_b.f1,
            "n": self.n,
        }

    @property
    def headline(self) -> str:
        """The measure that counts most, in a few words."""
        return f"span F1 {percent(self.exact.f1)} against gold"

    @property
    def lines(self) -> list[str]:
        """The measures in sentences."""
        low, high = self.interval
        exact = self.exact
        return [
            f"Span F1 against gold: {exact.f1:.4f} (95 % interval {low:.4f} to {high:.4f}); "
            f"precision {exact.precision:.4f}, recall {exact.recall:.4f}: {exact.correct:,} of "
            f"{exact.predicted:,} spans are exactly right, and gold has {exact.expected:,}",
            f"By the share of right tokens in a span: F1 {self.relaxed.f1:.4f}",
        ]


@dataclass(frozen=True, kw_only=True, eq=False)
class SequenceResult(ClassResult):
    """Tags of tokens, each with a probability, and the spans that they make.

    As in a `ClassResult` tokens are items and tags are classes. The truths are the likeliest tags
    of each text as a whole, so they may differ from the likeliest tag of a token by itself.
    """

    @cached_property
    def tag_set(self) -> TagSet:
        """What the tags mean."""
        return TagSet(self.data.classes)

    @property
    def starts(self) -> NDArray[np.int64]:
        """The first token of each text [S]."""
        offsets: NDArray[np.int64] = np.asarray(self.data.offsets, np.int64)
        return offsets[:-1]

    @cached_property
    def spans(self) -> Spans:
        """The spans that the truths describe."""
        return find_spans(self.truth, self.starts, self.tag_set)

    @cached_property
    def span_confidence(self) -> Floats:
        """The product of the probabilities of each span's tags [M]."""
        return span_confidence(self.posterior, self.truth, self.spans)

    @property
    def summary(self) -> dict[str, float | int]:
        """Spans, texts without one, and how sure the spans are."""
        texts = np.searchsorted(self.starts, self.spans.start, side="right") - 1
        mean = float(self.span_confidence.mean()) if len(self.spans) else 1.0
        return {
            "spans": len(self.spans),
            "texts": len(self.starts),
            "texts_without_spans": len(self.starts) - len(np.unique(texts)),
            "mean_span_confidence": mean,
        }

    @property
    def summary_line(self) -> str:
        """The same numbers in a sentence."""
        numbers = self.summary
        return (
            f"Truths: {numbers['spans']:,} spans in {numbers['texts']:,} texts, "
            f"{numbers['texts_without_spans']:,} texts without a span; mean confidence of a span "
            f"{numbers['mean_span_confidence']:.3f}"
        )

    def score(self) -> SequenceScore | None:  # type: ignore[override]
        """Compare the spans with those of gold, in the texts that have gold.

        Returns
        -------
        SequenceScore or None
            None where there is no gold, or where the method has seen it.
        """
        data = self.data
        if not self.can_be_scored or data.gold is None:
            return None
        return score_tags(
            self.truth,
            data.gold,
            starts=self.starts,
            tag_set=self.tag_set,
            documents=np.asarray(data.details.get("document", data.items), object),
        )


def span_confidence(posterior: Floats, tags: NDArray[Any], spans: Spans) -> Floats:
    """Return the product of the probabilities of each span's tags [M].

    Parameters
    ----------
    posterior
        The probability of each tag of each token [N, K].
    tags
        Codes of the tokens' tags [N].
    spans
        The spans that they make.

    Returns
    -------
    numpy.ndarray
    """
    codes = np.maximum(tags, 0)
    logs = np.log(np.maximum(posterior[np.arange(len(codes)), codes], 1e-12))
    total = np.concatenate([[0.0], np.cumsum(logs)])
    confidence: Floats = np.exp(np.minimum(total[spans.end] - total[spans.start], 0))
    return confidence


@dataclass(frozen=True, kw_only=True, eq=False)
class TaggedTexts:
    """Texts that a tagger marked, as far as they are written like a result's.

    Parameters
    ----------
    names
        The texts [S].
    tokens
        All tokens, text by text [N].
    starts
        The character at which each token begins in its text [N]; None where it is not known.
    offsets
        Where each text starts among the tokens, and the last one ends [S + 1].
    classes
        The tags [K].
    posterior
        The probability of each tag of each token [N, K].
    truth
        The likeliest valid tags [N].
    """

    names: tuple[str, ...]
    tokens: tuple[str, ...]
    starts: tuple[int, ...] | None
    offsets: NDArray[np.int64]
    classes: tuple[str, ...]
    posterior: Floats
    truth: NDArray[np.int64]

    @cached_property
    def tag_set(self) -> TagSet:
        """What the tags mean."""
        return TagSet(self.classes)

    @cached_property
    def spans(self) -> Spans:
        """The spans that the tags describe."""
        return find_spans(self.truth, self.offsets[:-1], self.tag_set)

    @cached_property
    def span_confidence(self) -> Floats:
        """The product of the probabilities of each span's tags [M]."""
        return span_confidence(self.posterior, self.truth, self.spans)


def score_tags(
    truth: NDArray[Any],
    gold: NDArray[Any],
    *,
    starts: NDArray[np.int64],
    tag_set: TagSet,
    documents: NDArray[Any],
) -> SequenceScore:
    """Score tags by gold, in texts whose tokens all have gold.

    Parameters
    ----------
    truth, gold
        Codes of tags [N]; gold is -1 where it is not known.
    starts
        The first token of each text [S].
    tag_set
        What the codes mean.
    documents
        The name of each token's document [N], which are drawn for the interval.

    Returns
    -------
    SequenceScore
    """
    n_types = len(tag_set.types)
    text_of = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(gold))))
    known = np.bincount(text_of, gold < 0, len(starts)) == 0
    chosen = known[text_of]

    def spans(tags: NDArray[Any], rule: Any) -> Spans:
        marked = find_spans(tags, starts, tag_set, rule)
        return marked.only(chosen[marked.start])

    predicted, expected = spans(truth, "conlleval"), spans(gold, "conlleval")
    exact = score(predicted, expected, n_types)
    names, unit = np.unique(documents[starts].astype(str), return_inverse=True)
    if len(names) < MIN_DOCUMENTS:
        unit = np.arange(len(starts))
    hits = predicted.only(is_among(predicted, expected, n_types))
    counts = np.stack(
        [
            np.bincount(unit[text_of[marked.start]], minlength=int(unit.max(initial=0)) + 1)
            for marked in (hits, predicted, expected)
        ]
    )[:, np.unique(unit[known])]
    return SequenceScore(
        n=int(known.sum()),
        exact=exact,
        begins_with_b=score(spans(truth, "begins with B"), spans(gold, "begins with B"), n_types),
        relaxed=relaxed_score(predicted, expected, len(gold)),
        interval=_bootstrap(counts),
    )


def _bootstrap(counts: NDArray[np.int64]) -> tuple[float, float]:
    """The 95 % interval of F1, by drawing units with their counts [3, units] anew."""
    n_units = counts.shape[1]
    if not n_units:
        return 0.0, 1.0
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(n_units, np.full(n_units, 1 / n_units), N_RESAMPLES) @ counts.T
    total = drawn[:, 1] + drawn[:, 2]
    f1 = np.where(total > 0, 2 * drawn[:, 0] / np.maximum(total, 1), 1.0)
    low, high = np.quantile(f1, [0.025, 0.975])
    return float(low), float(high)
