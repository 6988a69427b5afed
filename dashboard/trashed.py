"""The trash: what was deleted, to bring back or to remove for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from crowdcore import DataError
from dashboard import opening, state
from dashboard.text import count, escape_md, size, when

if TYPE_CHECKING:
    from crowdcore.workspace.trash import Thrown

ICONS = {"project": ":material/folder:", "run": ":material/play_circle:"}


def draw() -> None:
    """List what was deleted, the latest first, and offer to empty the trash."""
    found, strays = state.workspace().thrown_away(), state.workspace().stray_bytes()
    if not found and not strays:
        st.write("The trash is empty.")
        return
    st.caption("Deleted projects and runs stay here until the trash is emptied.")
    for one in found:
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            opening.write_beside(_words(one))
            if st.button(
                "Restore", icon=":material/restore_from_trash:", key=f"restore:{one.name}"
            ):
                _restore(one)
    if strays:
        st.caption(
            f"{size(strays)} are files of no project or run: what a process left that was killed "
            "while it wrote or deleted. They cannot be restored."
        )
    with st.popover("Empty the trash", icon=":material/delete_forever:"):
        runs = sum(one.kind == "run" for one in found)
        things = [(len(found) - runs, "project"), (runs, "run")]
        words = [count(number, noun) for number, noun in things if number]
        words += ["files of no project or run"] * bool(strays)
        total = size(strays + sum(one.bytes for one in found))
        st.write(f"Removes {' and '.join(words)} for good ({total}). This cannot be undone.")
        if st.button("Remove for good", icon=":material/delete_forever:", key="empty_trash"):
            _empty()


def _words(one: Thrown) -> str:
    belongs = ""
    if one.kind == "run":
        belongs = f" of {escape_md(one.project)}" if one.project else " of a deleted project"
    about = f"{one.kind}{belongs} · deleted {when(one.deleted)} · {size(one.bytes)}"
    return f"{ICONS[one.kind]} **{escape_md(one.title)}**  \n:gray[{about}]"


def _empty() -> None:
    try:
        state.workspace().empty_trash()
    except DataError as error:
        st.error(escape_md(error), icon=":material/error:")
    else:
        st.rerun()


def _restore(one: Thrown) -> None:
    """Bring something back, and go where it is seen."""
    try:
        project_id = state.workspace().restore(one.name)
    except DataError as error:
        st.error(escape_md(error), icon=":material/error:")
        return
    state.goto("data" if one.kind == "project" else "run", project=project_id)
