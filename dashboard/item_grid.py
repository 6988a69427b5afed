"""The table of items: a page at a time, with pictures, small bars and flags."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from crowdcore.audit.items import DISPUTED, UNSURE
from dashboard import reads, state
from dashboard.paging import PAGE_ROWS, chosen_row, page_of
from dashboard.text import escape_md, percent, percents

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow

MOST_BARS = 12
"""Classes up to which a row's probabilities are drawn as small bars."""

PICTURE_ROWS = 200
"""Rows of a page with pictures, which are sent to the browser whole."""

FULL_ROWS = 14
"""Rows from which a table scrolls inside itself."""

TEXT_SIGNS = 200


def draw(run: RunRow, items: pd.DataFrame, rows: NDArray[np.intp]) -> None:
    """Show the items at the given places; a selected row becomes the selected item."""
    if not len(rows):
        st.info("No item passes these filters.", icon=":material/filter_alt_off:")
        return
    details = reads.details(run.id)
    size = PICTURE_ROWS if details.picture else PAGE_ROWS
    rows = page_of(rows, key="truths_page", noun="items", page_rows=size)
    frame = items.iloc[rows]
    key = f"truths_table_{run.id}_{zlib.crc32(rows.tobytes()):08x}"
    picked = chosen_row(st.session_state.get(key))
    state.follow("item", key, None if picked is None else str(frame["item"].iloc[picked]))
    place = np.flatnonzero((frame["item"] == state.selection("item")).to_numpy())
    state.mirror("item", key, int(place[0]) if len(place) else None)
    st.dataframe(
        _cells(run, frame, rows, details),
        key=key,
        hide_index=True,
        height=560 if len(frame) > FULL_ROWS else "content",
        row_height=56 if details.picture else None,
        column_config=_columns(run),
        on_select="rerun",
        selection_mode="single-row",
        lazy=False,
        placeholder="",
        alt="Items with their truths",
    )
    n_classes = reads.result(run.id).data.n_classes
    bars = f"Probabilities are drawn up to {MOST_BARS} classes. " if n_classes > MOST_BARS else ""
    st.caption(
        f"{bars}Disputed: at least {percent(DISPUTED, 0)} of the labels are not the commonest one. "
        f"Low confidence: below {percent(UNSURE, 0)}. Select a row to see who said what."
    )


def _cells(
    run: RunRow, frame: pd.DataFrame, rows: NDArray[np.intp], details: reads.Details
) -> pd.DataFrame:
    cells: dict[str, Any] = {"item": frame["item"].to_numpy()}
    if details.picture:
        cells["picture"] = [details.picture[row] for row in rows]
    cells["truth"] = frame["truth"].astype(str).to_numpy()
    cells["confidence"] = percents(frame["confidence"])
    if "difficulty" in frame:
        cells["difficulty"] = frame["difficulty"].to_numpy()
    cells["majority"] = frame["majority"].astype(str).to_numpy()
    if (reads.items(run.id)["right"] >= 0).any():
        cells["gold"] = frame["gold"].astype(str).to_numpy()
    cells["flags"] = _flags(frame)
    posterior = reads.result(run.id).posterior
    if 1 < posterior.shape[1] <= MOST_BARS:
        cells["posterior"] = posterior[rows].round(3).tolist()
    cells["n_labels"] = frame["n_labels"].to_numpy()
    cells["disagreement"] = 100 * frame["disagreement"].to_numpy()
    for name, values in details.texts.items():
        cells[f"detail:{name}"] = [values[row][:TEXT_SIGNS] for row in rows]
    return pd.DataFrame(cells)


def _flags(frame: pd.DataFrame) -> list[list[str]]:
    marks = {
        "tied": frame["tied"].to_numpy(bool),
        "changed": frame["changed"].to_numpy(bool),
        "wrong": frame["right"].to_numpy() == 0,
        "no labels": frame["n_labels"].to_numpy() == 0,
    }
    flags: list[list[str]] = [[] for _ in range(len(frame))]
    for name, mask in marks.items():
        for place in np.flatnonzero(mask):
            flags[place].append(name)
    return flags


def _columns(run: RunRow) -> dict[str, Any]:
    column = st.column_config
    classes = escape_md(", ".join(reads.result(run.id).data.classes[:MOST_BARS]), limit=300)
    names = {name: f"detail:{name}" for name in reads.details(run.id).texts}
    return {
        "item": column.TextColumn("Item", pinned=True, width=75),
        "picture": column.ImageColumn("Picture", width=70),
        "truth": column.TextColumn("Truth", width=95),
        "confidence": column.ProgressColumn(
            "Confidence", min_value=0, max_value=100, format="%.1f%%", width=110
        ),
        "posterior": column.BarChartColumn(
            "Probabilities", y_min=0, y_max=1, width=90, help=f"In this order: {classes}"
        ),
        "n_labels": column.NumberColumn("Labels", width=60),
        "disagreement": column.NumberColumn(
            "Disagree",
            format="%.0f%%",
            width=75,
            help="Share of the item's labels that are not its commonest one.",
        ),
        "difficulty": column.NumberColumn(
            "Difficulty",
            format="%.2f",
            width=80,
            help="How hard the method finds the item. Numbers of different methods do not compare.",
        ),
        "majority": column.TextColumn(
            "Majority", width=95, help="The commonest label; empty where two are."
        ),
        "gold": column.TextColumn("Gold", width=80),
        "flags": column.ListColumn("Flags", width=130),
        **{key: column.TextColumn(name, width="medium") for name, key in names.items()},
    }
