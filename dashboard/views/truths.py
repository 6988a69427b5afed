"""Truths: what each item is, how sure that is, and who said what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from crowdcore.audit.items import DISPUTED, UNSURE
from dashboard import item_grid, item_panel, item_summary, opening, reads, state
from dashboard.text import count

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow

PRESETS = {
    "all": "All",
    "disputed": "Disputed",
    "changed": "Changed vs. majority",
    "unsure": "Low confidence",
    "split": "Methods differ",
    "tied": "Tied",
    "wrong": "Wrong vs. gold",
}
ORDERS = {
    "Least sure first": ("confidence", True),
    "Most disputed first": ("disagreement", False),
    "Hardest first": ("difficulty", False),
    "Most labels first": ("n_labels", False),
    "Surest first": ("confidence", False),
    "As in the data": (None, True),
}


def draw() -> None:
    run = opening.open_results("Truths")
    items = reads.items(run.id)
    item_summary.draw_metrics(run, items)
    masks = _masks(items)
    rows = _filtered(run, items, masks)
    left, right = opening.side_by_side(8, 5)
    with left:
        item_grid.draw(run, items, rows)
    with right:
        if (chosen := state.selection("item")) is None:
            item_summary.draw_sureness(run, items)
        else:
            item_panel.draw(run, chosen)


def _masks(items: pd.DataFrame) -> dict[str, NDArray[np.bool_]]:
    labelled = items["n_labels"].to_numpy() > 0
    against = items.get("members_against", pd.Series(np.zeros(len(items))))
    return {
        "all": np.ones(len(items), bool),
        "disputed": items["disagreement"].to_numpy() >= DISPUTED,
        "changed": items["changed"].to_numpy(bool),
        "unsure": (items["confidence"].to_numpy() < UNSURE) & labelled,
        "split": against.to_numpy() > 0,
        "tied": items["tied"].to_numpy(bool),
        "wrong": items["right"].to_numpy() == 0,
    }


def _filtered(
    run: RunRow, items: pd.DataFrame, masks: dict[str, NDArray[np.bool_]]
) -> NDArray[np.intp]:
    """Draw the row of filters and return the places of the items that pass, in order."""
    has_gold = bool((items["right"] >= 0).any())
    shown = {"wrong": has_gold, "split": "members_against" in items}
    presets = [name for name in PRESETS if shown.get(name, True)]
    wish = state.selection("show")
    preset = st.pills(
        "Show",
        presets,
        default=wish if wish in presets else "all",
        format_func=lambda name: f"{PRESETS[name]} :gray[{count(masks[name].sum())}]",
        key=f"truths_show_{run.id}",
        label_visibility="collapsed",
    )
    state.select("show", None if preset in (None, "all") else preset)
    keep = masks[preset or "all"].copy()
    row = st.container(horizontal=True)
    words = row.text_input(
        "Search", key="truths_search", placeholder="Item or text", icon=":material/search:"
    )
    classes = list(reads.result(run.id).data.classes)
    wanted = row.selectbox(
        "Truth",
        classes,
        index=None,
        key=f"truths_class_{run.id}",
        placeholder="Any class",
        width=200,
    )
    orders = [name for name, (column, _) in ORDERS.items() if column is None or column in items]
    order = row.selectbox("Order", orders, key="truths_order", width=200)
    column, ascending = ORDERS[order]
    if wanted is not None:
        keep &= (items["truth"] == wanted).to_numpy()
    if words:
        keep &= _matches(run, items, words)
    rows = np.flatnonzero(keep)
    if column is None:
        return rows
    values = items[column].to_numpy()[rows]
    return rows[np.argsort(values if ascending else -values, kind="stable")]


def _matches(run: RunRow, items: pd.DataFrame, words: str) -> NDArray[np.bool_]:
    found = items["item"].str.contains(words, case=False, regex=False).to_numpy(bool)
    for values in reads.details(run.id).texts.values():
        text = pd.Series(values, dtype="str")
        found = found | text.str.contains(words, case=False, regex=False).to_numpy(bool)
    return found


draw()
