"""Who decides: a name that is typed once and kept with the workspace."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from crowdcore.workspace.errors import StorageError
from dashboard import state

_SETTING = "person"


def ask(key: str) -> str:
    """Ask who decides; the last name that was given is there already.

    Parameters
    ----------
    key
        The widget's key.

    Returns
    -------
    The name, or "".
    """
    workspace = state.workspace()
    known = str(workspace.setting(_SETTING, ""))
    name = st.text_input(
        "Your name", value=known, key=key, help="Kept with every decision, so that it has an owner."
    ).strip()
    if name and name != known:
        with suppress(StorageError):  # full or read-only: the decision itself will say so
            workspace.set_setting(_SETTING, name)
    return name
