"""The measures of agreement, how they were computed, and where agreement is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from crowdcore.wording import NOTHING, count
from dashboard import layout, widgets
from dashboard.charts.agreement import class_bars
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.audit.agreements.coefficient import Coefficient
    from crowdcore.audit.agreements.panel import AgreementPanel

MAX_ROWS = 1_000
"""Items that the table lists; the file holds all."""

MAX_BARS = 25
"""Classes up to which they are drawn; more are listed."""

MAX_PIXELS = 420


def draw(panel: AgreementPanel) -> None:
    """Draw the sentence, the measures side by side, and how each was computed."""
    st.markdown(f"#### {escape_md(panel.describe())}")
    if panel.paradox:
        st.info(escape_md(panel.paradox), icon=":material/balance:")
    # A Markdown table: its sentences wrap, where cells of a grid would be cut.
    rows = [
        f"| {escape_md(entry.name)} | {_value(entry)} | {_interval(entry)} | {_meaning(entry)} |"
        for entry in panel.coefficients
    ]
    head = ["| Measure | Value | 95% interval | What it says |", "|---|--:|---|---|"]
    st.markdown("\n".join([*head, *rows]))
    with st.expander("How they were computed", icon=":material/calculate:"):
        for entry in panel.coefficients:
            if not entry.steps:
                continue
            st.markdown(f"**{escape_md(entry.name)}**: {escape_md(entry.meaning)}")
            lines = [
                f"- {escape_md(step)}: **{escape_md(number)}**" for step, number in entry.steps
            ]
            if entry.value is not None:
                lines.append(f"- result: **{entry.value:.4f}**")
            st.markdown("\n".join(lines))


def _value(entry: Coefficient) -> str:
    return NOTHING if entry.value is None else f"**{entry.value:.3f}**"


def _interval(entry: Coefficient) -> str:
    return "{:.3f} to {:.3f}".format(*entry.interval) if entry.interval else NOTHING


def _meaning(entry: Coefficient) -> str:
    return escape_md(entry.meaning if entry.value is not None else f"Not defined. {entry.note}")


def draw_classes(panel: AgreementPanel) -> None:
    """Draw how far workers agree on each class."""
    st.subheader("By class", anchor=False)
    if panel.by_class.empty:
        st.caption(escape_md(panel.no_classes or "No class can be compared."))
        return
    table = panel.by_class.sort_values("agreement", kind="stable")
    if len(table) <= MAX_BARS:
        widgets.chart(
            class_bars(table, theme=layout.theme()),
            key="agreement_classes",
            alt="How often another worker gives the class that one gave",
        )
    percents = ["agreement", "agreement_low", "agreement_high"]
    column = st.column_config
    widgets.table(
        table.assign(**{name: 100 * table[name] for name in percents}),
        alt="Agreement by class",
        height=MAX_PIXELS // 2 if len(table) <= MAX_BARS else MAX_PIXELS,
        columns={
            "class": column.TextColumn("Class", pinned=True),
            "n_labels": column.NumberColumn("Labels", format="localized"),
            "agreement": column.NumberColumn(
                "Same",
                format=widgets.PERCENT_FORMAT,
                help="Where one worker gives the class, how often another gives it too.",
            ),
            "agreement_low": column.NumberColumn("from", format=widgets.PERCENT_FORMAT),
            "agreement_high": column.NumberColumn("to", format=widgets.PERCENT_FORMAT),
            "alpha": column.NumberColumn(
                "Alpha", format="%.2f", help="Of this class against all others."
            ),
        },
    )
    widgets.download_csv(panel.by_class, "agreement-classes.csv", key="agreement_classes_csv")


def draw_items(panel: AgreementPanel, *, can_open: bool) -> None:
    """List what workers agree on least."""
    noun = {"pair of items": "pairs"}.get(panel.unit, f"{panel.unit}s")
    st.subheader(f"Most disputed {noun}", anchor=False)
    table = panel.by_item.head(MAX_ROWS)
    if table.empty:
        st.caption("Nothing can be compared.")
        return
    column = st.column_config
    shown = table.copy()
    if panel.item_measure == "agreement":
        shown["agreement"] = 100 * shown["agreement"]
        measure = column.NumberColumn("Pairs that agree", format=widgets.PERCENT_FORMAT)
    else:
        measure = column.NumberColumn(
            "Spread", format="%.2f", help="The standard deviation of the ratings."
        )
    item = widgets.table(
        shown,
        key="agreement_items",
        alt="What workers agree on least",
        select="item" if can_open else None,
        height=MAX_PIXELS,
        columns={
            "item": column.TextColumn(panel.unit.capitalize(), pinned=True),
            "n_labels": column.NumberColumn("Labels", format="localized"),
            panel.item_measure: measure,
        },
    )
    with st.container(horizontal=True):
        widgets.download_csv(panel.by_item, "agreement-items.csv", key="agreement_items_csv")
        if can_open:
            widgets.open_item(item, key="agreement_open_item")
    if len(panel.by_item) > MAX_ROWS:
        st.caption(f"The first {count(MAX_ROWS)} of {count(len(panel.by_item))}; the file has all.")
    agreed = panel.by_item[panel.item_measure].to_numpy()
    if panel.item_measure == "agreement":
        full = int(np.count_nonzero(agreed >= 1))
        st.caption(f"All workers agree on {count(full)} of {count(len(agreed))}.")
