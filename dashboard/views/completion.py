"""Completion: labels that nobody gave, beside those that were given, and what they changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from crowdcore.registry import methods
from dashboard import (
    completion_export,
    completion_matrix,
    completion_reads,
    completion_space,
    completion_truths,
    completion_workers,
    opening,
    state,
)
from dashboard.text import count, escape_md, percent

if TYPE_CHECKING:
    from crowdcore.artefacts.completion import Completion
    from crowdcore.workspace import RunRow

COMPLETING = ("tllc", "wslc")
"""Methods to offer where a run fills nothing in, the better first."""

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
    run = opening.open_results("Completion")
    completion = completion_reads.completion(run.id)
    if completion is None:
        _lacking(run)
        return
    st.info(MEANING, icon=":material/lightbulb:")
    _metrics(run, completion)
    points = completion_space.embeddings(completion)
    view = opening.choose_view(
        {name: words for name, words in VIEWS.items() if name != "space" or points},
        key="completion_view",
    )
    if view == "workers":
        completion_workers.draw(run, completion)
    elif view == "truths":
        completion_truths.draw(run, completion)
    elif view == "space":
        completion_space.draw(run, points)
    elif view == "export":
        completion_export.draw(run, completion)
    else:
        completion_matrix.draw(run)


def _metrics(run: RunRow, completion: Completion) -> None:
    before, after = completion.density
    found = completion_reads.summary(run.id)
    row = st.container(horizontal=True)
    row.metric(
        "Cells with a label",
        percent(after),
        delta=f"{percent(before)} before",
        delta_color="off",
        delta_arrow="off",
        border=True,
        height="stretch",
        help=f"Of {count(completion.data.n_items)} items × {count(completion.data.n_workers)} "
        f"workers, {count(completion.n_cells)} cells.",
    )
    row.metric("Given labels", count(completion.data.n_labels), border=True, height="stretch")
    row.metric(
        "Filled labels",
        count(completion.n_filled),
        border=True,
        height="stretch",
        help=f"By {escape_md(completion.facts['title'])}.",
    )
    row.metric(
        "Left empty",
        count(found.empty),
        border=True,
        height="stretch",
        help="Cells of which the filler would not say anything"
        + (", and those of excluded workers." if run.excluded else "."),
    )
    row.metric(
        "Mean sureness",
        percent(found.mean_sureness, 0),
        border=True,
        height="stretch",
        help="The mean probability that the filler gave its own labels.",
    )


def _lacking(run: RunRow) -> None:
    """Say that nothing was filled in, and lead to a run that does, or to how to start one."""
    rows = [row for row in state.workspace().runs(run.project_id) if row.completion is not None]
    done = next((row for row in rows if row.status == "done"), None)
    with st.container(border=True, key="no_completion"):
        st.subheader("Nothing was filled in for this run", anchor=False)
        st.write(
            f"{escape_md(run.title)} used the labels as they were given. A run can first fill in "
            "what workers would have said of items they did not see, for crowds with few labels an "
            "item."
        )
        if rows and rows[0].status != "done":
            _unfinished(rows[0])
        with st.container(horizontal=True):
            if done is not None and st.button(
                f"Open {escape_md(done.label)}", type="primary", key="completion_open_run"
            ):
                state.goto("completion", run=done.id)
            if st.button(
                "Set up a run with completion",
                type="secondary" if done is not None else "primary",
                key="completion_run",
            ):
                known = methods("complete")
                best = next((one for one in COMPLETING if one in known), next(iter(known)))
                state.goto("run", method=run.method, complete=best)


def _unfinished(row: RunRow) -> None:
    if row.active:
        words = "is waiting for its turn" if row.status == "queued" else "is running"
        st.markdown(f":material/progress_activity: {escape_md(row.label)} {words}.")
        return
    words = f"The last try, {escape_md(row.label)}, ended without a result ({row.status})."
    st.warning(words + (f" {escape_md(row.error)}" if row.error else ""), icon=":material/error:")


draw()
