"""The audit report on the Export page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from crowdcore.data import DataError
from crowdcore.wording import file_stem
from dashboard import state
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow


def draw(run: RunRow) -> None:
    """Offer the report of a run.

    Parameters
    ----------
    run
        The run that is open.
    """
    st.write(
        "One HTML file with everything that is needed to defend or repeat this audit: the data and "
        "what was wrong with them, how right the truths are and how that is known, the workers in "
        "doubt with the evidence, the decisions with their reasons, and the settings. It needs no "
        "internet, and prints well."
    )
    n_decisions = len(state.workspace().decisions(run.project_id))
    try:
        text = _html(run.id, n_decisions)
    except DataError as error:
        st.error(escape_md(error), icon=":material/error:")
        return
    st.download_button(
        "Download the report",
        text,
        file_name=f"{file_stem(run.title, str(run.number), 'report')}.html",
        mime="text/html",
        icon=":material/description:",
        type="primary",
        key="report_download",
    )


@st.cache_resource(max_entries=8, show_spinner="Writing the report …")
def _html(run_id: str, n_decisions: int) -> str:
    from crowdcore.workspace.reports import report_html

    del n_decisions  # tells the cache that the ledger has grown
    return report_html(state.workspace(), run_id)
