"""Decisions: what people decided, why, and a run that goes by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from crowdcore.data import DataError
from dashboard import layout, state
from dashboard.decisions import ledger, requirement
from dashboard.server import startup
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow


def draw() -> None:
    run = layout.open_results("decisions")
    st.write(
        "Everything that people decided about workers, items and classes, with the reason and with "
        "what the run said at the time. Nothing is decided by the program, nothing is deleted: "
        "taking a decision back is one more entry."
    )
    _draw_run_button(run)
    requirement.draw(run)
    ledger.draw(run)


def _draw_run_button(run: RunRow) -> None:
    """Offer a run by all decisions, where that would change something."""
    workspace = state.workspace()
    changing = workspace.standing(run.project_id, run.dataset_id).changing_data
    unused = {made.id for made in changing} - {made.id for made in run.decisions}
    undone = {made.id for made in run.decisions} - {made.id for made in changing}
    if not unused and not undone:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(
            "Run by all decisions", type="primary", icon=":material/play_arrow:", key="decided_run"
        )
        layout.write_beside(
            f"This run does not yet go by {len(unused):,} of the decisions that hold"
            + (f", and goes by {len(undone):,} that no longer do." if undone else ".")
        )
    if not pressed:
        return
    try:
        queued = workspace.run_decided(run.id)
    except DataError as error:
        st.error(escape_md(error), icon=":material/error:")
        return
    startup.wake_jobs(workspace)
    state.goto("decisions", run=queued.id)


draw()
