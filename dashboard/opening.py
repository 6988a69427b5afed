"""How a page of results begins: title, which run it shows, or why there is none yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard import reads, state
from dashboard.text import count, empty_state, escape_md, seconds, when

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streamlit.delta_generator import DeltaGenerator

    from crowdcore.workspace import Project, RunRow
    from dashboard.charts.palette import Theme

POLL_SECONDS = 1.0

# Columns give way only on phones; beside a sidebar they would get too narrow to read before that.
_NARROW = """<style>
[class*="st-key-side_by_side"] [data-testid="stColumn"] { min-width: min(100%, 20rem); }
</style>"""


def open_results(title: str) -> RunRow:
    """Write the page's head and return the run to show; without one, say what to do and stop."""
    st.title(title, anchor=False)
    st.html(_NARROW)
    project = state.project()
    if project is None:
        empty_state(
            "There is no project yet",
            "Load a file of labels, or a sample, and this page fills.",
            "Load data",
            "data",
        )
        st.stop()
    run = state.run()
    if run is None:
        _explain_missing_run(project)
        st.stop()
    facts = [
        escape_md(project.name, limit=60),
        escape_md(run.label, limit=60),
        f"seed {run.seed}",
        when(run.finished),
        f"took {seconds(run.seconds)}",
    ]
    if run.excluded:
        facts.append(f"without {count(len(run.excluded), 'worker')}")
    st.caption(" · ".join(facts))
    if notes := reads.provenance(run.id).get("notes", ()):
        st.caption(f":material/info: {escape_md(' '.join(notes))}")
    return run


def _explain_missing_run(project: Project) -> None:
    workspace = state.workspace()
    runs = workspace.runs(project.id)
    if any(run.active for run in runs):
        _wait(project.id)
    elif not workspace.datasets(project.id):
        why = f"The project {escape_md(project.name)} has no labels yet."
        empty_state("There are no data yet", why, "Load data", "data")
    elif runs:
        last = runs[0]
        why = f"{escape_md(last.label)} ended without a result ({last.status})."
        if last.error:
            why += f" {escape_md(last.error)}"
        empty_state("No run has finished yet", why, "Open runs", "run")
    else:
        why = "Choose a method; the quick ones take a second or two."
        empty_state("No run has finished yet", why, "Choose a method", "run")


@st.fragment(run_every=POLL_SECONDS)
def _wait(project_id: str) -> None:
    runs = [run for run in state.workspace().runs(project_id) if run.active]
    if not runs:
        st.rerun()
    with st.container(border=True):
        st.subheader("The first run is still going", anchor=False)
        st.write("The page fills by itself as soon as it is done.")
        for run in runs:
            stage = "waiting for its turn" if run.status == "queued" else run.stage or "starting"
            words = f"{run.label}: {stage}"
            if run.total:
                words += f", step {count(run.step)} of {count(run.total)}"
            share = run.step / run.total if run.total else 0.0
            st.progress(min(1.0, share), text=escape_md(words))
        if st.button("Open runs", key="wait_go"):
            state.goto("run")


def choose_view(views: Mapping[str, str], *, key: str) -> str:
    """Choose among the views of a page, name -> words; the URL remembers any but the first."""
    wish, first = state.selection("view"), next(iter(views))
    view = st.segmented_control(
        "View",
        list(views),
        default=wish if wish in views else first,
        format_func=lambda name: views.get(name, name),
        key=key,
        label_visibility="collapsed",
    )
    state.select("view", None if view in (None, first) else view)
    return view or first


def side_by_side(left: float, right: float) -> Sequence[DeltaGenerator]:
    """Make two columns of these widths, which stand below each other where there is no room."""
    with st.container(key=f"side_by_side_{left}_{right}"):
        return st.columns([left, right], gap="medium")


def write_beside(words: str) -> None:
    """Write beside a button: the line breaks, where a bare text would push the button down."""
    with st.container():
        st.markdown(words)


def theme() -> Theme:
    """Return the theme that the reader sees."""
    return "dark" if st.context.theme.type == "dark" else "light"
