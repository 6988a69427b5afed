"""Overview: a run at a glance, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from crowdcore.audit.overviews.overview import make_overview
from crowdcore.audit.overviews.source import OverviewSource
from crowdcore.data import DataError
from crowdcore.workspace.overviews import previous_run, unused_decisions
from dashboard import cache, layout, state
from dashboard.pages import get_page
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.audit.overviews.figures import Figure
    from crowdcore.audit.overviews.overview import Overview
    from crowdcore.audit.overviews.steps import NextStep
    from crowdcore.workspace import RunRow


def draw() -> None:
    if state.project() is None:  # the way in is a file
        state.goto("data")
    run = layout.open_results("overview")
    overview = _overview(run)
    st.markdown(f"#### {escape_md(overview.sentence)}")
    _draw_figures(overview.figures)
    st.subheader("What to do next", anchor=False)
    for number, step in enumerate(overview.steps, start=1):
        _draw_step(number, step)


def _overview(run: RunRow) -> Overview:
    workspace = state.workspace()
    before = previous_run(workspace.runs(run.project_id), run)
    comparison, previous = None, ""
    if before is not None:
        try:
            n_decisions = len(workspace.decisions(run.project_id))
            comparison = cache.comparison(before.id, run.id, n_decisions)
            previous = before.label
        except DataError:  # of other data, with no item in common: nothing to compare
            comparison = None
    report = workspace.report(run.dataset_id)
    return make_overview(
        OverviewSource(
            result=cache.result(run.id),
            items=cache.items(run.id),
            workers=cache.workers(run.id),
            agreement=cache.agreement_panel(run.id),
            expected=cache.expected_accuracy(run.id),
            comparison=comparison,
            previous=previous,
            excluded=run.excluded,
            decided=tuple(workspace.standing(run.project_id).workers),
            n_unused=unused_decisions(workspace, run),
            warnings=() if report is None else report.serious,
        )
    )


def _draw_figures(figures: tuple[Figure, ...]) -> None:
    """Draw the numbers side by side, each with the way to what is behind it."""
    row = st.container(horizontal=True, key="overview_figures")
    for figure in figures:
        with row.container(border=True, height="stretch", width="stretch"):
            st.metric(
                figure.title,
                figure.value,
                delta=figure.note,
                delta_color="off",
                delta_arrow="off",
                help=escape_md(figure.meaning),
            )
            page = get_page(figure.page)
            st.page_link(
                page.path,
                label=page.title,
                icon=":material/arrow_forward:",
                query_params=state.link(**figure.query),
            )


def _draw_step(number: int, step: NextStep) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        layout.write_beside(f"**{number}. {escape_md(step.title)}**  \n{escape_md(step.why)}")
        if st.button(
            step.button,
            key=f"overview_step_{number}",
            type="primary" if number == 1 else "secondary",
        ):
            state.goto(step.page, **step.query)


draw()
