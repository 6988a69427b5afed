"""The worklist on the Items page: how much is left, the next item, and all of them as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from crowdcore.data import DataError
from crowdcore.decisions.applying import DECIDABLE
from crowdcore.review.worklist import MAX_REASONS, numeric_details
from crowdcore.wording import count, file_stem, interval, percent
from dashboard import cache, state, widgets
from dashboard.items import deciding
from dashboard.text import escape_md

if TYPE_CHECKING:
    import pandas as pd

    from crowdcore.review.worklist import Worklist
    from crowdcore.workspace import RunRow

MAX_PIXELS = 420


def draw(run: RunRow) -> None:
    """Draw the worklist of a run.

    Parameters
    ----------
    run
        The run that is open.
    """
    target, weight = _ask(run)
    n_entries = len(state.workspace().decisions(run.project_id))
    try:
        work = cache.worklist(run.id, n_entries, weight)
    except DataError as error:
        st.info(escape_md(error), icon=":material/info:")
        return
    _draw_numbers(work, target)
    deciding.offer_refit(run)
    if cache.kind(run) in DECIDABLE:
        _draw_next(run, work)
    else:
        st.info(deciding.CANNOT, icon=":material/info:")
    _draw_table(run, work)


def _ask(run: RunRow) -> tuple[float, str | None]:
    columns = numeric_details(cache.result(run.id).data)
    with st.container(horizontal=True):
        target = st.number_input(
            "Target: right, in %",
            50.0,
            100.0,
            95.0,
            1.0,
            format="%g",
            key="items_target",
            width=170,
            help="The share of truths that should be right before you stop.",
        )
        weight = None
        if columns:
            weight = st.selectbox(
                "What hangs on an item",
                columns,
                index=None,
                placeholder="Every item counts the same",
                key="items_weight",
                width=280,
                help="A column of numbers, such as how often an item is shown.",
            )
    return target / 100, weight


def _draw_numbers(work: Worklist, target: float) -> None:
    row = st.container(horizontal=True)
    right = work.risk.expected_right
    limits = interval(work.risk.low, work.risk.high) if work.risk.low < work.risk.high else None
    widgets.metric(
        row,
        "Expected right",
        percent(right),
        help=work.risk.basis,
        note=None if limits is None else f"{limits}, nine times of ten",
    )
    middle, best, worst = work.decisions_until(target)
    numbers = ["all" if number is None else count(number) for number in (best, worst)]
    widgets.metric(
        row,
        f"Decisions until {percent(target, 0)}",
        "all" if middle is None else count(middle),
        help="In the order of this list; whoever decides is taken to be right.",
        note=f"between {numbers[0]} and {numbers[1]}" if limits is not None else None,
    )
    widgets.metric(
        row,
        "Open items",
        count(work.n_open),
        help="Without a known answer, and not put aside as impossible to tell.",
    )
    st.write(escape_md(work.describe(target)))


def _draw_next(run: RunRow, work: Worklist) -> None:
    later = set(state.kept(deciding.LATER) or [])
    names = work.risk.names
    chosen = state.selection("item")
    codes = cache.item_codes(run.id)
    if chosen in codes and work.risk.is_open[codes[chosen]]:
        position = codes[chosen]
    else:
        position = next((each for each in work.order.tolist() if names[each] not in later), -1)
    if position < 0:
        st.success("Nothing is left to look at.", icon=":material/done_all:")
        return
    why = f"{deciding.describe_chance(work.risk.chance[position])} {work.reason(position)}"
    deciding.draw(run, names[position], why=why)


def _draw_table(run: RunRow, work: Worklist) -> None:
    st.subheader("All items, the most worthwhile first", anchor=False)
    frame = _filtered(_table(run.id, len(state.workspace().decisions(run.project_id)), work))
    shown = frame.assign(wrong=100 * frame["wrong"])
    column = st.column_config
    widgets.table(
        shown,
        key="items_table",
        alt="Items by what a look is worth",
        select="item",
        linked=True,
        height=MAX_PIXELS,
        order=["item", "truth", "wrong", "n_labels", "reason"],
        columns={
            "item": column.TextColumn("Item", pinned=True, width=110),
            "truth": column.TextColumn("Truth", width=120),
            "wrong": widgets.percent_bar("Likely wrong", width=120),
            "n_labels": column.NumberColumn("Labels", width=70),
            "reason": column.TextColumn("Why", width=520),
        },
    )
    if work.n_open > MAX_REASONS:
        st.caption(f"The first {count(MAX_REASONS)} of {count(work.n_open)} are listed.")
    widgets.download_csv(
        frame,
        f"{file_stem(run.label)}-worklist.csv",
        key="items_download",
        label=f"Download {count(len(frame), 'item')}",
    )


@st.cache_resource(max_entries=4, show_spinner=False)
def _table(run_id: str, n_entries: int, _work: Worklist) -> pd.DataFrame:
    del run_id, n_entries  # tell tables apart
    return _work.table()


def _filtered(frame: pd.DataFrame) -> pd.DataFrame:
    with st.container(horizontal=True):
        truths = sorted(set(frame["truth"]))
        only = st.multiselect("Truth", truths, key="items_truth", placeholder="Any", width=280)
        least = st.slider(
            "Likely wrong, at least", 0, 100, 0, 5, format="%d%%", key="items_least", width=280
        )
    keep = frame["wrong"].to_numpy() >= least / 100
    if only:
        keep &= np.isin(frame["truth"].to_numpy(object), only)
    return frame[keep].reset_index(drop=True)
