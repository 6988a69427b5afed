"""Ways to find the oracle: what each changes, and the items that change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from crowdcore.audit.spectral import CentreFacts, centre_facts, changed_items, comparable_items
from crowdcore.wording import count, percent, percents, rate
from dashboard import cache, state, widgets
from dashboard.tables import page_of
from dashboard.text import escape_md

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from crowdcore.artefacts.spectral import SpectralSpace
    from crowdcore.workspace import RunRow

PAGE_ROWS = 200
MAX_PIXELS = 250  # fits beside the plane

NAMES = {
    "kde": "density peak",
    "kde_w": "density peak, by labels",
    "mean": "mean",
    "mean_w": "mean, by labels",
    "median": "median",
    "median_w": "median, by labels",
}
"""What centres are called; "by labels": a worker counts as much as they labelled."""


def centre_name(centre: str) -> str:
    """Name a centre; one that is not known here by its own name."""
    return NAMES.get(centre, centre)


def chosen(space: SpectralSpace) -> str:
    """Return the centre that the URL selects, else the one that was used."""
    linked = state.selection("centre")
    return linked if linked is not None and linked in space.centres else space.used


def draw_metrics(row: DeltaGenerator, run: RunRow, space: SpectralSpace, centre: str) -> None:
    """Say what the chosen centre changes, beside other numbers."""
    facts = {fact.name: fact for fact in _facts(run.id)}
    chosen_facts, used = facts[centre], facts[space.used]
    total = int(comparable_items(cache.result(run.id), space).sum())
    widgets.metric(
        row,
        "Truths that change",
        f"{count(chosen_facts.n_changed)} of {count(total)}",
        help="With the chosen centre, against the one that the run used.",
    )
    if chosen_facts.score is None or used.score is None:
        return
    gain = 100 * (chosen_facts.score.accuracy - used.score.accuracy)
    row.metric(
        "Right on gold",
        percent(chosen_facts.score.accuracy),
        delta=None if centre == space.used else f"{gain:+.1f} points",
        border=True,
        height="stretch",
        help=f"Of {count(chosen_facts.score.n, 'item')} with gold, which the fit has not seen.",
    )


def draw(run: RunRow, space: SpectralSpace, centre: str) -> None:
    """Choose a centre, compare all of them, and list what the chosen one changes."""
    options = {
        name: centre_name(name).capitalize() + (" (used in this run)" if name == space.used else "")
        for name in space.centres
    }
    state.choose("Oracle found by", options, current=centre, on_pick=_pick)
    facts = _facts(run.id)
    widgets.table(
        _centre_cells(space, facts),
        alt="Every centre: how many truths it changes, and how often it is right on gold",
        columns=_centre_columns(),
        height="content",
    )
    st.caption(_centre_note(space, facts))
    _draw_changes(run, space, centre)


def _pick(centre: str) -> None:
    state.select("centre", centre)


@st.cache_resource(max_entries=8, show_spinner=False)
def _facts(run_id: str) -> list[CentreFacts]:
    from crowdcore.artefacts.spectral import SpectralSpace

    result = cache.result(run_id)
    space = result.artefact(SpectralSpace)
    return [] if space is None else centre_facts(result, space)


def _centre_cells(space: SpectralSpace, facts: list[CentreFacts]) -> pd.DataFrame:
    cells: dict[str, Any] = {
        "centre": [
            ("★ " if fact.name == space.used else "") + centre_name(fact.name) for fact in facts
        ],
        "changed": [fact.n_changed for fact in facts],
        "apart": [100 * fact.distance for fact in facts],
    }
    if any(fact.score is not None for fact in facts):
        cells["gold"] = [
            "" if score is None else rate(score.accuracy, *score.interval, 1)
            for score in (fact.score for fact in facts)
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
            help="The share of its blend of experts that is not in that of the oracle in use.",
        ),
        "gold": column.TextColumn(
            "Right on gold",
            width=120,
            help="With its 95% interval; the fit has not seen this gold.",
        ),
    }


def _centre_note(space: SpectralSpace, facts: list[CentreFacts]) -> str:
    notes = ["★ was used; the run's truths stay as they are."]
    if any(fact.score is not None for fact in facts):
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


def _draw_changes(run: RunRow, space: SpectralSpace, centre: str) -> None:
    result = cache.result(run.id)
    if centre == space.used:
        st.caption("Choose another centre to see which truths it would change.")
        return
    rows = changed_items(result, space, centre)
    if not len(rows):
        st.markdown(f"**No truth changes** with {escape_md(centre_name(centre))}.")
        return
    st.markdown(f"**{count(len(rows), 'truth')} would change**")
    shown = page_of(
        rows,
        key=f"spectral_page_{run.id}_{centre}",
        noun="items",
        page_rows=PAGE_ROWS,
        sorts="Column heads sort this page only.",
    )
    item = widgets.table(
        _change_cells(run, space, centre, shown),
        key=f"spectral_changes_{run.id}_{centre}_{shown[0]}",
        alt="Items whose truth would change",
        columns=_change_columns(),
        select="item",
        height=MAX_PIXELS,
    )
    note = "Those that this centre is surest of first."
    if result.provenance.temperature is not None:
        note += " Confidences are the oracles' own, before calibration."
    widgets.open_item(item, key="spectral_open_item", note=note)


def _change_cells(
    run: RunRow, space: SpectralSpace, centre: str, rows: np.ndarray[Any, Any]
) -> pd.DataFrame:
    data = cache.result(run.id).data
    names = np.array([*data.classes, ""], dtype=object)  # the last is for undecided items
    cells: dict[str, Any] = {"item": [data.items[row] for row in rows]}
    for column, name in (("now", space.used), ("then", centre)):
        index = space.centres.index(name)
        cells[column] = names[space.truth[index][rows]]
        cells[f"{column}_sure"] = percents(space.confidence[index][rows])
    if data.gold is not None and cache.result(run.id).score() is not None:
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
