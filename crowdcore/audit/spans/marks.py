"""Every span that a worker marked, as a table: where, what, and what became of it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from crowdcore.audit.spans.comparison import OUTCOMES, SpanComparison, compare
from crowdcore.audit.spans.texts import span_words, text_names
from crowdcore.export.columns import TableColumn, as_categories
from crowdcore.export.tables import LabelSource
from crowdcore.spans import TagSet


@lru_cache(maxsize=2)
def _compared(source: LabelSource) -> SpanComparison:
    data, result = source
    order_tags = None if result is None else result.truth
    from crowdcore.annotations import annotation_order

    order = annotation_order(data)
    outside = np.full(data.n_labels, TagSet(data.classes).outside)
    return compare(data, outside if order_tags is None else order_tags[order.item])


def _per_span(values: Any) -> Any:
    def make(source: LabelSource) -> Any:
        return values(source.data, _compared(source))

    return make


def _start(data: Any, spans: SpanComparison) -> Any:
    return spans.order.item[spans.given.start]


def _within(data: Any, spans: SpanComparison, token: Any) -> Any:
    text = spans.order.text[spans.given_annotation]
    return token - np.asarray(data.offsets)[text]


def _words(data: Any, spans: SpanComparison) -> list[str]:
    starts = _start(data, spans)
    sizes = spans.given.end - spans.given.start
    return [
        span_words(data, start, start + size)
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)
    ]


MARK_COLUMNS: tuple[TableColumn[LabelSource], ...] = (
    TableColumn(
        name="item",
        title="Text",
        help="The text in which the span was marked.",
        unit="name",
        values=_per_span(
            lambda data, spans: as_categories(
                spans.order.text[spans.given_annotation], text_names(data)
            )
        ),
    ),
    TableColumn(
        name="worker",
        title="Worker",
        help="Who marked it.",
        unit="name",
        values=_per_span(
            lambda data, spans: as_categories(
                spans.order.worker[spans.given_annotation], data.workers
            )
        ),
    ),
    TableColumn(
        name="start",
        title="Start",
        help="The first token of the span, counted from 0 in its text.",
        unit="labels",
        values=_per_span(lambda data, spans: _within(data, spans, _start(data, spans))),
    ),
    TableColumn(
        name="end",
        title="End",
        help="The token after its last.",
        unit="labels",
        values=_per_span(
            lambda data, spans: _within(
                data, spans, _start(data, spans) + spans.given.end - spans.given.start
            )
        ),
    ),
    TableColumn(
        name="label",
        title="Type",
        help="The type that the worker gave it.",
        unit="class",
        values=_per_span(
            lambda data, spans: as_categories(spans.given.type, TagSet(data.classes).types)
        ),
    ),
    TableColumn(
        name="words",
        title="Words",
        help="The words of the span.",
        unit="text",
        values=_per_span(_words),
    ),
    TableColumn(
        name="outcome",
        title="Beside the truth",
        help="Exact, wrong type, edges, split, fused or invented, beside the truths of the run.",
        unit="text",
        values=lambda source: (
            None
            if source.result is None
            else as_categories(_compared(source).outcome.astype(np.int64), OUTCOMES)
        ),
    ),
)
"""Columns of the marked spans beside a result."""
