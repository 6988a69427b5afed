"""Two workers side by side: how alike they are, what was to be expected, and on which items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from crowdcore.audit.pairs import MIN_SHARED_ITEMS, PairAgreement, shared_items
from crowdcore.wording import count, percent, percents
from dashboard import cache, state, widgets
from dashboard.attention import reads
from dashboard.charts.palette import verdict_words
from dashboard.tables import page_of
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow

PAGE_ROWS = 200
MAX_PIXELS = 420


def chosen(run: RunRow) -> tuple[int | None, int | None]:
    """Return the codes of the worker and the other one that the URL selects."""
    return _selected_code(run, "worker"), _selected_code(run, "other")


def _selected_code(run: RunRow, key: str) -> int | None:
    names, name = cache.result(run.id).data.workers, state.selection(key)
    if name is None or name in names:
        return None if name is None else names.index(name)
    st.warning(
        f"This run's data have no worker called {escape_md(name, limit=40)}; the link may be of "
        "another run."
    )
    return None


def draw(run: RunRow, worker: int, other: int) -> None:
    """Show what two workers have in common."""
    names = cache.result(run.id).data.workers
    first, second = (escape_md(names[code], limit=40) for code in (worker, other))
    st.divider()
    widgets.panel_heading(f"{first} and {second}", key="pair_close", on_close=_close)
    agreement = reads.pairs(run.id, worker, (other,))
    st.markdown(_judgement(agreement, bool(reads.beyond(run.id, agreement)[0])))
    _draw_openers(run, worker, other)
    _draw_items(run, worker, other)


def _close() -> None:
    state.select("other", None)


def _judgement(agreement: PairAgreement, beyond: bool) -> str:
    """Say in plain words how alike two workers are and whether that is remarkable."""
    n_shared, n_same = int(agreement.n_shared[0]), int(agreement.n_same[0])
    if not n_shared:
        return "They share no item, so nothing can be said of whether they answer alike."
    expected = percent(float(agreement.expected_share[0]), 0)
    blind = percent(float(agreement.blind_share[0]), 0)
    n_wrong, n_expected = int(agreement.n_same_wrong[0]), float(agreement.expected_same_wrong[0])
    facts = (
        f"They gave the same label on {count(n_same)} of {count(n_shared, 'shared item')} "
        f"(**{percent(n_same / n_shared, 0)}**). Two workers as good as these, each alone, would "
        f"on **{expected}**; without looking, on {blind}. The same wrong label: "
        f"{count(n_wrong, 'time')}, where {n_expected:.1f} "
        "were to be expected. "
    )
    if n_shared < MIN_SHARED_ITEMS:
        return facts + f"With fewer than {MIN_SHARED_ITEMS} shared items this says nothing."
    if not beyond:
        return facts + "That is within what luck explains."
    return facts + (
        "**That is more than luck explains.** Look at the items: hard ones make honest workers "
        "err alike, copying does not need hard ones."
    )


def _draw_openers(run: RunRow, worker: int, other: int) -> None:
    """Lead to both workers' own page, with their verdicts."""
    workers = cache.workers(run.id)
    with st.container(horizontal=True):
        for code in (worker, other):
            name = str(workers["worker"].iloc[code])
            verdict = verdict_words(str(workers["verdict"].iloc[code]))
            label = f"{escape_md(name, limit=30)} · {escape_md(verdict)}"
            if st.button(label, icon=":material/person:", key=f"pair_open_{code}"):
                state.goto("workers", worker=name)


def _draw_items(run: RunRow, worker: int, other: int) -> None:
    """List the items that both labelled."""
    result = cache.result(run.id)
    data = result.data
    shared = shared_items(result, worker, other)
    if shared.empty:
        return
    rows = page_of(
        np.arange(len(shared)),
        key=f"pair_page_{run.id}_{worker}_{other}",
        noun="items",
        page_rows=PAGE_ROWS,
        sorts="Column heads sort this page only.",
    )
    shown = shared.iloc[rows]
    classes = (*data.classes, "")  # the last is for undecided items
    kinds = np.where(
        shown["wrong"], "● same, wrong", np.where(shown["same"], "○ same", "different")
    )
    column = st.column_config
    item = widgets.table(
        pd.DataFrame(
            {
                "item": [data.items[code] for code in shown["item"]],
                "kind": kinds,
                "worker": [data.classes[code] for code in shown["first"]],
                "other": [data.classes[code] for code in shown["second"]],
                "truth": [classes[code] for code in shown["truth"]],
                "confidence": percents(shown["confidence"]),
            }
        ),
        key=f"pair_items_{run.id}_{worker}_{other}_{rows[0]}",
        alt="Items that both workers labelled",
        select="item",
        height=MAX_PIXELS,
        columns={
            "item": column.TextColumn("Item", pinned=True),
            "kind": column.TextColumn("Labels"),
            "worker": column.TextColumn(f"{data.workers[worker][:30]} said"),
            "other": column.TextColumn(f"{data.workers[other][:30]} said"),
            "truth": column.TextColumn("Truth"),
            "confidence": widgets.percent_bar("Confidence of the truth"),
        },
    )
    widgets.open_item(item, key="pair_item", note="Same wrong labels first, then other same ones.")
