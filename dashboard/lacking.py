"""What a page says of a run that lacks what the page shows: why, and where there is some."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from crowdcore.registry import methods
from dashboard import state
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow


def draw(run: RunRow, page: str, method_id: str, title: str, why: str) -> None:
    """Say why there is nothing to see, and lead to a method that shows some, or to a run of it."""
    method = methods().get(method_id)
    done = [
        row
        for row in state.workspace().runs(run.project_id)
        if row.status == "done" and row.method == method_id and row.id != run.id
    ]
    with st.container(border=True, key=f"no_{page}"):
        st.subheader(title, anchor=False)
        st.write(why)
        with st.container(horizontal=True):
            if done and st.button(
                f"Open {escape_md(done[0].label)}", type="primary", key=f"{page}_open_run"
            ):
                state.goto(page, run=done[0].id)
            words = "Choose a method" if method is None else f"Set up {escape_md(method.title)}"
            if st.button(words, type="secondary" if done else "primary", key=f"{page}_run"):
                query = {} if method is None else {"method": method.id}
                state.goto("run", **query)
