"""The sidebar under the navigation: which project, which run, and what is running."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import streamlit as st

from dashboard import state
from dashboard.text import count, escape_md

if TYPE_CHECKING:
    import threading
    from collections.abc import Sequence

    from crowdcore.workspace import Project

POLL_SECONDS = 2.0
QUICK_POLL_SECONDS = 0.5


def draw(start: threading.Thread) -> None:
    """Draw the selectors and the note on running work; `start` may be making the first project."""
    here = state.project()
    with st.sidebar:
        if here is None:
            if start.is_alive():
                st.fragment(_await_first_project, run_every=QUICK_POLL_SECONDS)(start)
            return
        state.choose(
            "Project",
            unique_names(state.workspace().projects()),
            current=here.id,
            on_pick=state.remember_project,
        )
        _run_selector(here)
        active = tuple(row.id for row in state.workspace().runs(here.id) if row.active)
        every = POLL_SECONDS if active else None
        st.fragment(_activity, run_every=every)(here.id, active)


def _await_first_project(start: threading.Thread) -> None:
    if state.project() is not None or not start.is_alive():
        st.rerun()
    st.caption("A sample project is being made…")


def unique_names(projects: Sequence[Project]) -> dict[str, str]:
    """Name each project; two of one name get a part of their id. Equal labels would be mixed up."""
    often = Counter(project.name for project in projects)
    return {
        project.id: project.name + (f" · {project.id[:6]}" if often[project.name] > 1 else "")
        for project in projects
    }


def _run_selector(here: Project) -> None:
    done = [row for row in state.workspace().runs(here.id) if row.status == "done"]
    current = state.run()
    if current is None:
        st.selectbox("Run", [], placeholder="No finished run yet", disabled=True)
        return
    labels = {row.id: row.label for row in done}
    state.choose("Run", labels, current=current.id, on_pick=state.remember_run)


def _activity(project_id: str, known: tuple[str, ...]) -> None:
    """Say what runs; one full page run when something ended, so that every part sees it."""
    rows = [row for row in state.workspace().runs(project_id) if row.active]
    if set(known) - {row.id for row in rows}:
        st.rerun()
    if not rows:
        return
    running = [row for row in rows if row.status == "running"]
    words = f"{count(len(running))} running" if running else f"{count(len(rows))} waiting"
    st.page_link(
        state.page_path("run"),
        label=f":blue-badge[:material/progress_activity: {words}]",
        help=", ".join(escape_md(row.title) for row in rows[:5]),
        query_params={"project": project_id},
    )
