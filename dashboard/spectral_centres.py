"""Ways to find the oracle: what each changes, and the items that change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from crowdcore.audit.spectral import CentreFacts, centre_facts, changed_items, comparable
from dashboard import reads, state
from dashboard.paging import chosen_row, page_of
from dashboard.text import count, escape_md, interval, percent, percents

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from crowdcore.artefacts.spectral import SpectralSpace
    from crowdcore.workspace import RunRow

PAGE_ROWS = 200

NAMES = {
    "kde": "density peak",
    "kde_w": "density peak, by labels",
    "mean": "mean",
    "mean_w": "mean, by labels",
    "median": "median",
    "median_w": "median, by labels",
}
"""What centres are called; "by labels": a worker counts as much as they labelled."""


def words(centre: str) -> str:
    """Name a centre; one that is not known here by its own name."""
    return NAMES.get(centre, centre)


def chosen(space: SpectralSpace) -> str:
    """Return the centre that the URL selects, else the one that was used."""
    wish = state.selection("centre")
    return wish if wish in space.centres else space.used


def draw_metrics(row: DeltaGenerator, run: RunRow, space: SpectralSpace, centre: str) -> None:
    """Say what the chosen centre changes, beside other numbers."""
    facts = {one.name: one for one in _facts(run.id)}
    one, used = facts[centre], facts[space.used]
    total = int(comparable(reads.result(run.id), space).sum())
    row.metric(
        "Truths that change",
        f"{count(one.changed)} of {count(total)}",
        border=True,
        height="stretch",
        help="With the chosen centre, against the one that the run used.",
    )
    if one.score is None or used.score is None:
        return
    gain = 100 * (one.score.accuracy - used.score.accuracy)
    row.metric(
        "Right on gold",
        percent(one.score.accuracy),
        delta=None if centre == space.used else f"{gain:+.1f} points",
        border=True,
        height="stretch",
        help=f"Of {count(one.score.n, 'item')} with gold, which the fit has not seen.",
    )


def draw(run: RunRow, space: SpectralSpace, centre: str) -> None:
    """Choose a centre, compare all of them, and list what the chosen one changes."""
    options = {
        name: words(name).capitalize() + (" (used in this run)" if name == space.used else "")
        for name in space.centres
    }
    state.choose("Oracle found by", options, current=centre, on_pick=_pick)
    facts = _facts(run.id)
    st.dataframe(
        _centre_cells(space, facts),
        hide_index=True,
        height="content",
        column_config=_centre_columns(),
        placeholder="",
        alt="Every centre: how many truths it changes, and how often it is right on gold",
    )
    st.caption(_centre_note(space, facts))
    _changes(run, space, centre)


def _pick(centre: str) -> None:
    state.select("centre", centre)


@st.cache_resource(max_entries=8, show_spinner=False)
def _facts(run_id: str) -> list[CentreFacts]:
    from crowdcore.artefacts.spectral import SpectralSpace

    result = reads.result(run_id)
    space = SpectralSpace.of(result)
    return [] if space is None else centre_facts(result, space)


def _centre_cells(space: SpectralSpace, facts: list[CentreFacts]) -> pd.DataFrame:
    cells: dict[str, Any] = {
        "centre": [("★ " if one.name == space.used else "") + words(one.name) for one in facts],
        "changed": [one.changed for one in facts],
        "apart": [100 * one.apart for one in facts],
    }
    if any(one.score is not None for one in facts):
        cells["gold"] = [
            ""
            if one.score is None
            else f"{percent(one.score.accuracy)} ({interval(*one.score.interval)})"
            for one in facts
        ]
    return pd.DataFrame(cells)


def _centre_columns() -> dict[str, Any]:
    column = st.column_config
    return {
        "centre": column.TextColumn("Centre", width=150),
        "changed": column.NumberColumn(
            "Changed", width=70, format="localized", help="Items with another truth."
        ),
        "apart": column.NumberColumn(
            "Apart",
            width=55,
            format="%.0f%%",
            help="What part of its blend of experts is not in that of the oracle that was used.",
        ),
        "gold": column.TextColumn(
            "Right on gold",
            width=120,
            help="With its 95% interval; the fit has not seen this gold.",
        ),
    }


def _centre_note(space: SpectralSpace, facts: list[CentreFacts]) -> str:
    notes = ["★ was used; the run's truths stay as they are."]
    if any(one.score is not None for one in facts):
        notes.append(
            "Whoever picks the best centre by this gold must measure it on other gold: here it "
            "would look better than it is."
        )
    if space.bound_accuracy is not None:
        notes.append(
            f"An oracle fitted to the gold itself is right on {percent(space.bound_accuracy)} of "
            "it: a ceiling, not a result."
        )
    return " ".join(notes)


def _changes(run: RunRow, space: SpectralSpace, centre: str) -> None:
    result = reads.result(run.id)
    if centre == space.used:
        st.caption("Choose another centre to see which truths it would change.")
        return
    rows = changed_items(result, space, centre)
    if not len(rows):
        st.markdown(f"**No truth changes** with {escape_md(words(centre))}.")
        return
    st.markdown(f"**{count(len(rows), 'truth')} would change**")
    shown = page_of(
        rows,
        key=f"spectral_page_{run.id}_{centre}",
        noun="items",
        page_rows=PAGE_ROWS,
        sorts="Column heads sort this page only.",
    )
    key = f"spectral_changes_{run.id}_{centre}_{shown[0]}"
    picked = chosen_row(
        st.dataframe(
            _change_cells(run, space, centre, shown),
            key=key,
            hide_index=True,
            height=250 if len(shown) > 6 else "content",  # noqa: PLR2004  (fits beside the plane)
            column_config=_change_columns(),
            on_select="rerun",
            selection_mode="single-row",
            placeholder="",
            alt="Items whose truth would change",
        )
    )
    note = "Those that this centre is surest of first. "
    if result.provenance.temperature is not None:
        note += "Confidences are the oracles' own, before calibration. "
    st.caption(note + ("" if picked is not None else "Select a row to open the item."))
    if picked is not None:
        item = result.data.items[shown[picked]]
        words_ = f"Open item {escape_md(item, limit=40)}"
        if st.button(words_, icon=":material/arrow_forward:", key="spectral_open_item"):
            state.goto("truths", item=item)


def _change_cells(
    run: RunRow, space: SpectralSpace, centre: str, rows: np.ndarray[Any, Any]
) -> pd.DataFrame:
    data = reads.result(run.id).data
    names = np.array([*data.classes, ""], dtype=object)  # the last is for undecided items
    cells: dict[str, Any] = {"item": [data.items[row] for row in rows]}
    for column, name in (("now", space.used), ("then", centre)):
        place = space.centres.index(name)
        cells[column] = names[space.truth[place][rows]]
        cells[f"{column}_sure"] = percents(space.confidence[place][rows])
    if data.gold is not None and reads.result(run.id).score() is not None:
        cells["gold"] = names[data.gold[rows]]
    return pd.DataFrame(cells)


def _change_columns() -> dict[str, Any]:
    column = st.column_config
    return {
        "item": column.TextColumn("Item", pinned=True, width=65),
        "now": column.TextColumn("Truth now", width=80),
        "now_sure": column.NumberColumn("Sure", format="%.0f%%", width=55),
        "then": column.TextColumn("Truth then", width=80, help="With the chosen centre."),
        "then_sure": column.NumberColumn("Sure ", format="%.0f%%", width=55),
        "gold": column.TextColumn("Gold", width=65),
    }
