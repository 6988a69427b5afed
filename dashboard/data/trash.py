"""The trash: what was deleted, to bring back or to remove for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from crowdcore import DataError
from crowdcore.wording import count, size, when
from dashboard import layout, state
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.workspace.trash import Thrown

ICONS = {"project": ":material/folder:", "run": ":material/play_circle:"}


def draw() -> None:
    """List what was deleted, the latest first, and offer to empty the trash."""
    deleted, strays = state.workspace().thrown_away(), state.workspace().stray_bytes()
    if not deleted and not strays:
        st.write("The trash is empty.")
        return
    st.caption("Deleted projects and runs stay here until the trash is emptied.")
    for entry in deleted:
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            layout.write_beside(_describe(entry))
            if st.button(
                "Restore", icon=":material/restore_from_trash:", key=f"restore:{entry.name}"
            ):
                _restore(entry)
    if strays:
        st.caption(
            f"{size(strays)} are files of no project or run: what a process left that was killed "
            "while it wrote or deleted. They cannot be restored."
        )
    with st.popover("Empty the trash", icon=":material/delete_forever:"):
        n_runs = sum(entry.kind == "run" for entry in deleted)
        counts = {"project": len(deleted) - n_runs, "run": n_runs}
        contents = [count(number, noun) for noun, number in counts.items() if number]
        contents += ["files of no project or run"] * bool(strays)
        total = size(strays + sum(entry.bytes for entry in deleted))
        st.write(f"Removes {' and '.join(contents)} for good ({total}). This cannot be undone.")
        if st.button("Remove for good", icon=":material/delete_forever:", key="empty_trash"):
            _empty()


def _describe(entry: Thrown) -> str:
    """Write what was deleted, when, and how large it is; Markdown."""
    owner = ""
    if entry.kind == "run":
        owner = f" of {escape_md(entry.project)}" if entry.project else " of a deleted project"
    facts = f"{entry.kind}{owner} · deleted {when(entry.deleted)} · {size(entry.bytes)}"
    return f"{ICONS[entry.kind]} **{escape_md(entry.title)}**  \n:gray[{facts}]"


def _empty() -> None:
    try:
        state.workspace().empty_trash()
    except DataError as error:
        st.error(escape_md(error), icon=":material/error:")
    else:
        st.rerun()


def _restore(entry: Thrown) -> None:
    """Bring something back, and go where it is seen."""
    try:
        project_id = state.workspace().restore(entry.name)
    except DataError as error:
        st.error(escape_md(error), icon=":material/error:")
        return
    state.goto("data" if entry.kind == "project" else "run", project=project_id)
