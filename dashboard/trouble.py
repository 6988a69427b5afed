"""Trouble with the workspace, on any page: what is wrong, in a sentence, and the way out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import streamlit as st

from crowdcore.data import DataError
from crowdcore.jobs.launch import stop_daemon_in
from crowdcore.wording import count
from crowdcore.workspace.disk import REBUILD
from crowdcore.workspace.errors import CatalogueError, DamagedError, WorkspaceError
from crowdcore.workspace.rebuild import has_folders, rebuild
from dashboard import state
from dashboard.run.again import queue_again
from dashboard.text import escape_md

_REBUILT = "rebuilt_catalogue"


@contextmanager
def explained() -> Iterator[None]:
    """Draw what follows; if the workspace is in trouble, say so and offer what helps."""
    try:
        yield
    except CatalogueError as error:
        _offer_rebuild(error)
    except DamagedError as error:
        _offer_run_again(error)
    except WorkspaceError as error:
        st.error(escape_md(error), icon=":material/hard_drive:")


def _offer_rebuild(error: CatalogueError) -> None:
    """Say that the catalogue cannot be used, and make it again from the folders where one can."""
    st.error(escape_md(error), icon=":material/folder_off:")
    root = Path(error.file or "").parent
    if REBUILD not in (error.fix or "") or not has_folders(root):
        return
    st.write(
        "The data and the results are still there: each folder knows what it is. Only the names of "
        "runs that had not finished, and a few settings, may be lost."
    )
    if st.button("Make the catalogue again", icon=":material/build:", type="primary"):
        stop_daemon_in(root)
        try:
            rebuilt = rebuild(root)
        except (DataError, OSError) as failure:
            st.error(escape_md(failure), icon=":material/error:")
            return
        state.keep(
            _REBUILT,
            f"Found {count(rebuilt.projects, 'project')}, {count(rebuilt.datasets, 'data set')} "
            f"and {count(rebuilt.runs, 'run')}.",
        )
        st.rerun()


def say_what_was_found() -> None:
    """Say once what a catalogue that was made again holds: a toast before a rerun may go unseen."""
    if sentence := state.kept(_REBUILT):
        st.toast(sentence, icon=":material/check:", duration="long")
        state.keep(_REBUILT, None)


def _offer_run_again(error: DamagedError) -> None:
    """Say what is damaged; a result can be computed again from its data."""
    st.error(escape_md(error), icon=":material/broken_image:")
    run = state.run()
    if run is None or run.id not in (error.file or ""):
        return
    if st.button("Run it again", icon=":material/replay:", type="primary"):
        queued = queue_again(run)
        if queued is not None:
            state.goto("run", run=queued.id)
