"""Workers: who can be relied on, how sure that is, and the labels that show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from crowdcore.audit.kinds import audit_of
from crowdcore.wording import count
from dashboard import cache, layout, state, widgets
from dashboard.kinds import views_of
from dashboard.text import list_names
from dashboard.workers import difference, history, matrix, table, ticked
from dashboard.workers.table import EXCLUDED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crowdcore.workspace import RunRow
    from dashboard.kinds import WorkersParts

ALL = "all"
DOUBTFUL, MOST_LABELS, BY_NAME = "Doubtful first", "Most labels first", "By name"


def draw() -> None:
    run = layout.open_results("workers")
    parts, workers = views_of(cache.kind(run)).workers, _marked(run)
    parts.draw_metrics(run, workers)
    if run.excluded:
        st.info(
            f"This run left out the labels of {list_names(run.excluded)}. "
            "Tick one of them below to take them in again.",
            icon=":material/person_off:",
        )
    difference.draw(run)
    shown = workers.iloc[_filtered(run, workers, parts)]
    suffix = f"{run.id}_{state.kept('workers_closed') or 0}"
    keys = {name: f"workers_{name}_{suffix}" for name in parts.clickable}
    for key in keys.values():
        point = widgets.clicked(key)
        if state.is_new(key, point) and point is not None:
            ticked.select(run, [str(point[0])])
    left_column, right_column = layout.side_by_side(8, 5)
    with left_column:
        names = parts.draw_table(run, shown, ticked.selected(run))
        ticked.select(run, names)
    with right_column:
        parts.draw_overview(run, shown, keys)
    matrix.draw(run, shown, names)
    if len(names) == 1:
        parts.draw_worker(run, names[0])
        history.draw(run, names[0])
    elif names:
        ticked.draw(run, workers, names, parts.ticked_cells)


def _marked(run: RunRow) -> pd.DataFrame:
    """Return the workers with those the run left out marked as such."""
    workers = cache.workers(run.id)
    if not run.excluded:
        return workers
    is_out = workers["worker"].isin(run.excluded)
    return workers.assign(verdict=workers["verdict"].where(~is_out, EXCLUDED))


def _filtered(run: RunRow, workers: pd.DataFrame, parts: WorkersParts) -> NDArray[np.intp]:
    """Draw the row of filters and return the positions of the workers that pass, in order."""
    tally = workers["verdict"].value_counts()
    audit = audit_of(cache.kind(run))
    verdicts = [verdict for verdict in (*audit.best_first, EXCLUDED) if verdict in tally.index]
    options = [ALL, *verdicts, *sorted(set(tally.index) - set(verdicts))]
    linked = state.selection("verdict")
    verdict = st.pills(
        "Show",
        options,
        default=linked if linked in options else ALL,
        format_func=lambda verdict: (
            f"All :gray[{count(len(workers))}]"
            if verdict == ALL
            else f"{table.verdict_text(verdict)} :gray[{count(tally[verdict])}]"
        ),
        key=f"workers_show_{run.id}",
        label_visibility="collapsed",
    )
    state.select("verdict", None if verdict in (None, ALL) else verdict)
    row = st.container(horizontal=True)
    text = row.text_input(
        "Search", key="workers_search", placeholder="Worker", icon=":material/search:"
    )
    min_labels = row.number_input("Fewest labels", 0, None, 0, key="workers_fewest", width=140)
    passes = workers["n_labels"].to_numpy() >= min_labels
    if verdict not in (None, ALL):
        passes &= (workers["verdict"] == verdict).to_numpy()
    if text:
        passes &= workers["worker"].str.contains(text, case=False, regex=False).to_numpy(bool)
    rows = np.flatnonzero(passes)
    orders = [DOUBTFUL, MOST_LABELS, *parts.orders, BY_NAME]
    order = row.selectbox("Order", orders, key="workers_order", width=200)
    chosen = workers.iloc[rows]
    if order in parts.orders:
        column, ascending = parts.orders[order]
        values = chosen[column].to_numpy(float) * (1 if ascending else -1)
        return rows[np.argsort(values, kind="stable")]  # what is not known comes last
    return rows[_order(chosen, order, audit.worst_first)]


def _order(
    workers: pd.DataFrame, order: str | None, worst_first: Sequence[str]
) -> NDArray[np.intp]:
    """Return the positions of some workers in the order that was asked for."""
    most_labels = -workers["n_labels"].to_numpy()
    if order == BY_NAME:
        return np.argsort(workers["worker"].to_numpy(str), kind="stable")
    if order == MOST_LABELS:
        return np.argsort(most_labels, kind="stable")
    ranks = {verdict: rank for rank, verdict in enumerate((*worst_first, EXCLUDED))}
    return np.lexsort((most_labels, workers["verdict"].map(ranks).fillna(0).to_numpy(float)))


draw()
