"""The list of decisions: what holds, taking one back, taking all of them along."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from crowdcore.data import DataError
from crowdcore.decisions import CHANGE_DATA, Decision, holding_ids
from crowdcore.decisions.files import as_csv, as_jsonl, read_decisions
from crowdcore.wording import count, when
from dashboard import state, widgets
from dashboard.decisions import person
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow

MAX_PIXELS = 520
MAX_VALUE = 300
"""Letters of a value of the evidence; the download has all of it."""


def draw(run: RunRow) -> None:
    """Draw the decisions of the run's project, the latest first.

    Parameters
    ----------
    run
        The run that is open.
    """
    workspace = state.workspace()
    try:
        decisions = workspace.decisions(run.project_id)
    except DataError as error:
        st.error(escape_md(error), icon=":material/error:")
        return
    if decisions:
        chosen = _draw_table(decisions, run)
        if chosen is not None:
            _draw_entry(run, chosen)
    else:
        st.info(
            "Nothing was decided yet. Tick workers on the Workers page, or set a requirement here.",
            icon=":material/info:",
        )
    _draw_files(run, decisions)


def _draw_table(decisions: Sequence[Decision], run: RunRow) -> Decision | None:
    holding = holding_ids(decisions)
    used = {decision.id for decision in run.decisions}
    latest_first = list(reversed(decisions))
    frame = pd.DataFrame(
        {
            "id": [decision.id for decision in latest_first],
            "decision": [decision.sentence for decision in latest_first],
            "reason": [decision.reason for decision in latest_first],
            "by": [decision.by for decision in latest_first],
            "time": [when(decision.time) for decision in latest_first],
            "state": [_state(decision, holding, used) for decision in latest_first],
        }
    )
    column = st.column_config
    chosen = widgets.table(
        frame,
        key="decisions_table",
        alt="The decisions, the latest first",
        select="id",
        height=MAX_PIXELS,
        order=["decision", "reason", "by", "time", "state"],
        columns={
            "decision": column.TextColumn("Decision", pinned=True, width="medium"),
            "reason": column.TextColumn("Reason", width="medium"),
            "by": column.TextColumn("By", width="small"),
            "time": column.TextColumn("When", width="small"),
            "state": column.TextColumn("State", width="medium"),
        },
    )
    return next((decision for decision in decisions if decision.id == chosen), None)


def _state(decision: Decision, holding: set[str], used: set[str]) -> str:
    if decision.action == "undo":
        return ""
    if decision.id not in holding:
        return "replaced or taken back"
    if decision.action in CHANGE_DATA:
        return "holds, used by this run" if decision.id in used else "holds, not in this run yet"
    return "holds"


def _draw_entry(run: RunRow, decision: Decision) -> None:
    """Show one decision with its evidence, and offer to take it back."""
    with st.container(border=True, key="decision_entry"):
        st.subheader(escape_md(decision.sentence), anchor=False)
        st.caption(f"{escape_md(decision.by)} · {when(decision.time)} · {decision.id}")
        if decision.reason:
            st.write(f"Reason: {escape_md(decision.reason)}")
        if decision.note:
            st.write(f"Note: {escape_md(decision.note)}")
        if decision.evidence:
            st.caption("What the run said at the time")
            evidence = {
                name: str(value)[:MAX_VALUE]
                for name, value in decision.evidence.items()
                if value is not None
            }
            widgets.table(
                pd.DataFrame({"name": list(evidence), "value": list(evidence.values())}),
                alt="The evidence that was kept with the decision",
                height=MAX_PIXELS // 2,
                columns={"name": "Number", "value": "Value"},
            )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            by = person.ask("undo_by")
            if st.button(
                "Take it back", icon=":material/undo:", key="decision_undo", disabled=not by
            ):
                state.workspace().decide(run.project_id, "undo", [decision.id], by=by)
                st.rerun()


def _draw_files(run: RunRow, decisions: Sequence[Decision]) -> None:
    """Take the decisions along, or bring others in."""
    with st.container(horizontal=True, vertical_alignment="center"):
        for suffix, text in (("csv", as_csv(decisions)), ("jsonl", as_jsonl(decisions))):
            st.download_button(
                f"Download {suffix.upper()}",
                text,
                file_name=f"decisions.{suffix}",
                icon=":material/download:",
                key=f"decisions_{suffix}",
                disabled=not decisions,
            )
    with st.expander("Bring in decisions from a file"):
        file = st.file_uploader(
            "A file that was downloaded here or written by `crowdcore decide export`",
            type=["jsonl", "csv"],
            key="decisions_file",
        )
        if file is not None and st.button("Add them", key="decisions_import"):
            try:
                made = read_decisions(file.getvalue())
                n_new = state.workspace().import_decisions(run.project_id, made)
            except DataError as error:
                st.error(escape_md(error), icon=":material/error:")
                return
            st.toast(f"Added {count(n_new, 'decision')}", icon=":material/gavel:")
            st.rerun()
