"""The table of workers: verdict, accuracy with its interval, and the reasons."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from dashboard import state
from dashboard.charts.palette import verdict_words
from dashboard.paging import chosen_row, page_of
from dashboard.text import count, interval, percent, percents

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow

EXCLUDED = "excluded"
UNKNOWN = "not enough data"

FULL_ROWS = 10
"""Rows from which the table scrolls inside itself."""

MOST_STYLED = 2_000
"""Rows up to which those without a verdict are greyed; styling more of them is slow."""


def draw(run: RunRow, part: pd.DataFrame) -> None:
    """Show some workers; a selected row becomes the selected worker."""
    if part.empty:
        st.info("No worker passes these filters.", icon=":material/filter_alt_off:")
        return
    part = part.iloc[page_of(np.arange(len(part)), key="workers_page", noun="workers")]
    key = f"workers_table_{run.id}_{zlib.crc32(part.index.to_numpy().tobytes()):08x}"
    picked = chosen_row(st.session_state.get(key))
    state.follow("worker", key, None if picked is None else str(part["worker"].iloc[picked]))
    place = np.flatnonzero((part["worker"] == state.selection("worker")).to_numpy())
    state.mirror("worker", key, int(place[0]) if len(place) else None)
    cells = _cells(part)
    dim = (part["verdict"].isin([UNKNOWN, EXCLUDED])).to_numpy()
    st.dataframe(
        _greyed(cells, dim) if len(cells) <= MOST_STYLED and dim.any() else cells,
        key=key,
        hide_index=True,
        height=420 if len(cells) > FULL_ROWS else "content",
        column_config=_columns(),
        on_select="rerun",
        selection_mode="single-row",
        lazy=False,
        placeholder="",
        alt="Workers with their verdicts",
    )
    st.caption(
        "Accuracy is against the truths of this run, with its 95% interval; a worker without "
        "enough data gets no bar, only the interval. Select a row or a point for the evidence."
    )


def _cells(part: pd.DataFrame) -> pd.DataFrame:
    known = ~part["verdict"].isin([UNKNOWN, EXCLUDED])
    cells: dict[str, Any] = {
        "worker": part["worker"].to_numpy(),
        "verdict": [words(word) for word in part["verdict"]],
        "accuracy": percents(part["accuracy"].where(known)),
        "interval": [
            interval(low, high) if n else ""
            for low, high, n in zip(
                part["accuracy_low"], part["accuracy_high"], part["n_compared"], strict=True
            )
        ],
        "n_labels": part["n_labels"].to_numpy(),
        "agreement": 100 * part["agreement"].to_numpy(),
        "spammer_score": part["spammer_score"].where(known).to_numpy(),
        "cost_quality": part["cost_quality"].where(known).to_numpy(),
    }
    if part["gold_n"].any():
        cells["gold"] = [
            f"{percent(rate, 0)} of {count(n)}" if n else ""
            for rate, n in zip(part["gold_accuracy"], part["gold_n"], strict=True)
        ]
    cells["evidence"] = part["evidence"].to_numpy()
    return pd.DataFrame(cells)


def _greyed(cells: pd.DataFrame, dim: NDArray[np.bool_]) -> Any:
    grey = np.where(dim, "color: #8A949E", "")[:, None]
    return cells.style.apply(lambda frame: np.broadcast_to(grey, frame.shape), axis=None)


def _columns() -> dict[str, Any]:
    column = st.column_config
    return {
        "worker": column.TextColumn("Worker", pinned=True, width=90),
        "verdict": column.TextColumn("Verdict", width=125),
        "accuracy": column.ProgressColumn(
            "Accuracy",
            min_value=0,
            max_value=100,
            format="%.1f%%",
            width=115,
            help="Share of the worker's labels that equal the truth.",
        ),
        "interval": column.TextColumn("95%", width=75, help="Where the accuracy may really lie."),
        "n_labels": column.NumberColumn("Labels", width=70, format="localized"),
        "agreement": column.NumberColumn(
            "Agreement", format="%.0f%%", width=90, help="With others, on the same items."
        ),
        "spammer_score": column.NumberColumn(
            "Informative",
            format="%.2f",
            width=95,
            help="Raykar and Yu's spammer score: 0 if the answers do not depend on the truth, "
            "1 if they follow it. An inverted worker is informative too.",
        ),
        "cost_quality": column.NumberColumn(
            "Quality",
            format="%.2f",
            width=75,
            help="Ipeirotis, Provost and Wang: 1 minus the expected cost of the labels, after "
            "undoing bias, over a spammer's.",
        ),
        "gold": column.TextColumn("On gold", width=95),
        "evidence": column.TextColumn("Evidence", width="large"),
    }


def words(word: str) -> str:
    """Write a verdict with its sign."""
    return "– excluded" if word == EXCLUDED else verdict_words(word)
