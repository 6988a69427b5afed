"""The sidebar under the navigation: which project, which run, and what is running."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import streamlit as st

from crowdcore.wording import count
from dashboard import state
from dashboard.guide import chapters
from dashboard.pages import get_page
from dashboard.text import escape_md

if TYPE_CHECKING:
    import threading
    from collections.abc import Sequence

    from crowdcore.workspace import Project

POLL_SECONDS = 2.0
QUICK_POLL_SECONDS = 0.5


def draw(start: threading.Thread) -> None:
    """Draw the selectors and the note on running work; `start` may be making the first project."""
    project = state.project()
    with st.sidebar:
        if project is None:
            if start.is_alive():
                st.fragment(_await_first_project, run_every=QUICK_POLL_SECONDS)(start)
            return
        state.choose(
            "Project",
            unique_names(state.workspace().projects()),
            current=project.id,
            on_pick=state.remember_project,
        )
        _draw_run_selector(project)
        active = frozenset(row.id for row in state.workspace().runs(project.id) if row.active)
        every = POLL_SECONDS if active else None
        st.fragment(_draw_activity, run_every=every)(project.id, active)


def link_to_guide(page: str) -> None:
    """Lead from a page to the chapter of the guide about it."""
    st.sidebar.page_link(
        get_page("guide").path,
        label="About this page",
        icon=":material/menu_book:",
        query_params={"chapter": chapters.chapter_of(page)},
    )


def _await_first_project(start: threading.Thread) -> None:
    if state.project() is not None or not start.is_alive():
        st.rerun()
    st.caption("A sample project is being made…")


def unique_names(projects: Sequence[Project]) -> dict[str, str]:
    """Name each project; two of one name get a part of their id. Equal labels would be mixed up."""
    counts = Counter(project.name for project in projects)
    return {
        project.id: project.name + (f" · {project.id[:6]}" if counts[project.name] > 1 else "")
        for project in projects
    }


def _draw_run_selector(project: Project) -> None:
    done = [row for row in state.workspace().runs(project.id) if row.status == "done"]
    pending = state.pending_run()
    current = pending or state.run()
    if current is None:
        st.selectbox("Run", [], placeholder="No finished run yet", disabled=True)
        return
    # Members of a pool are opened from its page; the selector would be full of them.
    shown = [row for row in done if row.member_of is None or row.id == current.id]
    labels = {row.id: row.label for row in shown}
    if pending is not None:
        labels = {pending.id: pending.label, **labels}
    state.choose("Run", labels, current=current.id, on_pick=state.remember_run)
    if current.excluded:  # the selector is too narrow to show that
        st.caption(escape_md(current.without))


def _draw_activity(project_id: str, active: frozenset[str]) -> None:
    """Say what runs; one full page run when something ended, so that every part sees it."""
    rows = [row for row in state.workspace().runs(project_id) if row.active]
    if active - {row.id for row in rows}:
        st.rerun()
    if not rows:
        return
    running = [row for row in rows if row.status == "running"]
    text = f"{count(len(running))} running" if running else f"{count(len(rows))} waiting"
    st.page_link(
        get_page("run").path,
        label=f":blue-badge[:material/progress_activity: {text}]",
        help=", ".join(escape_md(row.title) for row in rows[:5]),
        query_params={"project": project_id},
    )
