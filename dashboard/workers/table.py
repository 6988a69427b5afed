"""The table of workers: verdict, accuracy with its interval, and the reasons."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from crowdcore.audit.verdicts import UNDECIDED, describe_verdicts
from crowdcore.audit.workers import COLUMNS
from crowdcore.export.columns import GIVEN, SCORE, TableColumn
from crowdcore.wording import interval, percent_of, percents, rate
from dashboard import widgets
from dashboard.charts.palette import verdict_words
from dashboard.tables import page_of

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow

EXCLUDED = "excluded"
UNKNOWN = UNDECIDED.name

MAX_PIXELS = 420

MAX_STYLED_ROWS = 2_000
"""Rows up to which those without a verdict are greyed; styling more of them is slow."""

PLACED_COLUMNS = {
    *("accuracy", "accuracy_low", "accuracy_high", "n_compared"),
    *("gold_n", "gold_accuracy", SCORE, GIVEN),
}
"""Columns that are shown in a way of their own, or as part of another, or beside the table."""

FORMATS = {"labels": "localized", "share": "%.0f%%", "score": "%.2f"}
WIDTHS = {"labels": 70, "share": 90, "score": 95}
"""How columns of numbers look, by their unit; widths in pixels."""


def draw(run: RunRow, workers: pd.DataFrame, ticked: Sequence[str]) -> list[str]:
    """Show some workers, of whom several can be ticked; return all who are, shown or not."""
    if workers.empty:
        st.info("No worker passes these filters.", icon=":material/filter_alt_off:")
        return list(ticked)
    workers = workers.iloc[page_of(np.arange(len(workers)), key="workers_page", noun="workers")]
    cells = _cells(workers)
    unjudged = (workers["verdict"].isin([UNKNOWN, EXCLUDED])).to_numpy()
    names = widgets.tick_table(
        _greyed(cells, unjudged) if len(cells) <= MAX_STYLED_ROWS and unjudged.any() else cells,
        key=f"workers_table_{run.id}_{zlib.crc32(workers.index.to_numpy().tobytes()):08x}",
        alt="Workers with their verdicts",
        columns=_columns(),
        select="worker",
        ticked=ticked,
        height=MAX_PIXELS,
    )
    st.caption(
        "Accuracy is as the rest of the crowd sees it, without the worker's own votes; an "
        "undecided worker gets no bar, only the interval. **Tick a row or click a point for the "
        "evidence; tick several to exclude them together.**"
    )
    return names


def ticked_cells(workers: pd.DataFrame) -> dict[str, Sequence[str]]:
    """Write what the list of ticked workers shows beside verdict and evidence."""
    shares = (workers[name] for name in ("accuracy", "accuracy_low", "accuracy_high"))
    return {"Accuracy": [rate(*values) for values in zip(*shares, strict=True)]}


def verdict_text(verdict: str) -> str:
    """Write a verdict with its sign, also that of a worker whom the run left out."""
    return "– excluded" if verdict == EXCLUDED else verdict_words(verdict)


def _cells(workers: pd.DataFrame) -> pd.DataFrame:
    judged = ~workers["verdict"].isin([UNKNOWN, EXCLUDED])
    cells: dict[str, Any] = {
        "worker": workers["worker"].to_numpy(),
        "verdict": [verdict_text(verdict) for verdict in workers["verdict"]],
        "accuracy": percents(workers["accuracy"].where(judged)),
        "interval": [
            interval(low, high) if n else ""
            for low, high, n in zip(
                workers["accuracy_low"],
                workers["accuracy_high"],
                workers["n_compared"],
                strict=True,
            )
        ],
    }
    for column in _further_columns():
        if column.name in workers:  # a run of an earlier version may not have it
            values = workers[column.name]
            values = values.where(judged) if column.unit == "score" else values
            cells[column.name] = values.to_numpy() * (100 if column.unit == "share" else 1)
    if workers["gold_n"].any():
        cells["gold"] = [
            percent_of(share, n) if n else ""
            for share, n in zip(workers["gold_accuracy"], workers["gold_n"], strict=True)
        ]
    cells["evidence"] = workers["evidence"].to_numpy()
    return pd.DataFrame(cells)


def _greyed(cells: pd.DataFrame, rows: NDArray[np.bool_]) -> Any:
    """Style a table so that some rows stand back."""
    grey = np.where(rows, "color: #8A949E", "")[:, None]
    return cells.style.apply(lambda frame: np.broadcast_to(grey, frame.shape), axis=None)


def _columns() -> dict[str, Any]:
    column, listed = st.column_config, {entry.name: entry for entry in COLUMNS}
    further = {
        entry.name: column.NumberColumn(
            entry.title, format=FORMATS[entry.unit], width=WIDTHS[entry.unit], help=entry.help
        )
        for entry in _further_columns()
    }
    return {
        "worker": column.TextColumn(listed["worker"].title, pinned=True, width=90),
        "verdict": column.TextColumn(listed["verdict"].title, width=125, help=describe_verdicts()),
        "accuracy": widgets.percent_bar(
            listed["accuracy"].title, width=115, help=listed["accuracy"].help
        ),
        "interval": column.TextColumn(
            "From–to", width=75, help="Where the accuracy may lie; " + listed["accuracy_low"].help
        ),
        **further,
        "gold": column.TextColumn("On gold", width=95, help=listed["gold_accuracy"].help),
        "evidence": column.TextColumn(listed["evidence"].title, width="large"),
    }


def _further_columns() -> list[TableColumn[Any]]:
    """Return the numbers of workers.csv that have no place of their own in the table."""
    return [
        column for column in COLUMNS if column.unit in FORMATS and column.name not in PLACED_COLUMNS
    ]
