"""All texts: filters and orders, the numbers on top, the table, and the spans by type."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from crowdcore.audit.items import LOW_CONFIDENCE
from crowdcore.audit.spans.texts import TEXT_COLUMNS, TRUTH_COLUMNS
from crowdcore.wording import count, percent, percents
from dashboard import cache, widgets
from dashboard.tables import page_of

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from crowdcore.results.sequences import SequenceResult
    from crowdcore.workspace import RunRow

PRESETS = {
    "all": "All",
    "unsure": "Unsure",
    "disputed": "Disputed",
    "changed": "Changed vs. vote",
    "empty": "Marked, but empty",
    "wrong": "Wrong vs. gold",
}
ORDERS: dict[str, tuple[str | None, bool]] = {
    "Least sure first": ("confidence", True),
    "Most disputed first": ("disagreement", False),
    "Most spans first": ("n_spans", False),
    "As in the data": (None, True),
}

MIN_DISPUTED_SHARE = 0.5
"""A text is disputed where so many of its marks are not those of most workers."""

MAX_PIXELS, MAX_LETTERS = 560, 300


def spans_result(run_id: str) -> SequenceResult:
    """Return a run's result as what it is."""
    from crowdcore.results.sequences import SequenceResult

    result = cache.result(run_id)
    if not isinstance(result, SequenceResult):
        raise TypeError("The run is about texts")
    return result


def masks(items: pd.DataFrame) -> dict[str, NDArray[np.bool_]]:
    """Tell which texts pass each quick filter; filters that do not apply are left out."""
    passing = {
        "all": np.ones(len(items), bool),
        "unsure": items["confidence"].to_numpy() < LOW_CONFIDENCE,
        "disputed": items["disagreement"].to_numpy() >= MIN_DISPUTED_SHARE,
        "changed": items["changed"].to_numpy(bool),
        "empty": items["marked_but_empty"].to_numpy(bool),
    }
    if (items["right"] >= 0).any():
        passing["wrong"] = items["right"].to_numpy() == 0
    return passing


def narrow(row: DeltaGenerator, run: RunRow, items: pd.DataFrame) -> NDArray[np.bool_]:
    """Draw the choice of a type, and tell which texts have a span of it."""
    result = spans_result(run.id)
    wanted = row.selectbox(
        "Type",
        list(result.tag_set.types),
        index=None,
        key=f"truths_type_{run.id}",
        placeholder="Any type",
        width=200,
    )
    if wanted is None:
        return np.ones(len(items), bool)
    chosen = result.spans.only(result.spans.type == result.tag_set.types.index(wanted))
    has_type = np.zeros(len(items), bool)
    has_type[np.searchsorted(result.starts, chosen.start, side="right") - 1] = True
    return has_type


def draw_metrics(run: RunRow, items: pd.DataFrame) -> None:
    """Draw the row of numbers."""
    result = spans_result(run.id)
    row = st.container(horizontal=True)
    widgets.metric(row, "Texts", count(len(items)))
    widgets.metric(row, "Spans", count(len(result.spans)))
    unsure = result.span_confidence < LOW_CONFIDENCE
    widgets.metric(
        row,
        "Unsure spans",
        count(int(unsure.sum())),
        help=f"Spans with a confidence below {percent(LOW_CONFIDENCE, 0)}. Confidences order "
        "spans; they tend to be too sure.",
    )
    widgets.metric(
        row,
        "Changed vs. vote",
        count(items["changed"].sum()),
        help="Texts whose spans differ from those of a vote by token.",
    )
    score = result.score()
    if score is not None:
        low, high = score.interval
        widgets.metric(
            row,
            "Span F1 on gold",
            percent(score.exact.f1),
            help=f"Exactly right spans; 95 % interval {percent(low)} to {percent(high)}. "
            f"Precision {percent(score.exact.precision)}, recall {percent(score.exact.recall)}.",
        )


def draw_table(run: RunRow, items: pd.DataFrame, rows: NDArray[np.intp]) -> None:
    """Show the texts at the given positions; a selected row becomes the selected text."""
    if not len(rows):
        st.info("No text passes these filters.", icon=":material/filter_alt_off:")
        return
    rows = page_of(rows, key="truths_page", noun="texts")
    frame = items.iloc[rows]
    cells: dict[str, Any] = {
        "item": frame["item"].to_numpy(),
        "words": [words[:MAX_LETTERS] for words in frame["words"]],
        "truth": [truth[:MAX_LETTERS] for truth in frame["truth"]],
        "confidence": percents(frame["confidence"]),
        "flags": _flags(frame),
        "n_spans": frame["n_spans"].to_numpy(),
        "n_labels": frame["n_labels"].to_numpy(),
        "disagreement": 100 * frame["disagreement"].to_numpy(),
    }
    widgets.table(
        pd.DataFrame(cells),
        key=f"truths_table_{run.id}_{zlib.crc32(rows.tobytes()):08x}",
        alt="Texts with their spans",
        columns=_columns(),
        select="item",
        linked=True,
        height=MAX_PIXELS,
    )
    st.caption(
        f"Unsure: the least sure span is below {percent(LOW_CONFIDENCE, 0)}. Disputed: at least "
        f"{percent(MIN_DISPUTED_SHARE, 0)} of the marks are not those of most workers. Select a "
        "row to see the text with everybody's marks."
    )


def _flags(frame: pd.DataFrame) -> list[list[str]]:
    marks = {
        "changed": frame["changed"].to_numpy(bool),
        "marked, but empty": frame["marked_but_empty"].to_numpy(bool),
        "wrong": frame["right"].to_numpy() == 0,
        "not annotated": frame["n_labels"].to_numpy() == 0,
    }
    return [[name for name, mask in marks.items() if mask[row]] for row in range(len(frame))]


def _columns() -> dict[str, Any]:
    column = st.column_config
    listed = {entry.name: entry for entry in (*TRUTH_COLUMNS, *TEXT_COLUMNS)}

    def text(name: str, width: Any) -> Any:
        return column.TextColumn(listed[name].title, width=width, help=listed[name].help)

    def number(name: str, width: int, form: str = "localized") -> Any:
        entry = listed[name]
        return column.NumberColumn(entry.title, width=width, format=form, help=entry.help)

    return {
        "item": column.TextColumn("Text", pinned=True, width=90),
        "words": text("words", 280),
        "truth": text("truth", 240),
        "confidence": widgets.percent_bar("Least sure", width=100, help=listed["confidence"].help),
        "flags": column.ListColumn("Flags", width=120),
        "n_spans": number("n_spans", 60),
        "n_labels": number("n_labels", 90),
        "disagreement": number("disagreement", 80, "%.0f%%"),
    }


def draw_overview(run: RunRow, items: pd.DataFrame) -> None:
    """Show the spans by type: how many, how sure, and how long."""
    result = spans_result(run.id)
    spans, types = result.spans, result.tag_set.types
    n_spans = np.bincount(spans.type, minlength=len(types))
    total = np.maximum(n_spans, 1)
    sure = np.bincount(spans.type, result.span_confidence, len(types)) / total
    length = np.bincount(spans.type, spans.end - spans.start, len(types)) / total
    order = np.argsort(-n_spans, kind="stable")
    st.subheader("Spans by type", anchor=False)
    widgets.table(
        pd.DataFrame(
            {
                "type": [types[index] for index in order],
                "spans": n_spans[order],
                "confidence": percents(pd.Series(np.where(n_spans > 0, sure, np.nan)[order])),
                "length": np.where(n_spans > 0, length, np.nan)[order],
            }
        ),
        alt="Spans by type",
        columns={
            "type": st.column_config.TextColumn("Type"),
            "spans": st.column_config.NumberColumn("Spans", format="localized"),
            "confidence": widgets.percent_bar("Mean confidence"),
            "length": st.column_config.NumberColumn("Mean tokens", format="%.1f"),
        },
        height=MAX_PIXELS,
    )
    del items
