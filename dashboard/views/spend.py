"""Spend plan: what to buy next for a budget, of whom, and which labels brought nothing."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from crowdcore.data import DataError
from crowdcore.export.targets import download_name, write_download
from crowdcore.spending.batch import PLATFORMS, batch_files, fitting_platforms
from crowdcore.spending.past import past_labels
from crowdcore.wording import count, file_stem, interval, percent
from dashboard import cache, layout, state, widgets
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.export.finished import FinishedRun
    from crowdcore.spending.past import PastLabels
    from crowdcore.spending.plan import SpendPlan
    from crowdcore.workspace import RunRow

MAX_PIXELS = 420


def draw() -> None:
    run = layout.open_results("spend")
    st.write(
        "Further labels bring most where they can turn a truth. Say what you would spend: the plan "
        "takes the items where a label brings most, and gives each to the best workers who have "
        "not seen it."
    )
    budget, price, ask_all, most = _ask()
    n_entries = len(state.workspace().decisions(run.project_id))
    try:
        plan = cache.spend_plan(run.id, n_entries, budget, price, ask_all=ask_all, most=most)
    except DataError as error:
        st.info(escape_md(error), icon=":material/info:")
        return
    _draw_numbers(plan)
    left, right = layout.side_by_side(6, 5)
    with left:
        _draw_items(plan)
    with right:
        _draw_workers(plan)
    _draw_files(run, plan)
    _draw_past(run, price)


def _ask() -> tuple[float, float, bool, int | None]:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        budget = st.number_input("Budget", 0.0, value=20.0, step=5.0, key="spend_budget", width=150)
        price = st.number_input(
            "Price of a label",
            0.0,
            value=0.05,
            step=0.01,
            format="%g",
            key="spend_price",
            width=150,
        )
        most = st.number_input(
            "Most labels of one worker",
            1,
            value=None,
            key="spend_most",
            placeholder="Twice an equal share",
            width=210,
        )
        ask_all = st.toggle(
            "Ask workers in doubt, too",
            key="spend_all",
            help="Workers who were left out by decision are not asked in any case.",
        )
    return budget, price, ask_all, None if most is None else int(most)


def _draw_numbers(plan: SpendPlan) -> None:
    row = st.container(horizontal=True)
    widgets.metric(
        row,
        "Labels to buy",
        count(plan.n_labels),
        note=f"{plan.cost:,.2f} of {plan.budget:,.2f}",
    )
    widgets.metric(row, "Items" if "item" in plan.items else "Pairs", count(len(plan.items)))
    measure = plan.measure
    if measure is not None:
        for title, (estimate, low, high) in (("Now", measure.before), ("After", measure.after)):
            is_share = measure.unit == "share"
            widgets.metric(
                row,
                f"{title}: right" if is_share else f"{title}: error",
                percent(estimate) if is_share else f"{estimate:.3g}",
                help=f"{measure.title}. {plan.basis}",
                note=interval(low, high) if is_share and low < high else None,
            )
    st.write(escape_md(" ".join(plan.describe())))


def _draw_items(plan: SpendPlan) -> None:
    st.subheader("What to label", anchor=False)
    column = st.column_config
    widgets.table(
        plan.items,
        key="spend_items",
        alt="Items of the next batch",
        height=MAX_PIXELS,
        order=[
            name
            for name in ("item", "first", "second", "n_labels", "n_further", "gain")
            if name in plan.items
        ],
        columns={
            "item": column.TextColumn("Item", width=150),
            "first": column.TextColumn("Item", width=130),
            "second": column.TextColumn("Other item", width=130),
            "n_labels": column.NumberColumn("Labels so far", width=100),
            "n_further": column.NumberColumn("Further", width=80),
            "gain": column.NumberColumn(
                "Expected gain",
                format="%.3f",
                width=110,
                help="By how much likelier the truth becomes right; of pairs, bits about the "
                "order; of ratings, by how much the squared error shrinks.",
            ),
        },
    )


def _draw_workers(plan: SpendPlan) -> None:
    st.subheader("Whom to ask", anchor=False)
    frame = plan.workers.assign(quality=100 * plan.workers["quality"])
    column = st.column_config
    widgets.table(
        frame,
        key="spend_workers",
        alt="Workers of the next batch",
        height=MAX_PIXELS,
        columns={
            "worker": column.TextColumn("Worker", width=120),
            "quality": widgets.percent_bar(
                "How good",
                width=120,
                help="How often their labels are right in this run, pulled to the mean where there "
                "are few.",
            ),
            "n_further": column.NumberColumn("Labels", width=80),
        },
    )


def _draw_files(run: RunRow, plan: SpendPlan) -> None:
    st.subheader("Files of the next batch", anchor=False)
    finished = _finished(run.id)
    names = fitting_platforms(finished, plan)
    chosen = st.segmented_control(
        "For",
        names,
        default=names[0],
        format_func=lambda name: PLATFORMS[name].title if name in PLATFORMS else name,
        key="spend_platform",
    )
    platform = chosen or names[0]
    st.caption(PLATFORMS[platform].contents)
    files = batch_files(platform, finished, plan)
    st.download_button(
        "Download the batch",
        data=partial(_bytes, platform, finished, plan),
        file_name=download_name(files, f"{file_stem(run.label)}-next-batch"),
        icon=":material/download:",
        type="primary",
        key="spend_download",
        on_click="ignore",
    )


@st.cache_resource(max_entries=4, show_spinner=False)
def _finished(run_id: str) -> FinishedRun:
    return state.workspace().finished(run_id)


def _bytes(platform: str, finished: FinishedRun, plan: SpendPlan) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "batch"
        write_download(batch_files(platform, finished, plan), path)
        return path.read_bytes()


def _draw_past(run: RunRow, price: float) -> None:
    st.subheader("Labels that were not worth their price", anchor=False)
    if cache.kind(run) != "classes":
        st.caption("Told of labels that are one class each.")
        return
    past = _past(run.id)
    for sentence in past.describe(price):
        st.markdown(f"- {escape_md(sentence)}")
    st.caption("Nobody is accused by it: a careful worker can come too late as well.")
    widgets.download_csv(
        past.labels,
        f"{file_stem(run.label)}-not-needed.csv",
        key="spend_past",
        label=f"Download {count(len(past.labels), 'label')}",
    )


@st.cache_resource(max_entries=4, show_spinner=False)
def _past(run_id: str) -> PastLabels:
    return past_labels(cache.result(run_id))


draw()
