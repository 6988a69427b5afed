"""Queue a finished run once more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from crowdcore.data import DataError
from dashboard import state
from dashboard.server import startup
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow


def queue_again(run: RunRow, **changes: Any) -> RunRow | None:
    """Queue a run with the same settings and seed.

    Parameters
    ----------
    run
        The run to repeat.
    **changes
        What differs, as `Workspace.run_again` takes it.

    Returns
    -------
    The new run; None if it cannot be queued, which the page then says.
    """
    workspace = state.workspace()
    try:
        queued = workspace.run_again(run.id, **changes)
    except DataError as error:
        st.error(escape_md(error), icon=":material/error:")
        return None
    startup.wake_jobs(workspace)
    return queued
