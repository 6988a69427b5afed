"""The table of items: a page at a time, with pictures, small bars and flags."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from crowdcore.audit.items import COLUMNS, LOW_CONFIDENCE, MIN_DISPUTED_SHARE
from crowdcore.export.columns import TableColumn
from crowdcore.export.tables import TRUTH_COLUMNS
from crowdcore.wording import percent, percents
from dashboard import cache, widgets
from dashboard.tables import PAGE_ROWS, page_of
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow

MAX_BARS = 12
"""Classes up to which a row's probabilities are drawn as small bars."""

PICTURE_ROWS = 200
"""Rows of a page with pictures, which are sent to the browser whole."""

MAX_PIXELS = 560

MAX_TEXT_LETTERS = 200


def draw(run: RunRow, items: pd.DataFrame, rows: NDArray[np.intp]) -> None:
    """Show the items at the given positions; a selected row becomes the selected item."""
    if not len(rows):
        st.info("No item passes these filters.", icon=":material/filter_alt_off:")
        return
    details = cache.details(run.id)
    size = PICTURE_ROWS if details.picture else PAGE_ROWS
    rows = page_of(rows, key="truths_page", noun="items", page_rows=size)
    widgets.table(
        _cells(run, items.iloc[rows], rows, details),
        key=f"truths_table_{run.id}_{zlib.crc32(rows.tobytes()):08x}",
        alt="Items with their truths",
        columns=_columns(run),
        select="item",
        linked=True,
        height=MAX_PIXELS,
        pictures=details.picture is not None,
    )
    n_classes = cache.result(run.id).data.n_classes
    bars = f"Probabilities are drawn up to {MAX_BARS} classes. " if n_classes > MAX_BARS else ""
    st.caption(
        f"{bars}Disputed: at least {percent(MIN_DISPUTED_SHARE, 0)} of the labels are not the "
        f"commonest one. Low confidence: below {percent(LOW_CONFIDENCE, 0)}. "
        "Select a row to see who said what."
    )


def _cells(
    run: RunRow, frame: pd.DataFrame, rows: NDArray[np.intp], details: cache.Details
) -> pd.DataFrame:
    cells: dict[str, Any] = {"item": frame["item"].to_numpy()}
    if details.picture:
        cells["picture"] = [details.picture[row] for row in rows]
    cells["truth"] = frame["truth"].astype(str).to_numpy()
    cells["confidence"] = percents(frame["confidence"])
    if "score:difficulty" in frame:
        cells["difficulty"] = frame["score:difficulty"].to_numpy()
    cells["majority"] = frame["majority"].astype(str).to_numpy()
    if (cache.items(run.id)["right"] >= 0).any():
        cells["gold"] = frame["gold"].astype(str).to_numpy()
    cells["flags"] = _flags(frame)
    posterior = cache.result(run.id).posterior
    if 1 < posterior.shape[1] <= MAX_BARS:
        cells["posterior"] = posterior[rows].round(3).tolist()
    cells["n_labels"] = frame["n_labels"].to_numpy()
    cells["disagreement"] = 100 * frame["disagreement"].to_numpy()
    for name, values in details.texts.items():
        cells[f"detail:{name}"] = [values[row][:MAX_TEXT_LETTERS] for row in rows]
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
        for row in np.flatnonzero(mask):
            flags[row].append(name)
    return flags


def _columns(run: RunRow) -> dict[str, Any]:
    column = st.column_config
    columns: list[TableColumn[Any]] = [*TRUTH_COLUMNS, *COLUMNS]
    listed = {entry.name: entry for entry in columns}
    classes = escape_md(", ".join(cache.result(run.id).data.classes[:MAX_BARS]), limit=300)
    names = {name: f"detail:{name}" for name in cache.details(run.id).texts}
    return {
        "item": column.TextColumn(listed["item"].title, pinned=True, width=75),
        "picture": column.ImageColumn("Picture", width=70),
        "truth": column.TextColumn(listed["truth"].title, width=95, help=listed["truth"].help),
        "confidence": widgets.percent_bar(
            listed["confidence"].title, width=110, help=listed["confidence"].help
        ),
        "posterior": column.BarChartColumn(
            "Probabilities", y_min=0, y_max=1, width=90, help=f"In this order: {classes}"
        ),
        "n_labels": column.NumberColumn(
            listed["n_labels"].title, width=60, help=listed["n_labels"].help
        ),
        "disagreement": column.NumberColumn(
            listed["disagreement"].title,
            format="%.0f%%",
            width=75,
            help=listed["disagreement"].help,
        ),
        "difficulty": column.NumberColumn(
            "Difficulty",
            format="%.2f",
            width=80,
            help="How hard the method finds the item. Numbers of different methods do not compare.",
        ),
        "majority": column.TextColumn(
            listed["majority"].title, width=95, help=listed["majority"].help
        ),
        "gold": column.TextColumn(listed["gold"].title, width=80, help=listed["gold"].help),
        "flags": column.ListColumn("Flags", width=130),
        **{key: column.TextColumn(name, width="medium") for name, key in names.items()},
    }
