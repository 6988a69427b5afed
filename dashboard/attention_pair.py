"""Two workers side by side: how alike they are, what was to be expected, and on which items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from crowdcore.audit.pairs import FEWEST, Agreement, shared_items
from dashboard import attention_reads, reads, state
from dashboard.charts.palette import verdict_words
from dashboard.paging import chosen_row, page_of
from dashboard.text import count, escape_md, percent, percents

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow

PAGE_ROWS = 200


def chosen(run: RunRow) -> tuple[int | None, int | None]:
    """Return the codes of the worker and the other one that the URL selects."""
    names = reads.result(run.id).data.workers
    found = []
    for name in (state.selection("worker"), state.selection("other")):
        known = name is not None and name in names
        if name is not None and not known:
            st.warning(
                f"This run's data have no worker called {escape_md(name, limit=40)}; the link may "
                "be of another run."
            )
        found.append(names.index(name) if name is not None and known else None)
    return found[0], found[1]


def draw(run: RunRow, one: int, other: int) -> None:
    """Show what two workers have in common."""
    names = reads.result(run.id).data.workers
    first, second = (escape_md(names[code], limit=40) for code in (one, other))
    st.divider()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(f"{first} and {second}", anchor=False)
        st.button(
            "Close", icon=":material/close:", key="pair_close", type="tertiary", on_click=_close
        )
    alike = attention_reads.pairs(run.id, one, (other,))
    st.markdown(_judgement(alike, bool(attention_reads.beyond(run.id, alike)[0])))
    _openers(run, one, other)
    _items(run, one, other)


def _close() -> None:
    state.select("other", None)


def _judgement(alike: Agreement, beyond: bool) -> str:
    """Say in plain words how alike two workers are and whether that is remarkable."""
    shared, same, wrong = (int(one[0]) for one in (alike.shared, alike.same, alike.same_wrong))
    if not shared:
        return "They share no item, so nothing can be said of whether they answer alike."
    words = f"They gave the same label on {count(same)} of {count(shared, 'shared item')} "
    words += f"(**{percent(same / shared, 0)}**). "
    apart, luck = (percent(float(one[0]), 0) for one in (alike.apart, alike.luck))
    words += f"Two workers as good as these, each alone, would on **{apart}**; without looking, "
    words += f"on {luck}. "
    words += f"The same wrong label: {count(wrong, 'time')}, where {alike.apart_wrong[0]:.1f} "
    words += "were to be expected. "
    if shared < FEWEST:
        return words + f"With fewer than {FEWEST} shared items this says nothing."
    if not beyond:
        return words + "That is within what luck explains."
    return words + (
        "**That is more than luck explains.** Look at the items: hard ones make honest workers "
        "err alike, copying does not need hard ones."
    )


def _openers(run: RunRow, one: int, other: int) -> None:
    """Lead to both workers' own page, with their verdicts."""
    workers = reads.workers(run.id)
    with st.container(horizontal=True):
        for code in (one, other):
            name = str(workers["worker"].iloc[code])
            verdict = verdict_words(str(workers["verdict"].iloc[code]))
            words = f"{escape_md(name, limit=30)} · {escape_md(verdict)}"
            if st.button(words, icon=":material/person:", key=f"pair_open_{code}"):
                state.goto("workers", worker=name)


def _items(run: RunRow, one: int, other: int) -> None:
    result = reads.result(run.id)
    data = result.data
    table = shared_items(result, one, other)
    if table.empty:
        return
    rows = page_of(
        np.arange(len(table)),
        key=f"pair_page_{run.id}_{one}_{other}",
        noun="items",
        page_rows=PAGE_ROWS,
        sorts="Column heads sort this page only.",
    )
    part = table.iloc[rows]
    classes = (*data.classes, "")  # the last is for undecided items
    kind = np.where(part["wrong"], "● same, wrong", np.where(part["same"], "○ same", "different"))
    frame = pd.DataFrame(
        {
            "item": [data.items[code] for code in part["item"]],
            "kind": kind,
            "one": [data.classes[code] for code in part["one"]],
            "other": [data.classes[code] for code in part["other"]],
            "truth": [classes[code] for code in part["truth"]],
            "confidence": percents(part["confidence"]),
        }
    )
    column = st.column_config
    picked = chosen_row(
        st.dataframe(
            frame,
            key=f"pair_items_{run.id}_{one}_{other}_{rows[0]}",
            hide_index=True,
            height=420 if len(frame) > 10 else "content",  # noqa: PLR2004  (a long list scrolls)
            on_select="rerun",
            selection_mode="single-row",
            placeholder="",
            alt="Items that both workers labelled",
            column_config={
                "item": column.TextColumn("Item", pinned=True),
                "kind": column.TextColumn("Labels"),
                "one": column.TextColumn(f"{data.workers[one][:30]} said"),
                "other": column.TextColumn(f"{data.workers[other][:30]} said"),
                "truth": column.TextColumn("Truth"),
                "confidence": column.ProgressColumn(
                    "Confidence of the truth", min_value=0, max_value=100, format="%.1f%%"
                ),
            },
        )
    )
    st.caption("Same wrong labels first, then other same ones. Select a row to open the item.")
    if picked is not None:
        open_item(str(frame["item"].iloc[picked]), "pair_item")


def open_item(item: str, key: str) -> None:
    """Offer to open an item where its labels are."""
    words = f"Open item {escape_md(item, limit=40)}"
    if st.button(words, icon=":material/arrow_forward:", key=key):
        state.goto("truths", item=item)
