"""Workers: who can be relied on, how sure that is, and the labels that show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from dashboard import (
    opening,
    reads,
    state,
    worker_communities,
    worker_expertise,
    worker_grid,
    worker_panel,
    worker_summary,
)
from dashboard.charts.palette import VERDICTS
from dashboard.paging import chosen_point
from dashboard.text import count, escape_md
from dashboard.worker_grid import EXCLUDED, UNKNOWN

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow

ALL = "all"
ACCURACY, BY_CLASS, COMMUNITIES = "Accuracy", "By class", "Communities"

# Who may do the most harm stands on top; those of whom nothing is known come after the good.
WORST_FIRST = ["inverted", "random", "one answer", "biased", "weak", "good", UNKNOWN, EXCLUDED]
ORDERS = ["Doubtful first", "Most labels first", "Least accurate first", "By name"]


def draw() -> None:
    run = opening.open_results("Workers")
    workers = _marked(run)
    worker_summary.draw_metrics(run, workers)
    if run.excluded:
        names = ", ".join(escape_md(name, limit=30) for name in run.excluded[:12])
        more = f" and {count(len(run.excluded) - 12)} more" if len(run.excluded) > 12 else ""  # noqa: PLR2004  (a line of names)
        st.info(
            f"This run left out the labels of {names}{more}. "
            "Select one of them below to take them in again.",
            icon=":material/person_off:",
        )
    shown = _filtered(run, workers)
    fresh = f"{run.id}_{state.kept('workers_closed') or 0}"
    keys = f"workers_scatter_{fresh}", f"workers_expertise_{fresh}"
    for key in keys:
        point = chosen_point(st.session_state.get(key))
        state.follow("worker", key, None if point is None else str(point[0]), clears=False)
    left, right = opening.side_by_side(8, 5)
    with left:
        worker_grid.draw(run, workers.iloc[shown])
    with right:
        view = _view(run)
        if view == BY_CLASS:
            worker_expertise.draw(run, workers.iloc[shown], keys[1])
        elif view == COMMUNITIES:
            worker_communities.draw(run)
        else:
            worker_summary.draw_scatter(run, workers.iloc[shown], keys[0])
    chosen = state.selection("worker")
    if chosen is not None:
        worker_panel.draw(run, chosen)


def _view(run: RunRow) -> str | None:
    """Offer what this run can show beside the table: classes to tell apart, communities."""
    views = [ACCURACY]
    if reads.result(run.id).data.n_classes > 1:
        views.append(BY_CLASS)
    if reads.communities(run.id):
        views.append(COMMUNITIES)
    if len(views) == 1:
        return ACCURACY
    return st.segmented_control(
        "View", views, default=ACCURACY, key="workers_view", label_visibility="collapsed"
    )


def _marked(run: RunRow) -> pd.DataFrame:
    """Return the workers with those the run left out marked as such."""
    workers = reads.workers(run.id)
    if not run.excluded:
        return workers
    out = workers["worker"].isin(run.excluded)
    return workers.assign(verdict=workers["verdict"].where(~out, EXCLUDED))


def _filtered(run: RunRow, workers: pd.DataFrame) -> NDArray[np.intp]:
    """Draw the row of filters and return the places of the workers that pass, in order."""
    tally = workers["verdict"].value_counts()
    known = [word for word in (*VERDICTS, EXCLUDED) if word in tally.index]
    options = [ALL, *known, *sorted(set(tally.index) - set(known))]
    wish = state.selection("verdict")
    verdict = st.pills(
        "Show",
        options,
        default=wish if wish in options else ALL,
        format_func=lambda word: (
            f"All :gray[{count(len(workers))}]"
            if word == ALL
            else f"{worker_grid.words(word)} :gray[{count(tally[word])}]"
        ),
        key=f"workers_show_{run.id}",
        label_visibility="collapsed",
    )
    state.select("verdict", None if verdict in (None, ALL) else verdict)
    row = st.container(horizontal=True)
    words = row.text_input(
        "Search", key="workers_search", placeholder="Worker", icon=":material/search:"
    )
    fewest = row.number_input("Fewest labels", 0, None, 0, key="workers_fewest", width=140)
    keep = workers["n_labels"].to_numpy() >= fewest
    if verdict not in (None, ALL):
        keep &= (workers["verdict"] == verdict).to_numpy()
    if words:
        keep &= workers["worker"].str.contains(words, case=False, regex=False).to_numpy(bool)
    rows = np.flatnonzero(keep)
    order = row.selectbox("Order", ORDERS, key="workers_order", width=200)
    return rows[_order(workers.iloc[rows], order)]


def _order(part: pd.DataFrame, wish: str) -> NDArray[np.intp]:
    labels = -part["n_labels"].to_numpy()
    if wish == "By name":
        return np.argsort(part["worker"].to_numpy(str), kind="stable")
    if wish == "Most labels first":
        return np.argsort(labels, kind="stable")
    if wish == "Least accurate first":
        return np.argsort(part["accuracy"].fillna(2).to_numpy(), kind="stable")
    rank = part["verdict"].map({word: place for place, word in enumerate(WORST_FIRST)}).fillna(0)
    return np.lexsort((labels, rank.to_numpy(float)))


draw()
