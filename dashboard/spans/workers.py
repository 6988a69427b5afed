"""Workers who mark spans: the table, where everyone stands, and one worker's errors."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from crowdcore.audit.kinds import audit_of
from crowdcore.audit.spans import comparison
from crowdcore.audit.spans.comparison import OUTCOMES
from crowdcore.audit.spans.texts import span_words, text_names
from crowdcore.audit.spans.workers import COLUMNS
from crowdcore.spans import TagSet
from crowdcore.wording import NOTHING, count, percent, percents, rate
from dashboard import cache, layout, state, widgets
from dashboard.charts.palette import finish, verdict_colour, verdict_style, verdict_words
from dashboard.charts.workers import MAX_CLASSES, confusion_heatmap
from dashboard.decisions import about_workers
from dashboard.tables import page_of
from dashboard.text import escape_md
from dashboard.workers import ticked
from dashboard.workers.table import EXCLUDED, UNKNOWN, verdict_text

if TYPE_CHECKING:
    from crowdcore.audit.spans.comparison import SpanComparison
    from crowdcore.workspace import RunRow

ORDERS = {
    "Lowest F1 first": ("f1", True),
    "Lowest recall first": ("recall", True),
    "Lowest precision first": ("precision", True),
}
CHARTS = ("precision_recall",)
MAX_PIXELS, MAX_ERRORS = 420, 200

COUNTS = (
    "missed",
    "invented",
    "wrong_type",
    "early_start",
    "late_start",
    "early_end",
    "late_end",
    "split",
    "fused",
)
"""Columns with numbers of errors, in the order in which they are shown."""


def draw_metrics(run: RunRow, workers: pd.DataFrame) -> None:
    """Draw the row of numbers."""
    active = workers[workers["verdict"] != EXCLUDED]
    doubtful = active["verdict"].isin(audit_of("sequences").in_doubt)
    exact = np.nansum(active["recall"].to_numpy() * active["n_compared"].to_numpy())
    agreement = cache.agreement(run.id)
    row = st.container(horizontal=True)
    widgets.metric(row, "Workers", count(len(active)))
    widgets.metric(
        row,
        "Spans found",
        percent(exact / max(1, active["n_compared"].sum())),
        help="Of the spans that the others see, how many a worker marks exactly so. Nobody's own "
        "marks have a part in what they are compared with.",
    )
    widgets.metric(
        row,
        "Marks right",
        percent(exact / max(1, active["n_spans"].sum())),
        help="Of the spans that workers mark, how many the others see exactly so.",
    )
    widgets.metric(row, "In doubt", count(int(doubtful.sum())))
    widgets.metric(
        row,
        "Undecided",
        count(int((active["verdict"] == UNKNOWN).sum())),
        help="Workers of whom nothing can be said yet. That is no verdict against them.",
    )
    widgets.metric(
        row,
        "Agreement (span F1)",
        NOTHING if agreement.alpha is None else f"{agreement.alpha:.2f}",
        help=escape_md(agreement.describe()),
    )


def draw_table(run: RunRow, workers: pd.DataFrame, ticked_names: Sequence[str]) -> list[str]:
    """Show some workers, of whom several can be ticked; return all who are, shown or not."""
    if workers.empty:
        st.info("No worker passes these filters.", icon=":material/filter_alt_off:")
        return list(ticked_names)
    workers = workers.iloc[page_of(np.arange(len(workers)), key="workers_page", noun="workers")]
    listed = {column.name: column for column in COLUMNS}
    cells: dict[str, Any] = {
        "worker": workers["worker"].to_numpy(),
        "verdict": [verdict_text(verdict) for verdict in workers["verdict"]],
        "f1": percents(workers["f1"]),
        "precision": [rate(*values) for values in _rates(workers, "precision")],
        "recall": [rate(*values) for values in _rates(workers, "recall")],
        "n_labels": workers["n_labels"].to_numpy(),
        **{name: workers[name].to_numpy() for name in COUNTS},
        "empty": 100 * workers["empty"].to_numpy(),
    }
    if "gold_f1" in workers:
        cells["gold_f1"] = 100 * workers["gold_f1"].to_numpy()
    cells["evidence"] = workers["evidence"].to_numpy()
    column = st.column_config

    def number(name: str, form: str = "localized", width: int = 75) -> Any:
        entry = listed[name]
        return column.NumberColumn(entry.title, format=form, width=width, help=entry.help)

    columns = {
        "worker": column.TextColumn("Worker", pinned=True, width=90),
        "verdict": column.TextColumn(
            "Verdict", width=125, help=audit_of("sequences").describe_verdicts()
        ),
        "f1": widgets.percent_bar("F1", width=100, help=listed["f1"].help),
        "precision": column.TextColumn("Precision", width=115, help=listed["precision"].help),
        "recall": column.TextColumn("Recall", width=115, help=listed["recall"].help),
        "n_labels": number("n_labels"),
        **{name: number(name) for name in COUNTS},
        "empty": number("empty", "%.0f%%", 80),
        "gold_f1": column.NumberColumn(
            "F1 on gold", format="%.0f%%", width=85, help="F1 against the known spans."
        ),
        "evidence": column.TextColumn("Evidence", width="large"),
    }
    names = widgets.tick_table(
        pd.DataFrame(cells),
        key=f"workers_table_{run.id}_{zlib.crc32(workers.index.to_numpy().tobytes()):08x}",
        alt="Workers with their verdicts",
        columns=columns,
        select="worker",
        ticked=ticked_names,
        height=MAX_PIXELS,
    )
    st.caption(
        "Precision, recall and F1 compare a worker's spans with those that the others alone would "
        "give. **Tick a row or click a point for the evidence; tick several to exclude them "
        "together.**"
    )
    return names


def _rates(workers: pd.DataFrame, name: str) -> Any:
    columns = (workers[f"{name}{end}"] for end in ("", "_low", "_high"))
    return zip(*columns, strict=True)


def ticked_cells(workers: pd.DataFrame) -> dict[str, Sequence[str]]:
    """Write what the list of ticked workers shows beside verdict and evidence."""
    return {
        name.capitalize(): [rate(*values) for values in _rates(workers, name)]
        for name in ("precision", "recall")
    }


def draw_overview(run: RunRow, workers: pd.DataFrame, keys: Mapping[str, str]) -> None:
    """Draw everyone by recall and precision; a click selects a worker."""
    theme = layout.theme()
    figure = go.Figure()
    for verdict, group in workers.groupby("verdict", sort=False):
        style = verdict_style(str(verdict))
        figure.add_scatter(
            x=100 * group["recall"],
            y=100 * group["precision"],
            mode="markers",
            name=verdict_text(str(verdict)),
            marker={
                "symbol": style.symbol,
                "color": verdict_colour(str(verdict), theme),
                "size": 9,
            },
            customdata=[[name] for name in group["worker"]],
            hovertemplate="%{customdata[0]}<br>recall %{x:.0f}%, precision %{y:.0f}%"
            "<extra></extra>",
        )
    figure.update_xaxes(title="Recall: spans found", ticksuffix="%", range=[-3, 103])
    figure.update_yaxes(title="Precision: marks right", ticksuffix="%", range=[-3, 103])
    widgets.chart(
        finish(figure, theme=theme, height=380),
        key=keys["precision_recall"],
        alt="Precision and recall of every worker",
        select="points",
    )


@st.cache_resource(max_entries=4, show_spinner="Comparing marks with the truths …")
def _compared(run_id: str) -> SpanComparison:
    from crowdcore.annotations import annotation_order

    result = cache.with_all_labels(state.workspace().run(run_id))
    order = annotation_order(result.data)
    return comparison.compare(result.data, result.truth[order.item])


def draw_worker(run: RunRow, name: str) -> None:
    """Show one worker: the verdict, kinds of error, type confusion, and the clearest errors."""
    st.divider()
    widgets.panel_heading(
        f"Worker {escape_md(name, limit=60)}",
        key="worker_close",
        on_close=lambda: ticked.close(run),
    )
    data = cache.with_all_labels(run).data
    if name not in data.workers:
        st.warning("This run's data have no worker of that name; the link may be of another run.")
        return
    row = cache.workers(run.id).iloc[data.workers.index(name)]
    if name in run.excluded:
        st.markdown("**Excluded from this run.**")
    else:
        verdict = audit_of("sequences").verdict_named(row["verdict"])
        st.markdown(
            f"**{escape_md(verdict_words(row['verdict']))}.** {escape_md(row['evidence'])}",
            help=None if verdict is None else f"{verdict.meaning} {verdict.advice}",
        )
        if verdict is not None and verdict.harm:
            st.caption(f"It does not mean: {verdict.caveat}")
        texts, spans = count(row["n_labels"], "text"), count(row["n_spans"], "span")
        precision, recall = (
            rate(row[name], row[f"{name}_low"], row[f"{name}_high"])
            for name in ("precision", "recall")
        )
        st.caption(f"{texts} · {spans} marked · precision {precision} · recall {recall}")
    about_workers.draw(run, [name], page="workers")
    code = data.workers.index(name)
    left_column, right_column = layout.side_by_side(1, 1)
    with left_column:
        _draw_errors(row)
    with right_column:
        _draw_types(run, code)
    _draw_evidence(run, code)


def _draw_errors(row: Any) -> None:
    listed = {column.name: column for column in COLUMNS}
    st.subheader("Kinds of error", anchor=False)
    exact = round(row["recall"] * row["n_compared"]) if row["n_compared"] else 0
    names = ["Exactly right", *(listed[name].title for name in COUNTS)]
    values = [exact, *(int(row[name]) for name in COUNTS)]
    theme = layout.theme()
    figure = go.Figure(
        go.Bar(
            x=values[::-1],
            y=names[::-1],
            orientation="h",
            text=[f"{value:,}" for value in values[::-1]],
            marker_color=verdict_colour("good", theme),
        )
    )
    widgets.chart(
        finish(figure, theme=theme, height=320),
        key=f"span_errors_{row['worker']}",
        alt="How many spans of this worker are right, and how many of each kind of error",
    )
    st.caption("Against what the others alone would give.")


def _draw_types(run: RunRow, code: int) -> None:
    spans = _compared(run.id)
    data = cache.with_all_labels(run).data
    types = TagSet(data.classes).types
    st.subheader("Types", anchor=False)
    worker = spans.order.worker[spans.given_annotation]
    chosen = (worker == code) & (spans.truth_type >= 0)
    counts = np.zeros((len(types), len(types)), np.int64)
    np.add.at(counts, (spans.truth_type[chosen], spans.given.type[chosen]), 1)
    if len(types) < 2 or not counts.sum():  # noqa: PLR2004  (one type cannot be confused)
        st.caption("There is one type of span, or no mark lies on a span, so none is confused.")
        return
    shown = np.argsort(-(counts.sum(0) + counts.sum(1)), kind="stable")[:MAX_CLASSES]
    part = counts[np.ix_(shown, shown)]
    shares = part / np.maximum(part.sum(1, keepdims=True), 1)
    widgets.chart(
        confusion_heatmap(
            shares, part, [types[i] for i in shown], show_counts=True, theme=layout.theme()
        ),
        key=f"span_types_{run.id}_{code}",
        alt="Which type this worker gives to spans of each type",
    )
    st.caption("Rows: the type of the inferred span. Columns: the type that the worker gave.")


def _draw_evidence(run: RunRow, code: int) -> None:
    spans = _compared(run.id)
    data = cache.with_all_labels(run).data
    types, names = TagSet(data.classes).types, text_names(data)
    given = np.flatnonzero(
        (spans.order.worker[spans.given_annotation] == code) & (spans.outcome != comparison.EXACT)
    )
    missed = np.flatnonzero((spans.order.worker[spans.expected_annotation] == code) & spans.missed)
    rows = []
    for index in given[:MAX_ERRORS].tolist():
        start = int(spans.order.item[spans.given.start[index]])
        size = int(spans.given.end[index] - spans.given.start[index])
        rows.append(
            {
                "item": names[spans.order.text[spans.given_annotation[index]]],
                "error": OUTCOMES[spans.outcome[index]],
                "gave": f"{types[spans.given.type[index]]} {span_words(data, start, start + size)}",
                "context": _context(data, start, start + size),
            }
        )
    for index in missed[: MAX_ERRORS - len(rows)].tolist():
        start = int(spans.order.item[spans.expected.start[index]])
        size = int(spans.expected.end[index] - spans.expected.start[index])
        words = span_words(data, start, start + size)
        rows.append(
            {
                "item": names[spans.order.text[spans.expected_annotation[index]]],
                "error": "missed",
                "gave": f"nothing for {types[spans.expected.type[index]]} {words}",
                "context": _context(data, start, start + size),
            }
        )
    st.subheader("Their errors in the text", anchor=False)
    if not rows:
        st.caption("Every mark is exactly what was inferred.")
        return
    column = st.column_config
    item = widgets.table(
        pd.DataFrame(rows),
        key=f"span_evidence_{run.id}_{code}",
        alt="Errors of this worker with their text",
        select="item",
        columns={
            "item": column.TextColumn("Text", width=100),
            "error": column.TextColumn("Error", width=95),
            "gave": column.TextColumn("Gave", width=240),
            "context": column.TextColumn("In the text", width="large"),
        },
        height=MAX_PIXELS,
    )
    total = len(given) + len(missed)
    note = f"The first {len(rows):,} of {count(total, 'difference')} from this run's truths."
    widgets.open_item(item, key="span_open_item", note=note)


def _context(data: Any, start: int, end: int, reach: int = 6) -> str:
    text = int(np.searchsorted(data.offsets, start, side="right")) - 1
    low, high = np.asarray(data.offsets)[text : text + 2].tolist()
    words = data.details.get("token", data.items)
    before = " ".join(words[max(low, start - reach) : start])
    after = " ".join(words[end : min(high, end + reach)])
    return f"{before} [{' '.join(words[start:end])}] {after}".strip()
