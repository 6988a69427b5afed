"""Truths: what each item is, how sure that is, and who said what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from crowdcore.wording import count
from dashboard import cache, layout, state
from dashboard.kinds import views_of

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow
    from dashboard.kinds import TruthsParts


def draw() -> None:
    run = layout.open_results("truths")
    parts, items = views_of(cache.kind(run)).truths, cache.items(run.id)
    parts.draw_metrics(run, items)
    rows = _filtered(run, items, parts)
    left_column, right_column = layout.side_by_side(8, 5)
    with left_column:
        parts.draw_table(run, items, rows)
    with right_column:
        if (name := state.selection("item")) is None:
            parts.draw_overview(run, items)
        else:
            parts.draw_item(run, name)


def _filtered(run: RunRow, items: pd.DataFrame, parts: TruthsParts) -> NDArray[np.intp]:
    """Draw the row of filters and return the positions of the items that pass, in order."""
    masks = parts.masks(items)
    presets = [name for name in parts.presets if name in masks]
    linked = state.selection("show")
    preset = st.pills(
        "Show",
        presets,
        default=linked if linked in presets else "all",
        format_func=lambda name: f"{parts.presets[name]} :gray[{count(masks[name].sum())}]",
        key=f"truths_show_{run.id}",
        label_visibility="collapsed",
    )
    state.select("show", None if preset in (None, "all") else preset)
    passes = masks[preset or "all"].copy()
    row = st.container(horizontal=True)
    text = row.text_input(
        "Search", key="truths_search", placeholder="Item or text", icon=":material/search:"
    )
    passes &= parts.narrow(row, run, items)
    orders = {
        name: order for name, order in parts.orders.items() if order[0] is None or order[0] in items
    }
    order = row.selectbox("Order", list(orders), key="truths_order", width=200)
    column, ascending = orders[order]
    if text:
        passes &= _matches(run, items, text)
    rows = np.flatnonzero(passes)
    if column is None:
        return rows
    values = items[column].to_numpy()[rows]
    return rows[np.argsort(values if ascending else -values, kind="stable")]


def _matches(run: RunRow, items: pd.DataFrame, text: str) -> NDArray[np.bool_]:
    """Tell which items have a text in their name or in what is known of them."""
    columns = [items["item"]]
    if "words" in items:  # rows are texts, which details of tokens do not fit
        columns.append(items["words"].astype("str"))
    else:
        columns += [pd.Series(texts, dtype="str") for texts in cache.details(run.id).texts.values()]
    matches = np.zeros(len(items), bool)
    for column in columns:
        matches |= column.str.contains(text, case=False, regex=False).to_numpy(bool)
    return matches


draw()
