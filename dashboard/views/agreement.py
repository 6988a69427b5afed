"""Agreement: how far workers agree before anything is inferred, and where they do not."""

from __future__ import annotations

import streamlit as st

from crowdcore.audit.agreements.worker_pairs import busiest_workers
from crowdcore.wording import when
from dashboard import cache, layout, state, terms
from dashboard.agreement import measures, pairs
from dashboard.pages import get_page
from dashboard.text import escape_md, list_names


def draw() -> None:
    st.title(get_page("agreement").title, anchor=False)
    project = state.project()
    datasets = [] if project is None else state.workspace().datasets(project.id)
    if project is None or not datasets:
        layout.empty_state(
            "There are no labels yet",
            "Load a file of labels, or a sample: agreement needs nothing else.",
            "Load data",
            "data",
        )
        return
    run = state.run()
    linked = state.selection("data") or (run.dataset_id if run is not None else "")
    dataset = next((one for one in datasets if one.id == linked), datasets[0])
    st.caption(
        f"{escape_md(project.name, limit=60)} · {escape_md(dataset.title)} · added "
        f"{when(dataset.created)}",
        help=terms.explain("agreement"),
    )
    is_of_run = run is not None and run.dataset_id == dataset.id
    only_used = False
    if run is not None and is_of_run and run.excluded:
        only_used = st.toggle(
            f"Without the workers whom {escape_md(run.label, limit=60)} leaves out",
            key=f"agreement_used_{run.id}",
            help=list_names(run.excluded),
        )
    panel = (
        cache.agreement_panel(run.id)
        if run is not None and only_used
        else cache.data_agreement(dataset.id)
    )
    measures.draw(panel)
    left, right = layout.side_by_side(1, 1)
    with left:
        measures.draw_classes(panel)
    with right:
        measures.draw_items(panel, can_open=is_of_run and panel.unit != "pair of items")
    st.subheader("By pair of workers", anchor=False)
    data = cache.data(dataset.id)
    names = pairs.choose(
        data.workers,
        busiest_workers(data, pairs.MAX_SHOWN),
        key=f"agreement_workers_{dataset.id}",
    )
    if len(names) > 1:
        pairs.draw(cache.data_pairs(dataset.id, names), key="agreement_pairs", can_open=is_of_run)


draw()
