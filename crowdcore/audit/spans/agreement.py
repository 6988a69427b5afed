"""How far workers agree on spans: the F1 of one worker's spans against another's."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from crowdcore.annotations import annotation_spans
from crowdcore.data import CrowdData
from crowdcore.spans import TagSet
from crowdcore.wording import count

N_RESAMPLES = 1000
"""Resamples of the texts behind an interval."""


@dataclass(frozen=True, kw_only=True)
class SpanAgreement:
    """How often two workers mark exactly the same span.

    Parameters
    ----------
    alpha
        The F1 of one worker's spans against another's, over all pairs of annotations of a text;
        None where no text has two annotations, or nobody marked anything in them.
    interval
        Its 95 % interval, by drawing texts anew.
    n_items
        Texts with two annotations or more.
    n_alone
        Texts with one annotation, which are left out.
    empty
        The share of annotations without a span.
    """

    alpha: float | None
    interval: tuple[float, float] | None
    n_items: int
    n_alone: int
    empty: float

    measure: ClassVar[str] = "Pairwise span F1"

    def describe(self) -> str:
        """Say what the numbers mean, or why there are none."""
        alone = ""
        if self.n_alone:
            alone = f" Left out: {count(self.n_alone, 'text')} with one annotation only."
        if self.alpha is None:
            return f"No two workers can be compared.{alone}"
        return (
            f"Where one worker marked a span, another marked exactly the same one in "
            f"{self.alpha:.1%} of cases; {self.empty:.0%} of annotations are empty.{alone}"
        )

    def to_json(self) -> dict[str, Any]:
        """Turn the numbers into plain JSON values."""
        return asdict(self)


def span_agreement(data: CrowdData) -> SpanAgreement:
    """Compare every two annotations of the same text, in time linear in the spans.

    Parameters
    ----------
    data
        Labels of the kind "sequences".

    Returns
    -------
    SpanAgreement
    """
    tag_set = TagSet(data.classes)
    marked = annotation_spans(data, tag_set)
    per_text = marked.annotations_per_text
    keys = marked.spans.keys(len(tag_set.types))
    _, first, index = np.unique(keys, return_index=True, return_inverse=True)
    votes = np.bincount(index, minlength=len(first))
    n_texts = len(per_text)
    agreeing = np.bincount(marked.text[first], votes * (votes - 1), n_texts)
    possible = np.bincount(marked.text, per_text[marked.text] - 1, n_texts)
    shared = np.flatnonzero(per_text > 1)
    total = float(possible[shared].sum())
    n_annotations = len(marked.order)
    with_spans = len(np.unique(marked.worker * (1 << 32) + marked.text))
    return SpanAgreement(
        alpha=float(agreeing[shared].sum()) / total if total else None,
        interval=_interval(agreeing[shared], possible[shared]) if total else None,
        n_items=len(shared),
        n_alone=int((per_text == 1).sum()),
        empty=1 - with_spans / max(1, n_annotations),
    )


def _interval(agreeing: Any, possible: Any) -> tuple[float, float]:
    rng, n = np.random.default_rng(0), len(agreeing)
    weights = rng.multinomial(n, np.full(n, 1 / n), N_RESAMPLES) if n <= 5000 else None  # noqa: PLR2004
    if weights is None:  # the variance of a ratio of sums, where drawing would take memory
        ratio = agreeing.sum() / possible.sum()
        error = float(np.sqrt(((agreeing - ratio * possible) ** 2).sum()) / possible.sum())
        return float(ratio - 1.96 * error), float(ratio + 1.96 * error)
    drawn = possible @ weights.T
    shares = (agreeing @ weights.T) / np.maximum(drawn, 1)
    low, high = np.quantile(shares, [0.025, 0.975])
    return float(low), float(high)
