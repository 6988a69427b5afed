"""A prepared folder: what it holds, and a run on it in several parts."""

from __future__ import annotations

import os
from pathlib import Path

import streamlit as st

from crowdcore.data import DataError
from crowdcore.jobs.prepared_launch import last_words, launch
from crowdcore.methods import DEFAULTS
from crowdcore.prepared.layout import PreparedFolder
from crowdcore.prepared.results import STATE, SUCCESS, ask_to_stop, read_progress
from crowdcore.registry import all_methods
from crowdcore.wording import count
from dashboard import state, widgets
from dashboard.text import escape_md

POLL_SECONDS = 1.0


def draw(path: Path) -> None:
    """Show what a prepared folder holds, and offer to run a method on it."""
    try:
        folder = PreparedFolder(path)
    except DataError as error:
        st.warning(escape_md(error), icon=":material/warning:")
        return
    manifest = folder.manifest
    row = st.container(horizontal=True)
    widgets.metric(row, "Labels", count(manifest.n_labels))
    widgets.metric(row, "Items", count(manifest.n_items))
    widgets.metric(row, "Workers", count(manifest.n_workers))
    widgets.metric(row, "Known answers", count(manifest.n_gold))
    st.caption(escape_md(folder.report.accounting))
    for finding in folder.report.warnings:
        st.write(
            f"- **{escape_md(finding.title)}**: {count(finding.count)}. {escape_md(finding.done)}"
        )
    _draw_form(folder)


def _draw_form(folder: PreparedFolder) -> None:
    manifest = folder.manifest
    able = {m.id: m.title for m in all_methods() if m.spreads and manifest.kind in m.kinds}
    usual = DEFAULTS[manifest.kind]
    st.subheader("Run a method", anchor=False)
    with st.form("scale_run"):
        method = st.selectbox(
            "Method", list(able), format_func=able.__getitem__, key="scale_method",
            index=list(able).index(usual) if usual in able else 0,
        )  # fmt: skip
        columns = st.columns(2)
        n_parts = columns[0].number_input(
            "Parts",
            1,
            len(manifest.buckets),
            1,
            key="scale_parts",
            help=f"Processes that work together. This machine has {os.cpu_count()} cores; each "
            "part needs memory for the tables of all workers.",
        )
        seed = columns[1].number_input("Seed", 0, value=0, key="scale_seed")
        default = folder.path.with_name(f"{folder.path.name}-results")
        out = st.text_input("Folder for the results", str(default), key="scale_out")
        started = st.form_submit_button("Run", type="primary", icon=":material/play_arrow:")
    if not started:
        return
    target = Path(out).expanduser()
    if target.exists() and any(target.iterdir()) and not (target / STATE).is_dir():
        st.error(f"{escape_md(out)} is not empty. Choose a new folder.", icon=":material/error:")
        return
    try:
        launch(folder.path, target, method=method, seed=int(seed), n_parts=int(n_parts))
    except OSError as error:
        st.error(f"{escape_md(str(error))}", icon=":material/error:")
        return
    state.select("folder", str(target))
    st.rerun()


@st.fragment(run_every=POLL_SECONDS)
def follow(out: str) -> None:
    """Show how far a run is, until its results are there."""
    path = Path(out)
    progress = read_progress(path)
    if (path / SUCCESS).is_file():
        st.rerun()
    with st.container(border=True, key="scale_waiting"):
        st.subheader("This run is still going", anchor=False)
        if progress is None:
            st.write("It is starting.")
        else:
            share = min(1.0, progress["step"] / max(1, progress["total"]))
            text = f"{progress['stage']}: step {progress['step']} of at most {progress['total']}"
            st.progress(share, text=escape_md(text))
        st.write("The page fills by itself as soon as it is done.")
        if words := last_words(path):
            st.caption(escape_md(words))
        if st.button("Stop", icon=":material/stop:", key="scale_stop"):
            ask_to_stop(path)
            st.write("It stops after this step. A run into the same folder goes on from there.")
