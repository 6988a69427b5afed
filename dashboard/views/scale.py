"""Large data: prepared folders on this machine, runs on them in parts, and their results."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from crowdcore.cli.run_prepared import is_prepared
from crowdcore.prepared.results import SUCCESS, read_progress
from dashboard import state
from dashboard.pages import get_page
from dashboard.scale import prepared, results
from dashboard.text import escape_md


def draw() -> None:
    st.title(get_page("scale").title, anchor=False)
    st.write(
        "Labels beyond about ten million are prepared once, by `crowdcore prepare`, and read from "
        "the disk. Open such a folder here by its path to run a method on it, or the folder of a "
        "finished run, also one from a cluster, to look at its results. Nothing is uploaded."
    )
    linked = state.selection("folder") or ""
    typed = st.text_input(
        "Folder on this machine",
        linked,
        key=f"scale_folder:{linked}",
        placeholder="/data/prepared, or /data/results",
    ).strip()
    if typed != linked:
        state.select("folder", typed or None)
        st.rerun()
    if not typed:
        return
    folder = Path(typed).expanduser()
    if (folder / SUCCESS).is_file():
        results.draw(folder)
    elif is_prepared(folder):
        prepared.draw(folder)
    elif read_progress(folder) is not None:
        prepared.follow(str(folder))
    else:
        st.info(
            f"{escape_md(typed)} is neither a prepared folder nor the results of one. "
            "`crowdcore prepare FILES --out FOLDER` writes the first, "
            "`crowdcore run FOLDER --out RESULTS` the second.",
            icon=":material/folder_off:",
        )


draw()
