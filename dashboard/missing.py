"""What a page says of a run that lacks what the page shows: why, and where there is some."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from crowdcore.registry import methods_leaving
from dashboard import state
from dashboard.pages import get_page
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.method import Method
    from crowdcore.workspace import RunRow


def draw(run: RunRow, page_name: str, title: str, why: str) -> None:
    """Say why there is nothing to see, and lead to a run that shows some, or to how to start one.

    The methods to offer are those that declare to leave what the page shows.
    """
    methods = methods_leaving(*get_page(page_name).shows)
    ids = {method.id for method in methods}
    rows = [
        row
        for row in state.workspace().runs(run.project_id)
        if row.id != run.id and not ids.isdisjoint((row.method, row.complete))
    ]
    done = next((row for row in rows if row.status == "done"), None)
    with st.container(border=True, key=f"no_{page_name}"):
        st.subheader(title, anchor=False)
        st.write(why)
        if rows and rows[0].status != "done":
            _explain_unfinished(rows[0])
        with st.container(horizontal=True):
            if done is not None and st.button(
                f"Open {escape_md(done.label)}", type="primary", key=f"{page_name}_open_run"
            ):
                state.goto(page_name, run=done.id)
            _offer_to_start(run, page_name, methods, is_first_choice=done is None)
        if len(methods) > 1:
            titles = ", ".join(escape_md(method.title) for method in methods[1:])
            st.caption(f"Other methods for this page: {titles}.")


def _offer_to_start(
    run: RunRow, page_name: str, methods: list[Method], *, is_first_choice: bool
) -> None:
    """Lead to the form of the method with which the page has most to show."""
    label, query = "Choose a method", {}
    if methods and methods[0].role == "complete":
        label = f"Set up a run with {escape_md(methods[0].title)}"
        query = {"method": run.method, "complete": methods[0].id}
    elif methods:
        label, query = f"Set up {escape_md(methods[0].title)}", {"method": methods[0].id}
    if st.button(label, type="primary" if is_first_choice else "secondary", key=f"{page_name}_run"):
        state.goto("run", **query)


def _explain_unfinished(row: RunRow) -> None:
    if row.active:
        status = "is waiting for its turn" if row.status == "queued" else "is running"
        st.markdown(f":material/progress_activity: {escape_md(row.label)} {status}.")
        return
    sentence = f"The last try, {escape_md(row.label)}, ended without a result ({row.status})."
    reason = f" {escape_md(row.error)}" if row.error else ""
    st.warning(sentence + reason, icon=":material/error:")
