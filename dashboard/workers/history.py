"""What other projects of the workspace say of a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from crowdcore.workspace.history import latest_runs, worker_history
from dashboard import state, widgets
from dashboard.charts.palette import verdict_words
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow

_FORMAT = widgets.PERCENT_FORMAT


def draw(run: RunRow, name: str) -> None:
    """List the other projects that know the worker, when asked to."""
    panel = st.expander(
        f"{escape_md(name, limit=40)} in other projects",
        icon=":material/history:",
        key=f"worker_history_{run.id}",
        on_change="rerun",
    )
    if not panel.open:
        return
    with panel:
        workspace = state.workspace()
        decided = tuple(len(workspace.decisions(project.id)) for project in workspace.projects())
        history = _history(name, tuple(latest_runs(workspace)), decided)
        others = history[history["run_id"] != run.id]
        project = workspace.project(run.project_id).name
        others = others[others["project"] != project]
        if others.empty:
            st.caption("No other project of this workspace has a worker of that name.")
            return
        shares = ["accuracy", "accuracy_low", "accuracy_high"]
        shown = others.assign(
            verdict=[verdict_words(str(verdict)) for verdict in others["verdict"]],
            **{share: 100 * others[share].astype(float) for share in shares},
        )
        column = st.column_config
        chosen = widgets.table(
            shown,
            key=f"worker_history_table_{run.id}",
            alt="What other projects say of the worker",
            select="run_id",
            columns={
                "project": column.TextColumn("Project"),
                "run": column.TextColumn("Newest run"),
                "n_labels": column.NumberColumn("Labels", format="localized"),
                "verdict": column.TextColumn("Verdict"),
                "accuracy": column.NumberColumn("Accuracy", format=_FORMAT),
                "accuracy_low": column.NumberColumn("from", format=_FORMAT),
                "accuracy_high": column.NumberColumn("to", format=_FORMAT),
                "decision": column.TextColumn("Decided"),
                "reason": column.TextColumn("Reason"),
                "by": column.TextColumn("By"),
                "run_id": None,
            },
        )
        st.caption("By name: two people of one name cannot be told apart.")
        if chosen is not None and st.button(
            "Open there", icon=":material/arrow_forward:", key="worker_history_open"
        ):
            there = workspace.run(chosen)
            state.goto("workers", project=there.project_id, run=there.id, worker=name)


@st.cache_resource(max_entries=16, show_spinner="Looking into the other projects …")
def _history(name: str, runs: tuple[str, ...], decided: tuple[int, ...]) -> pd.DataFrame:
    del runs, decided  # they tell the cache what has happened since
    return worker_history(state.workspace(), name)
