"""All workers together: the numbers on top, and where everyone stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import opening, reads, state
from dashboard.charts.palette import MOST_POINTS
from dashboard.charts.workers import MOST_WHISKERS, worker_scatter
from dashboard.text import NOTHING, count, percent
from dashboard.worker_grid import EXCLUDED, UNKNOWN

if TYPE_CHECKING:
    from crowdcore.audit.agreement import Agreement
    from crowdcore.workspace import RunRow


def draw_metrics(run: RunRow, workers: pd.DataFrame) -> None:
    """Draw the row of numbers."""
    active = workers[workers["verdict"] != EXCLUDED]
    n = active["n_compared"].to_numpy()
    hits = np.nansum(active["accuracy"].to_numpy() * n)
    doubtful = ~active["verdict"].isin(["good", UNKNOWN])
    labels = active["n_labels"].to_numpy()
    row = st.container(horizontal=True)
    row.metric("Workers", count(len(active)), border=True)
    row.metric(
        "Labels right",
        percent(hits / n.sum() if n.sum() else None),
        border=True,
        help="How many of all labels equal the truth of their item, over the items that more "
        "than one worker labelled.",
    )
    row.metric(
        "In doubt",
        count(doubtful.sum()),
        border=True,
        help="Workers judged weak, biased, random, one answer or inverted.",
    )
    row.metric(
        "Their labels",
        percent(labels[doubtful.to_numpy()].sum() / max(1, labels.sum())),
        border=True,
        help="What part of all labels came from workers in doubt.",
    )
    row.metric(
        "Not enough data",
        count((active["verdict"] == UNKNOWN).sum()),
        border=True,
        help="Workers of whom nothing can be said yet. That is no verdict against them.",
    )
    agreed = reads.agreement(run.id)
    row.metric(
        "Agreement (alpha)",
        NOTHING if agreed.alpha is None else f"{agreed.alpha:.2f}",
        border=True,
        help=_about_alpha(agreed),
    )


def _about_alpha(agreed: Agreement) -> str:
    sentence = "Krippendorff's alpha: 1 where workers always agree, 0 where no more than by chance."
    if agreed.interval is not None:
        low, high = agreed.interval
        sentence += f" Its 95% interval is {low:.2f} to {high:.2f}."
    return f"{sentence} {agreed.words()}"


def draw_scatter(run: RunRow, part: pd.DataFrame, key: str) -> None:
    """Draw some workers by number of labels and accuracy, as a chart under `key`."""
    placed = part[part["accuracy"].notna()]
    if placed.empty:
        st.info("None of these workers labelled an item that somebody else labelled too.")
        return
    classes = reads.result(run.id).data.n_classes
    st.plotly_chart(
        worker_scatter(
            part,
            theme=opening.theme(),
            selected=state.selection("worker"),
            chance=1 / classes if classes > 1 else None,
        ),
        key=key,
        on_select="rerun",
        selection_mode="points",
        config={"displayModeBar": False},
        alt="Workers by number of labels and accuracy, with 95% intervals",
    )
    notes = []
    if len(placed) > MOST_POINTS:
        notes.append(
            f"{count(MOST_POINTS)} of {count(len(placed))} workers drawn: those in doubt first, "
            "the others evenly."
        )
    if len(placed) > MOST_WHISKERS:
        notes.append("Hover over a point to read its interval.")
    if len(placed) < len(part):
        hidden = count(len(part) - len(placed), "worker")
        notes.append(f"{hidden} with nothing to compare not drawn.")
    if notes:
        st.caption(" ".join(notes))
