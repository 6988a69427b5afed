"""Communities of workers, where a method looks for them: each with its matrix and its members."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from crowdcore.wording import count, percent
from dashboard import cache, layout, widgets
from dashboard.charts.workers import confusion_heatmap
from dashboard.text import list_names

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow


def draw(run: RunRow) -> None:
    """Show one community at a time, the commonest first."""
    communities = cache.communities(run.id)
    index = st.selectbox(
        "Community",
        range(len(communities)),
        format_func=lambda index: (
            f"{index + 1}: {percent(communities[index].share, 0)} of the workers, "
            f"{percent(communities[index].accuracy, 0)} right"
        ),
        key=f"workers_community_{run.id}",
    )
    community, data = communities[index], cache.result(run.id).data
    widgets.chart(
        confusion_heatmap(
            community.confusion,
            community.counts,
            data.classes,
            show_counts=False,
            theme=layout.theme(),
        ),
        key=f"workers_community_matrix_{run.id}_{index}",
        alt="Confusion matrix of a community: rows are truths, columns what they give",
    )
    members = [data.workers[code] for code in community.members]
    note = f"{count(len(members), 'worker is', 'workers are')} likeliest to belong to it"
    if members:
        note += f", the surest first: {list_names(members)}"
    st.caption(f"What such workers say when the truth is so. {note}.")
