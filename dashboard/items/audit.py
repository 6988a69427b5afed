"""Audit samples on the Items page: choose the interval, draw, decide, read the accuracy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from crowdcore.data import DataError
from crowdcore.review.audit_sample import CANNOT, MIN_SIZE, sample_size
from crowdcore.wording import count, file_stem, interval, percent, when
from dashboard import cache, state, widgets
from dashboard.decisions import person
from dashboard.items import deciding
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow
    from crowdcore.workspace.item_review import Audit

MARGINS = {0.1: "±10 points", 0.05: "±5 points", 0.03: "±3 points", 0.02: "±2 points"}
DESIGNS = {"random": "At random", "stratified": "More of the less sure"}


def draw(run: RunRow) -> None:
    """Draw the audit samples of a run's data.

    Parameters
    ----------
    run
        The run that is open.
    """
    st.write(
        "How good the truths are, nobody can tell from labels alone. Items drawn by chance and "
        "decided by a person tell it without bias, with an interval that holds 95 times of 100."
    )
    kind = cache.kind(run)
    if kind in CANNOT:
        st.info(CANNOT[kind], icon=":material/info:")
        if kind == "sequences":
            _offer_texts(run)
        return
    audits = state.workspace().audits(run.id)
    if not audits:
        _draw_form(run)
        return
    _draw_audit(run, _chosen(audits))
    with st.expander("Draw another sample"):
        _draw_form(run)


def _chosen(audits: list[Audit]) -> Audit:
    if len(audits) == 1:
        return audits[0]
    names = {audit.id: f"{audit.name}, drawn {when(audit.time)}" for audit in audits}
    picked = st.selectbox(
        "Sample", list(names), format_func=lambda each: names.get(each, each), key="audit_pick"
    )
    return next((audit for audit in audits if audit.id == picked), audits[0])


def _draw_form(run: RunRow) -> None:
    """Choose the interval, see the size, and draw."""
    n_entries = len(state.workspace().decisions(run.project_id))
    risk = cache.worklist(run.id, n_entries, None).risk
    expected = risk.expected_right
    sizes = {
        margin: max(MIN_SIZE, sample_size(margin, n_items=len(risk.chance), accuracy=expected))
        for margin in MARGINS
    }
    margin = st.segmented_control(
        "How close should it be",
        list(MARGINS),
        default=0.05,
        format_func=lambda each: f"{MARGINS.get(each, each)}: {count(sizes.get(each))} items",
        key="audit_margin",
        help=f"Half the width of the 95% interval, if about {percent(expected, 0)} are right.",
    )
    design = st.segmented_control(
        "Drawn",
        list(DESIGNS),
        default="random",
        format_func=lambda each: DESIGNS.get(each, each),
        key="audit_design",
        help="Drawing more of those that are less sure narrows the interval where confidence means "
        "something, and stays unbiased where it does not.",
    )
    by = person.ask("audit_by")
    if st.button(
        f"Draw {count(sizes[margin or 0.05], 'item')}",
        key="audit_draw",
        type="primary",
        icon=":material/casino:",
        disabled=not by,
        help=None if by else "Give your name first.",
    ):
        try:
            state.workspace().draw_audit(
                run.id,
                sizes[margin or 0.05],
                by=by,
                design="stratified" if design == "stratified" else "random",
                seed=n_entries,
                result=cache.result(run.id),
            )
        except DataError as error:
            st.error(escape_md(error), icon=":material/error:")
            return
        st.rerun()
    st.caption("Which items were drawn is kept with the decisions of the project.")


def _draw_audit(run: RunRow, audit: Audit) -> None:
    found = audit.estimate
    row = st.container(horizontal=True)
    widgets.metric(
        row,
        "Right",
        percent(found.accuracy),
        help="The share of right truths of the run that the sample was drawn from.",
        note=f"{interval(found.low, found.high)} (95%)" if found.n_decided else "not known yet",
    )
    widgets.metric(row, "Decided", f"{count(found.n_decided)} of {count(found.n_sampled)}")
    widgets.metric(row, "Cannot be told", count(found.n_unsure))
    other = "" if audit.run == run.id else " It is about another run than the one that is open."
    label = escape_md(_label(audit.run), limit=80)
    st.write(f"{escape_md(found.describe())} The truths are those of {label}.{other}")
    st.progress((found.n_decided + found.n_unsure) / max(1, found.n_sampled))
    later = set(state.kept(deciding.LATER) or [])
    name = next((item for item in audit.left if item not in later), None)
    if name is None:
        if audit.left:
            st.info("The items left were put off.", icon=":material/schedule:")
            if st.button("Show them again", key="audit_again"):
                state.keep(deciding.LATER, None)
                st.rerun()
        else:
            st.success("Every item of the sample is decided.", icon=":material/done_all:")
    else:
        shown = st.toggle(
            "Show labels and truth",
            key="audit_shown",
            help="Hidden unless you ask, so that nobody is led. Each answer keeps which it was.",
        )
        number = found.n_sampled - found.n_left + 1
        why = f"Item {count(number)} of {count(found.n_sampled)}, drawn by chance."
        deciding.draw(run, name, why=why, blind=not shown, audit=audit.id)
    _offer_sample(run, audit)


def _label(run_id: str) -> str:
    try:
        return state.workspace().run(run_id).label
    except DataError:  # deleted since
        return "a run that was deleted"


def _offer_sample(run: RunRow, audit: Audit) -> None:
    sample = audit.sample
    frame = pd.DataFrame(
        {
            "item": sample.items,
            "truth": sample.truths,
            "stratum": sample.strata,
            "decided": [audit.answers.get(item) or "" for item in sample.items],
        }
    )
    widgets.download_csv(
        frame,
        f"{file_stem(run.label, audit.name)}.csv",
        key="audit_download",
        label="Download the sample",
    )


def _offer_texts(run: RunRow) -> None:
    """Let texts be drawn to be marked elsewhere."""
    risk = cache.worklist(run.id, len(state.workspace().decisions(run.project_id)), None).risk
    n = int(st.number_input("Texts to draw", 1, len(risk.names), min(50, len(risk.names))))
    rows = pd.Series(risk.names).sample(n, random_state=run.seed)
    widgets.download_csv(
        pd.DataFrame({"item": rows.to_numpy()}),
        f"{file_stem(run.label)}-sample.csv",
        key="audit_texts",
        label=f"Download {count(n, 'text')} drawn at random",
    )
