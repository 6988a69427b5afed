"""The accuracy that workers must reach: set by the manager, never by the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from crowdcore.data import DataError
from crowdcore.wording import percent
from dashboard import state
from dashboard.decisions import person
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow


def draw(run: RunRow) -> None:
    """Say what is required, and let it be changed.

    Parameters
    ----------
    run
        The run that is open; the requirement is that of its project.
    """
    workspace = state.workspace()
    required = workspace.standing(run.project_id).required_accuracy
    sentence = (
        "No accuracy is required of workers, so nobody is called weak."
        if required is None
        else f"Workers must reach {percent(required)}."
    )
    with st.expander(f"Required accuracy: {'none' if required is None else percent(required)}"):
        st.write(sentence)
        columns = st.columns([1, 2, 2])
        share = columns[0].number_input(
            "At least, in %", 1, 100, round(100 * (required or 0.7)), key="required_percent"
        )
        reason = columns[1].text_input("Reason", key="required_reason", placeholder="Optional")
        with columns[2]:
            by = person.ask("required_by")
        if st.button("Require it", key="required_set", disabled=not by):
            try:
                workspace.decide(
                    run.project_id, "require", by=by, value=f"{share / 100:g}", reason=reason
                )
            except DataError as error:
                st.error(escape_md(error), icon=":material/error:")
                return
            st.rerun()
