"""All workers together: the numbers on top, and where everyone stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from crowdcore.audit.verdicts import IN_DOUBT
from crowdcore.wording import NOTHING, count, percent
from dashboard import cache, layout, state, widgets
from dashboard.charts.palette import MAX_POINTS
from dashboard.charts.workers import MAX_WHISKERS, worker_scatter
from dashboard.workers import crowd
from dashboard.workers.table import EXCLUDED, UNKNOWN

if TYPE_CHECKING:
    from crowdcore.audit.agreement import Agreement
    from crowdcore.workspace import RunRow


def draw_metrics(run: RunRow, workers: pd.DataFrame) -> None:
    """Draw the row of numbers."""
    active = workers[workers["verdict"] != EXCLUDED]
    n_compared = active["n_compared"].to_numpy()
    n_right = np.nansum(active["accuracy"].to_numpy() * n_compared)
    doubtful = active["verdict"].isin(IN_DOUBT)
    labels = active["n_labels"].to_numpy()
    agreement: Agreement = cache.agreement(run.id)
    row = st.container(horizontal=True)
    widgets.metric(row, "Workers", count(len(active)))
    widgets.metric(
        row,
        "Labels right",
        percent(n_right / n_compared.sum() if n_compared.sum() else None),
        help="How many of all labels are right, as the rest of the crowd sees it: nobody's own "
        "vote has a part in it.",
    )
    widgets.metric(
        row,
        "In doubt",
        count(doubtful.sum()),
        help=f"Workers judged {', '.join(IN_DOUBT[:-1])} or {IN_DOUBT[-1]}.",
    )
    widgets.metric(
        row,
        "Their labels",
        percent(labels[doubtful.to_numpy()].sum() / max(1, labels.sum())),
        help="The share of all labels that came from workers in doubt.",
    )
    widgets.metric(
        row,
        "Undecided",
        count((active["verdict"] == UNKNOWN).sum()),
        help="Workers of whom nothing can be said yet. That is no verdict against them.",
    )
    widgets.metric(
        row,
        "Agreement (alpha)",
        NOTHING if agreement.alpha is None else f"{agreement.alpha:.2f}",
        help=_about_alpha(agreement),
    )
    crowd.draw(run)


def _about_alpha(agreement: Agreement) -> str:
    """Explain alpha, with its interval and what it rests on."""
    sentence = "Krippendorff's alpha: 1 where workers always agree, 0 where no more than by chance."
    if agreement.interval is not None:
        low, high = agreement.interval
        sentence += f" Its 95% interval is {low:.2f} to {high:.2f}."
    return f"{sentence} {agreement.describe()}"


def draw_scatter(run: RunRow, workers: pd.DataFrame, key: str) -> None:
    """Draw some workers by number of labels and accuracy, as a chart under `key`."""
    drawn = workers[workers["accuracy"].notna()]
    if drawn.empty:
        st.info("None of these workers labelled an item that somebody else labelled too.")
        return
    n_classes = cache.result(run.id).data.n_classes
    widgets.chart(
        worker_scatter(
            workers,
            theme=layout.theme(),
            selected=state.selection("worker"),
            chance=1 / n_classes if n_classes > 1 else None,
        ),
        key=key,
        alt="Workers by number of labels and accuracy, with intervals",
        select="points",
    )
    notes = []
    if len(drawn) > MAX_POINTS:
        notes.append(
            f"{count(MAX_POINTS)} of {count(len(drawn))} workers drawn: those in doubt first, "
            "the others evenly."
        )
    if len(drawn) > MAX_WHISKERS:
        notes.append("Hover over a point to read its interval.")
    if len(drawn) < len(workers):
        hidden = count(len(workers) - len(drawn), "worker")
        notes.append(f"{hidden} with nothing to compare not drawn.")
    if notes:
        st.caption(" ".join(notes))
