"""Data: bring labels in, see what is in them, keep projects tidy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from crowdcore import DataError
from crowdcore.wording import count, when
from dashboard import state
from dashboard.data import additions, draft, health, samples, trash, upload
from dashboard.data.roles import ROLE_HELP
from dashboard.pages import get_page
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.workspace import Dataset, Project

PROJECT, NEW, TRASH = "This project", "New data", "Trash"


def draw_new() -> None:
    """Take a file, or offer the samples."""
    current = draft.current_draft()
    if current is not None:
        upload.review(current)
        return
    st.subheader("Upload your labels", anchor=False)
    draft.upload()
    st.subheader("Or look at a sample", anchor=False)
    samples.cards()


def draw_project(project: Project) -> None:
    """Show the project's data sets, the newest open."""
    datasets = state.workspace().datasets(project.id)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(escape_md(project.name), anchor=False, width="stretch")
        _settings(project)
    if not datasets:
        st.write("This project has no data yet.")
        draw_new()
        return
    chosen = _choose(datasets)
    report = state.workspace().report(chosen.id)
    news = f" · new in this version: {escape_md(chosen.news)}" if chosen.news else ""
    st.caption(
        f"{escape_md(chosen.title)}{news} · added {when(chosen.created)} · "
        f"fingerprint {chosen.fingerprint[:12]}"
    )
    upload.sizes(chosen, report)
    with st.container(horizontal=True):
        if st.button("Run a method", type="primary", icon=":material/play_circle:"):
            state.goto("run", data=chosen.id)
    additions.draw(chosen)
    if report is not None:
        st.subheader("Health", anchor=False)
        health.show(report)
        with st.expander("How the columns were read", icon=":material/view_column:"):
            for role in ("layout", *ROLE_HELP, "worker_columns"):
                if reason := report.reasons.get(role):
                    st.markdown(f"**{role.replace('_', ' ').capitalize()}**: {escape_md(reason)}")
    _tables(chosen)


def _choose(datasets: list[Dataset]) -> Dataset:
    by_id = {dataset.id: dataset for dataset in datasets}
    current = state.selection("data") or ""
    current = current if current in by_id else datasets[0].id
    if len(datasets) > 1:
        state.choose(
            "Data set",
            {dataset.id: f"{dataset.label} · {when(dataset.created)}" for dataset in datasets},
            current=current,
            on_pick=lambda picked: state.select("data", picked),
        )
    return by_id[current]


def _tables(dataset: Dataset) -> None:
    """Show items or labels when asked to; a large table loads as it is scrolled."""
    panel = st.expander(
        "Look at the rows",
        icon=":material/table_rows:",
        key=f"rows:{dataset.id}",
        on_change="rerun",
    )
    if not panel.open:
        return
    with panel:
        kind = st.segmented_control(
            "Table", ["Items", "Labels"], default="Items", key=f"table:{dataset.id}"
        )
        frame = _label_table(dataset.id) if kind == "Labels" else _item_table(dataset.id)
        st.dataframe(frame, hide_index=True, height=400)


@st.cache_resource(max_entries=4, show_spinner="Loading the table…")
def _item_table(dataset_id: str) -> object:
    return state.workspace().item_table(dataset_id)


@st.cache_resource(max_entries=2, show_spinner="Loading the table…")
def _label_table(dataset_id: str) -> object:
    return state.workspace().label_table(dataset_id)


def _settings(project: Project) -> None:
    with st.popover("Rename", icon=":material/edit:", type="tertiary"):
        name = st.text_input("Name", value=project.name, key=f"rename:{project.id}")
        if st.button("Rename", key="rename", disabled=name.strip() == project.name):
            try:
                state.workspace().rename_project(project.id, name)
            except DataError as error:
                st.error(escape_md(error))
            else:
                st.rerun()
    with st.popover("Delete", icon=":material/delete:", type="tertiary"):
        workspace = state.workspace()
        data = count(len(workspace.datasets(project.id)), "data set")
        runs = count(len(workspace.runs(project.id)), "run")
        st.write(f"The project, its {data} and {runs} go to the trash, where they can be restored.")
        if st.button("Delete this project", icon=":material/delete:", key="delete_project"):
            try:
                workspace.delete_project(project.id)
            except DataError as error:  # a run is still working
                st.error(escape_md(error))
            else:
                state.remember_project(None)
                st.rerun()


st.title(get_page("data").title, anchor=False)
current_project = state.project()
if current_project is None:
    st.markdown(
        "Bring in the labels that a crowd gave. crowdcore finds out what is true, "
        "who can be trusted, and what is worth a second look."
    )
views = [NEW, TRASH] if current_project is None else [PROJECT, NEW, TRASH]
view = views[0]
if current_project is not None or state.workspace().thrown_away():
    default = NEW if draft.current_draft() is not None else views[0]
    key = f"view:{current_project.id if current_project else ''}"
    view = (
        st.segmented_control("View", views, default=default, label_visibility="collapsed", key=key)
        or views[0]
    )
if view == TRASH:
    trash.draw()
elif current_project is None or view == NEW:
    draw_new()
else:
    draw_project(current_project)
