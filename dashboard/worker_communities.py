"""Communities of workers, where a method looks for them: each with its matrix and its members."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard import opening, reads
from dashboard.charts.workers import confusion_heatmap
from dashboard.text import count, escape_md, percent

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow

MOST_NAMES = 12


def draw(run: RunRow) -> None:
    """Show one community at a time, the commonest first."""
    found = reads.communities(run.id)
    chosen = st.selectbox(
        "Community",
        range(len(found)),
        format_func=lambda place: (
            f"{place + 1}: {percent(found[place].share, 0)} of the workers, "
            f"{percent(found[place].right, 0)} right"
        ),
        key=f"workers_community_{run.id}",
    )
    one, data = found[chosen], reads.result(run.id).data
    st.plotly_chart(
        confusion_heatmap(
            one.confusion, one.counts, data.classes, show_counts=False, theme=opening.theme()
        ),
        key=f"workers_community_matrix_{run.id}_{chosen}",
        config={"displayModeBar": False},
        alt="Confusion matrix of a community: rows are truths, columns what they give",
    )
    names = ", ".join(escape_md(data.workers[code], limit=30) for code in one.members[:MOST_NAMES])
    more = len(one.members) - MOST_NAMES
    words = f"{count(len(one.members), 'worker is', 'workers are')} likeliest to belong to it"
    if names:
        words += f", the surest first: {names}{f' and {count(more)} more' if more > 0 else ''}"
    st.caption(f"What such workers say when the truth is so. {words}.")
