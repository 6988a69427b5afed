"""Completion: labels that nobody gave, beside those that were given, and what they changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from crowdcore.wording import count, percent
from dashboard import cache, layout, missing, widgets
from dashboard.completion import export, matrix, reads, space, truths, workers
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.artefacts.completion import Completion
    from crowdcore.workspace import RunRow

VIEWS = {
    "matrix": "Matrix",
    "workers": "Workers before and after",
    "truths": "Truths that changed",
    "space": "Embeddings",
    "export": "Download",
}

MEANING = (
    "Most workers see only a few items. Completion guesses what each would have said of the "
    "others, and the truths are inferred from given and filled labels together. **Filled labels "
    "are guesses, not evidence**: workers are judged and agreement is measured by what they gave "
    "themselves."
)


def draw() -> None:
    run = layout.open_results("completion")
    completion = reads.completion(run.id)
    if completion is None:
        why = (
            f"{escape_md(run.title)} used the labels as they were given. A run can first fill in "
            "what workers would have said of items they did not see, for crowds with few labels "
            "per item."
        )
        missing.draw(run, "completion", "Nothing was filled in for this run", why)
        return
    st.info(MEANING, icon=":material/lightbulb:")
    _draw_metrics(run, completion)
    points = space.embeddings(cache.result(run.id))
    view = layout.choose_view(
        {name: title for name, title in VIEWS.items() if name != "space" or points},
        key="completion_view",
    )
    if view == "workers":
        workers.draw(run, completion)
    elif view == "truths":
        truths.draw(run, completion)
    elif view == "space":
        space.draw(run, points)
    elif view == "export":
        export.draw(run, completion)
    else:
        matrix.draw(run)


def _draw_metrics(run: RunRow, completion: Completion) -> None:
    before, after = completion.density
    summary = reads.summary(run.id)
    row = st.container(horizontal=True)
    widgets.metric(
        row,
        "Cells with a label",
        percent(after),
        note=f"{percent(before)} before",
        help=f"Of {count(completion.data.n_items)} items × {count(completion.data.n_workers)} "
        f"workers, {count(completion.n_cells)} cells.",
    )
    widgets.metric(row, "Given labels", count(completion.data.n_labels))
    widgets.metric(
        row,
        "Filled labels",
        count(completion.n_filled),
        help=f"By {escape_md(completion.facts['title'])}.",
    )
    widgets.metric(
        row,
        "Left empty",
        count(summary.n_empty),
        help="Cells of which the filler would not say anything"
        + (", and those of excluded workers." if run.excluded else "."),
    )
    widgets.metric(
        row,
        "Mean sureness",
        percent(summary.mean_probability, 0),
        help="The mean probability that the filler gave its own labels.",
    )


draw()
