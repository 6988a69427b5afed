"""How a page of results begins: title, which run it shows, or why there is none yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from crowdcore.wording import KIND_WORDS, count, duration, when
from dashboard import cache, state, terms
from dashboard.pages import get_page
from dashboard.text import escape_md

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streamlit.delta_generator import DeltaGenerator

    from crowdcore.workspace import Project, RunRow
    from dashboard.charts.palette import Theme

POLL_SECONDS = 1.0

MAX_OPEN_NOTES = 3
"""Of more notes on how a result came about only the first stand open."""

MAX_LABEL_LETTERS = 120
"""Letters of a run's label in a page's head."""


# Streamlit's own margins take 160 of 1440 pixels from the tables. Columns give way only on phones;
# beside a sidebar they, and numbers side by side, would get too narrow to read before that.
_WIDE = """<style>
[data-testid="stMainBlockContainer"] { padding: 3.25rem 2rem 4rem; }
[class*="st-key-side_by_side"] [data-testid="stColumn"] { min-width: min(100%, 20rem); }
[class*="st-key-overview_figures"] > div { min-width: 12.5rem; }
</style>"""


def use_width() -> None:
    """Let a page use the width of the window."""
    st.html(_WIDE)


def open_results(page_name: str) -> RunRow:
    """Write the page's head and return the run to show; without one, say what to do and stop."""
    st.title(get_page(page_name).title, anchor=False)
    project = state.project()
    if project is None:
        empty_state(
            "There is no project yet",
            "Load a file of labels, or a sample, and this page fills.",
            "Load data",
            "data",
        )
        st.stop()
    pending = state.pending_run()
    if pending is not None:
        _explain_pending_run(pending)
        st.stop()
    run = state.run()
    if run is None:
        _explain_missing_run(project)
        st.stop()
    facts = [
        escape_md(project.name, limit=60),
        escape_md(run.label, limit=MAX_LABEL_LETTERS),
        f"seed {run.seed}",
        when(run.finished),
        f"took {duration(run.seconds)}",
    ]
    st.caption(" · ".join(facts), help=terms.explain(page_name))
    _refuse_other_kinds(run, page_name)
    if notes := cache.provenance(run.id).get("notes", ()):
        _draw_notes(notes)
    return run


def _draw_notes(notes: Sequence[str]) -> None:
    """Say how a result came about; what is more than a few sentences unfolds."""
    folded = notes[MAX_OPEN_NOTES - 1 :] if len(notes) > MAX_OPEN_NOTES else []
    opened = notes[: len(notes) - len(folded)]
    st.caption(f":material/info: {escape_md(' '.join(opened))}")
    if folded:
        with st.expander(f"How this result came about: {count(len(folded))} more notes"):
            st.markdown("\n".join(f"- {escape_md(note)}" for note in folded))


def _refuse_other_kinds(run: RunRow, page_name: str) -> None:
    """Say in a sentence that a page is not for labels of this kind, and stop."""
    page, kind = get_page(page_name), cache.kind(run)
    if kind not in page.kinds:
        shown = " or ".join(KIND_WORDS[one] for one in sorted(page.kinds))
        st.info(
            f"{page.title} is for labels that are {shown}. The labels of this run are "
            f"{KIND_WORDS[kind]}, so there is nothing to show here.",
            icon=":material/block:",
        )
        st.stop()


def _explain_missing_run(project: Project) -> None:
    """Say why a project has nothing to show, and what to do about it."""
    workspace = state.workspace()
    runs = workspace.runs(project.id)
    if any(run.active for run in runs):
        _wait(project.id, None)
    elif not workspace.datasets(project.id):
        why = f"The project {escape_md(project.name)} has no labels yet."
        empty_state("There are no data yet", why, "Load data", "data")
    elif runs:
        empty_state("No run has finished yet", _failure(runs[0]), "Open runs", "run")
    else:
        why = "Choose a method; the quick ones take a second or two."
        empty_state("No run has finished yet", why, "Choose a method", "run")


def _explain_pending_run(run: RunRow) -> None:
    """Follow the run that was asked for until it is done; no other run is shown in its place."""
    if run.active:
        _wait(run.project_id, run.id)
        return
    with st.container(border=True, key="pending"):
        st.subheader("This run has no result", anchor=False)
        st.write(_failure(run))
        with st.container(horizontal=True):
            if st.button("Open runs", type="primary", key="pending_go"):
                state.goto("run")
            _offer_earlier(run)


def _failure(run: RunRow) -> str:
    """Say how a run ended that has no result, in Markdown."""
    sentence = f"{escape_md(run.label)} ended without a result ({run.status})."
    return f"{sentence} {escape_md(run.error)}" if run.error else sentence


def _offer_earlier(run: RunRow) -> None:
    """Offer the run that a pending one was made from, else the newest one with a result."""
    done = [row for row in state.workspace().runs(run.project_id) if row.status == "done"]
    earlier = next((row for row in done if row.id == run.warm_from), next(iter(done), None))
    if earlier is not None and st.button(f"Show {escape_md(earlier.label)}", key="pending_back"):
        state.remember_run(earlier.id)
        st.rerun()


@st.fragment(run_every=POLL_SECONDS)
def _wait(project_id: str, run_id: str | None) -> None:
    """Show how far a run is, or all of a project; draw the whole page anew when it has ended."""
    runs = [
        run for run in state.workspace().runs(project_id) if run.active and run_id in (None, run.id)
    ]
    if not runs:
        st.rerun()
    with st.container(border=True, key="waiting_for_run"):
        title = "The first run is still going" if run_id is None else "This run is still going"
        st.subheader(title, anchor=False)
        st.write("The page fills by itself as soon as it is done.")
        for run in runs:
            st.progress(run.share, text=escape_md(f"{run.label}: {stage(run)}"))
        with st.container(horizontal=True):
            if st.button("Open runs", key="wait_go"):
                state.goto("run")
            if run_id is not None:
                _offer_earlier(runs[0])


def stage(run: RunRow) -> str:
    """Say what a run that has not ended is doing."""
    stage = "waiting for its turn" if run.status == "queued" else run.stage or "starting"
    return f"{stage}, step {count(run.step)} of {count(run.total)}" if run.total else stage


def choose_view(views: Mapping[str, str], *, key: str) -> str:
    """Choose among the views of a page, name -> title; the URL remembers any but the first."""
    linked, first = state.selection("view"), next(iter(views))
    view = st.segmented_control(
        "View",
        list(views),
        default=linked if linked in views else first,
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


def write_beside(markdown: str) -> None:
    """Write beside a button: the line breaks, where a bare text would push the button down."""
    with st.container():
        st.markdown(markdown)


def theme() -> Theme:
    """Return the theme that the reader sees."""
    return "dark" if st.context.theme.type == "dark" else "light"


def empty_state(title: str, why: str, button_label: str, page: str) -> None:
    """Say why there is nothing to see, and offer the one thing to do next; samples beside data.

    `title`, `why` and `button_label` are Markdown: escape what comes from the data.
    """
    from dashboard.data import samples

    with st.container(border=True, key=f"empty_{page}"):
        st.subheader(title, anchor=False)
        st.write(why)
        with st.container(horizontal=True):
            if st.button(button_label, type="primary", key=f"empty_{page}_go"):
                state.goto(page)
            if page == "data":
                samples.offer()
