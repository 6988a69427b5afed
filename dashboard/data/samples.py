"""Sample projects: one click from nothing to something to look at."""

from __future__ import annotations

import streamlit as st

from dashboard import state
from dashboard.server import startup

CARD_WIDTH = 300


def offer() -> None:
    """Offer the first sample beside an empty page's own button."""
    if st.button("Use sample data", icon=":material/science:", key="offer_sample"):
        open_sample(startup.FIRST_SAMPLE)


def cards() -> None:
    """Show every sample as a card with a button."""
    from crowdcore.samples import samples

    with st.container(horizontal=True):
        for sample in samples():
            with st.container(border=True, width=CARD_WIDTH):
                st.markdown(f"**{sample.title}**")
                st.caption(sample.description)
                if st.button("Open", key=f"sample:{sample.id}", icon=":material/science:"):
                    open_sample(sample.id)


def open_sample(sample_id: str) -> None:
    """Open the project of a sample; it is made once, with quick runs in the queue."""
    workspace = state.workspace()
    made = [project.id for project in workspace.projects() if project.sample == sample_id]
    with st.spinner("Opening the sample…"):
        project_id = made[0] if made else startup.add_sample(workspace, sample_id)
    startup.wake_jobs(workspace)
    state.goto("data", project=project_id)
