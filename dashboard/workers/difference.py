"""What a decision has changed, on the run that goes by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from crowdcore.data import DataError
from crowdcore.wording import count
from crowdcore.workspace.overviews import previous_run
from dashboard import cache, state
from dashboard.compare.pair import verdict
from dashboard.pages import get_page
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow


def draw(run: RunRow) -> None:
    """Say what differs from the run before, where this one goes by decisions."""
    if not run.decisions:
        return
    workspace = state.workspace()
    before = previous_run(workspace.runs(run.project_id), run)
    if before is None:
        return
    n_decisions = len(workspace.decisions(run.project_id))
    try:
        compared = cache.comparison(before.id, run.id, n_decisions)
    except DataError:  # of other data, with no item in common
        return
    lost = compared.labels_after - compared.labels_before
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"**Since {escape_md(before.label, limit=60)}:** "
            f"{count(len(compared.items), 'truth')} of {compared.n_items:,} changed, "
            f"{count(len(compared.workers), 'verdict')} changed, {lost:+,} labels, "
            f"{count(len(compared.thin), 'item')} left thin. {escape_md(verdict(compared))}",
            width="stretch",
        )
        if st.button("Compare", icon=":material/compare_arrows:", key="workers_compare"):
            state.keep("compared_runs", (run.project_id, (run.id, before.id)))
            state.goto(get_page("compare").name)
