"""Two runs side by side: which is better, what changed, and what was run differently."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from crowdcore.data import DataError
from crowdcore.results.result import wilson
from crowdcore.wording import count, percent, rate
from dashboard import cache, layout, state, widgets
from dashboard.decisions.effect import as_percent, changed_columns
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.audit.comparison import Comparison
    from crowdcore.workspace import RunRow

MAX_PIXELS = 420

MAX_CHANCE = 0.05
"""A difference that chance makes less often than this is called one."""


def draw(before: RunRow, after: RunRow) -> None:
    """Draw what differs between two runs.

    Parameters
    ----------
    before, after
        The earlier and the later run.
    """
    st.divider()
    st.subheader(
        f"{escape_md(before.label, limit=80)} → {escape_md(after.label, limit=80)}", anchor=False
    )
    n_decisions = len(state.workspace().decisions(after.project_id))
    try:
        comparison = cache.comparison(before.id, after.id, n_decisions)
    except DataError as error:
        st.error(escape_md(error), icon=":material/error:")
        return
    _draw_numbers(comparison)
    st.write(verdict(comparison))
    _draw_against_decisions(before, after)
    left, right = layout.side_by_side(3, 2)
    with left:
        _draw_items(comparison, after)
    with right:
        _draw_settings(comparison)
        _draw_workers(comparison)


def _draw_against_decisions(before: RunRow, after: RunRow) -> None:
    """Say how many decided truths each run has, of those that it was not given."""
    workspace = state.workspace()
    sentences = []
    for row in (before, after):
        n_right, n = workspace.against_decisions(row.id)
        if n:
            low, high = (float(end) for end in wilson(n_right, n))
            sentences.append(
                f"{escape_md(row.label, limit=60)} has {n_right:,} of {n:,} "
                f"({rate(n_right / n, low, high)})"
            )
    if sentences:
        st.write(
            f"Against the truths that people decided: {'; '.join(sentences)}. Items that were "
            "chosen because they are hard say nothing of the others."
        )


def verdict(comparison: Comparison) -> str:
    """Say which run is better on gold, as far as gold can tell."""
    paired = comparison.accuracy
    if paired is None:
        return comparison.no_accuracy
    rates = f"{percent(paired.n_before / paired.n)} → {percent(paired.n_after / paired.n)}"
    counts = f"{count(paired.gained, 'item')} gained and {paired.lost:,} lost"
    if paired.p_value < MAX_CHANCE:
        better = (
            "The later run is better"
            if paired.gained > paired.lost
            else ("The earlier run is better")
        )
    else:
        better = "The gold cannot tell which is better"
    return (
        f"{better}: right on {rates} of {count(paired.n, 'item')} with known answers, {counts} "
        f"(sign test, p = {paired.p_value:.2g})."
    )


def _draw_numbers(comparison: Comparison) -> None:
    columns = st.columns(4)
    share = len(comparison.items) / comparison.n_items
    columns[0].metric(
        "Truths that changed",
        count(len(comparison.items)),
        f"{percent(share)} of {comparison.n_items:,}",
        "off",
        delta_arrow="off",
    )
    columns[1].metric("Verdicts that changed", count(len(comparison.workers)))
    difference = comparison.labels_after - comparison.labels_before
    columns[2].metric(
        "Labels", count(comparison.labels_after), f"{difference:+,}", "off", delta_arrow="off"
    )
    if comparison.confidence_after is not None and comparison.confidence_before is not None:
        columns[3].metric(
            "Mean confidence",
            percent(comparison.confidence_after),
            f"{100 * (comparison.confidence_after - comparison.confidence_before):+.1f} points",
            "off",
            delta_arrow="off",
            help="How sure the method is of its truths. Surer is not righter.",
        )
    if comparison.only_before or comparison.only_after:
        st.caption(
            f"{count(comparison.only_before, 'item')} only in the earlier run, "
            f"{comparison.only_after:,} only in the later one; they are not compared."
        )


def _draw_items(comparison: Comparison, after: RunRow) -> None:
    st.markdown("##### Truths that changed")
    if comparison.items.empty:
        st.caption("None.")
        return
    item = widgets.table(
        as_percent(comparison.items),
        key=f"compare_items_{after.id}",
        alt="Truths that differ between the runs",
        select="item",
        height=MAX_PIXELS,
        columns=changed_columns(),
    )
    with st.container(horizontal=True):
        widgets.open_item(item, key="compare_open_item")
        widgets.download_csv(comparison.items, "changed-truths.csv", key="compare_items_csv")


def _draw_settings(comparison: Comparison) -> None:
    st.markdown("##### What was run differently")
    if not comparison.settings:
        st.caption("Nothing: method, settings, seed, data and exclusions are the same.")
        return
    widgets.table(
        pd.DataFrame(comparison.settings, columns=["setting", "before", "after"]),
        alt="Settings that differ",
        columns={"setting": "Setting", "before": "Before", "after": "After"},
    )


def _draw_workers(comparison: Comparison) -> None:
    st.markdown("##### Verdicts that changed")
    if comparison.workers.empty:
        st.caption("None.")
        return
    column = st.column_config
    worker = widgets.table(
        as_percent(comparison.workers),
        key="compare_workers",
        alt="Workers whose verdict differs",
        select="worker",
        height=MAX_PIXELS // 2,
        columns={
            "worker": column.TextColumn("Worker", pinned=True),
            "verdict_before": "Before",
            "verdict_after": "After",
            "accuracy_before": column.NumberColumn(
                "Accuracy before", format=widgets.PERCENT_FORMAT
            ),
            "accuracy_after": column.NumberColumn("after", format=widgets.PERCENT_FORMAT),
        },
    )
    with st.container(horizontal=True):
        widgets.open_worker(worker, key="compare_open_worker")
        widgets.download_csv(comparison.workers, "changed-verdicts.csv", key="compare_workers_csv")
