"""The Truths page where an item may have several classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray

from crowdcore.audit.items import LOW_CONFIDENCE, MIN_DISPUTED_SHARE
from crowdcore.audit.sets.classes import class_table, co_occurrence, confusable
from crowdcore.audit.sets.items import COLUMNS, TRUTH_COLUMNS
from crowdcore.engine.set_answers import ticks_per_item
from crowdcore.export.columns import TableColumn
from crowdcore.results.result import wilson
from crowdcore.wording import count, interval, percent
from dashboard import cache, layout, listed, state, widgets
from dashboard.charts.palette import class_colours, finish, quiet
from dashboard.text import escape_md

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from crowdcore.workspace import RunRow

PRESETS = {
    "all": "All",
    "disputed": "Disputed",
    "changed": "Changed vs. majority",
    "unsure": "Low confidence",
    "none": "No class",
    "tied": "Tied",
    "wrong": "Not exactly gold",
}
ORDERS: dict[str, tuple[str | None, bool]] = {
    "Least sure first": ("confidence", True),
    "Most disputed first": ("disagreement", False),
    "Most classes first": ("n_classes", False),
    "As in the data": (None, True),
}

_SHOWN = ("item", "truth", "confidence", "unclear", "n_classes", "n_labels", "disagreement", "gold")
_ALL: tuple[TableColumn[Any], ...] = (*TRUTH_COLUMNS, *COLUMNS)
SHOWN = tuple(column for column in _ALL if column.name in _SHOWN)

MAX_BARS = 30
"""Classes that the chart of one item shows at most, the likeliest first."""


def masks(items: pd.DataFrame) -> dict[str, NDArray[np.bool_]]:
    """Tell which items pass each quick filter; filters that do not apply are left out."""
    passing = {
        "all": np.ones(len(items), bool),
        "disputed": items["disagreement"].to_numpy() >= MIN_DISPUTED_SHARE,
        "changed": items["changed"].to_numpy(bool),
        "unsure": items["confidence"].to_numpy() < LOW_CONFIDENCE,
        "none": items["n_classes"].to_numpy() == 0,
        "tied": items["tied"].to_numpy(bool),
    }
    if (items["right"] >= 0).any():
        passing["wrong"] = items["right"].to_numpy() == 0
    return passing


def narrow(row: DeltaGenerator, run: RunRow, items: pd.DataFrame) -> NDArray[np.bool_]:
    """Draw the choice of a class, and tell which items have it among their truths."""
    result = cache.result(run.id)
    classes = list(result.data.classes)
    wanted = row.selectbox(
        "Holds",
        classes,
        index=None,
        key=f"truths_class_{run.id}",
        placeholder="Any class",
        width=200,
    )
    if wanted is None:
        return np.ones(len(items), bool)
    return np.asarray(result.truth[:, classes.index(wanted)])


def draw_metrics(run: RunRow, items: pd.DataFrame) -> None:
    """Draw the row of numbers."""
    row = st.container(horizontal=True)
    widgets.metric(row, "Items", count(len(items)))
    widgets.metric(row, "Classes per item", f"{items['n_classes'].mean():.2f}")
    widgets.metric(
        row,
        "No class",
        count((items["n_classes"] == 0).sum()),
        help="Items to which no class applies: workers saw them, and most ticked nothing.",
    )
    widgets.metric(
        row,
        "Mean confidence",
        percent(items["confidence"].mean()),
        help="The mean probability that an item's whole set is right, if classes err "
        "independently.",
    )
    widgets.metric(row, "Changed vs. majority", count(items["changed"].sum()))
    score = cache.result(run.id).score()
    if score is None:
        widgets.metric(row, "Exactly right", "no gold", help="Not known without gold.")
        return
    low, high = wilson(score.exact, score.n)
    widgets.metric(
        row,
        "Exactly right",
        percent(score.accuracy),
        help=" ".join(score.lines),
        note=f"{interval(float(low), float(high))}, n = {count(score.n)}",
    )


def draw_table(run: RunRow, items: pd.DataFrame, rows: NDArray[np.intp]) -> None:
    """Show the items at the given positions."""
    has_gold = bool((items["right"] >= 0).any())
    listed.draw_items(run, items, rows, [c for c in SHOWN if c.name != "gold" or has_gold])
    st.caption("Select a row to see each class of the item and who ticked what.")


def draw_overview(run: RunRow, items: pd.DataFrame) -> None:
    """Show the classes: how common, how well found, which go together, which are mixed up."""
    del items  # the classes are over all of them
    result = cache.result(run.id)
    st.subheader("Classes", anchor=False)
    view = st.segmented_control(
        "View",
        ["Each class", "Together", "Taken for each other"],
        default="Each class",
        key="sets_view",
        label_visibility="collapsed",
    )
    column = st.column_config
    if view == "Together":
        table = co_occurrence(result)
        if table.empty:
            st.info("No two classes belong to the same three items.")
            return
        widgets.table(
            table,
            alt="Classes that belong to the same items",
            height=listed.MAX_PIXELS,
            columns={
                "first": column.TextColumn("Class"),
                "second": column.TextColumn("With"),
                "n_items": column.NumberColumn("Items"),
                "expected": column.NumberColumn("By chance", format="%.1f"),
                "lift": column.NumberColumn("Times chance", format="%.1f"),
            },
        )
        st.caption("Items whose truth holds both, beside how many it would be by chance.")
        return
    if view == "Taken for each other":
        table = confusable(result)
        if table.empty:
            st.info("No class was taken for another in three answers.")
            return
        table["share"] *= 100
        widgets.table(
            table,
            alt="Classes that workers take for each other",
            height=listed.MAX_PIXELS,
            columns={
                "missed": column.TextColumn("Applies, not ticked"),
                "ticked_instead": column.TextColumn("Ticked instead"),
                "n_answers": column.NumberColumn("Answers", format="%.1f"),
                "share": column.NumberColumn("Of the misses", format="%.0f%%"),
            },
        )
        st.caption("Where several were missed or added, each pairing counts in equal parts.")
        return
    table = class_table(result)
    for name in ("found", "added", "gold_precision", "gold_recall", "gold_f1"):
        table[name] *= 100
    table = table.dropna(axis=1, how="all").sort_values("n_items", ascending=False)
    widgets.table(
        table,
        alt="Classes with how common they are and how far workers find them",
        height=listed.MAX_PIXELS,
        columns={
            "class": column.TextColumn("Class"),
            "n_items": column.NumberColumn("Items", help="Items whose truth holds the class."),
            "ticks": column.NumberColumn("Ticks"),
            "found": column.NumberColumn(
                "Found", format="%.0f%%", help="Answers to such items that tick the class."
            ),
            "added": column.NumberColumn(
                "Added", format="%.0f%%", help="Answers to other items that tick the class."
            ),
            "gold_precision": column.NumberColumn("Precision", format="%.0f%%", help="On gold."),
            "gold_recall": column.NumberColumn("Recall", format="%.0f%%", help="On gold."),
            "gold_f1": column.NumberColumn("F1", format="%.0f%%", help="On gold."),
        },
    )


def draw_item(run: RunRow, name: str) -> None:
    """Show one item: the probability of each class, and who ticked what."""
    widgets.panel_heading(
        escape_md(name, limit=60), key="item_close", on_close=lambda: state.select("item", None)
    )
    code = cache.item_codes(run.id).get(name)
    if code is None:
        st.warning("This run's data have no item of that name; the link may be of another run.")
        return
    result, row = cache.result(run.id), cache.items(run.id).iloc[code]
    facts = [f"**{escape_md(row['truth'], limit=120)}**", f"{percent(row['confidence'])} sure"]
    facts.append(count(row["n_labels"], "answer"))
    if row["right"] >= 0:
        mark = "✓ right" if row["right"] == 1 else "✕ not exactly"
        facts.append(f"gold **{escape_md(row['gold'], limit=120)}** ({mark})")
    st.markdown(" · ".join(facts))
    for title, values in cache.details(run.id).texts.items():
        if values[code]:
            st.markdown(f":gray[{escape_md(title)}] {escape_md(values[code], limit=1500)}")
    ticks = ticks_per_item(result.data)[code] / max(1, row["n_labels"])
    probability = result.probability[code]
    likeliest = np.argsort(-(probability + 1e-6 * ticks), kind="stable")[:MAX_BARS][::-1]
    names = [result.data.classes[k] for k in likeliest]
    theme = layout.theme()
    figure = go.Figure()
    figure.add_bar(
        y=names,
        x=probability[likeliest],
        orientation="h",
        name="probability",
        marker={"color": class_colours(1, theme)[0]},
    )
    figure.add_scatter(
        y=names,
        x=ticks[likeliest],
        mode="markers",
        name="ticked by",
        marker={"color": quiet(theme), "symbol": "diamond", "size": 9},
    )
    figure.update_layout(xaxis={"range": [0, 1], "tickformat": ".0%"})
    widgets.chart(
        finish(figure, theme=theme, height=90 + 24 * len(names)),
        key=f"item_bars_{run.id}_{code}",
        alt="Probability that each class applies, and the share of workers who tick it",
    )
    labels = cache.label_table(run.id)
    mine = (labels["item"] == name).to_numpy()
    shown = [c for c in cache.label_columns(run.id) if c.name in ("worker", "label", "similarity")]
    listed.draw_labels(run, mine, shown, key=f"item_labels_{run.id}_{code}", alt="Who ticked what")
