"""The Workers page where answers hold several classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from crowdcore.audit.sets.workers import COLUMNS, PRECISION, RECALL
from crowdcore.export.columns import GIVEN
from crowdcore.wording import rate
from dashboard import cache, layout, listed, widgets
from dashboard.charts.palette import finish, verdict_colour, verdict_style

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow

_SHOWN = (
    *("worker", "verdict", "similarity", "chance", "exact", "precision", "recall"),
    *("classes_per_answer", "n_labels", "evidence"),
)
SHOWN = tuple(column for name in _SHOWN for column in COLUMNS if column.name == name)

CHARTS = ("ticks",)
ORDERS = {"Least like others first": ("similarity", True)}


def draw_metrics(run: RunRow, workers: pd.DataFrame) -> None:
    """Draw the row of numbers."""
    listed.draw_worker_metrics(run, workers, noun="answers")


def draw_table(run: RunRow, workers: pd.DataFrame, ticked: Sequence[str]) -> list[str]:
    """Show some workers, of whom several can be ticked."""
    names = listed.draw_workers(run, workers, ticked, SHOWN)
    st.caption(
        "Similarity is the share of classes in common with others who saw the same items. "
        "**Tick a row or click a point for the evidence.**"
    )
    return names


def draw_overview(run: RunRow, workers: pd.DataFrame, keys: Mapping[str, str]) -> None:
    """Draw workers by how many of their ticks are right and how many classes they find."""
    drawn = workers[workers["precision"].notna() & workers["recall"].notna()]
    if drawn.empty:
        st.info("None of these workers answered an item that somebody else answered too.")
        return
    theme = layout.theme()
    figure = go.Figure()
    for verdict, group in drawn.groupby("verdict", sort=False):
        figure.add_scatter(
            x=100 * group["recall"],
            y=100 * group["precision"],
            mode="markers",
            name=str(verdict),
            marker={
                "color": verdict_colour(str(verdict), theme),
                "symbol": verdict_style(str(verdict)).symbol,
                "size": 9,
            },
            customdata=group[["worker"]].to_numpy(),
            hovertemplate="%{customdata[0]}: finds %{x:.0f}%, right %{y:.0f}%<extra></extra>",
        )
    figure.update_layout(
        xaxis={"title": "classes found, %", "range": [-3, 103]},
        yaxis={"title": "ticks that are right, %", "range": [-3, 103]},
    )
    del run
    widgets.chart(
        finish(figure, theme=theme, height=420),
        key=keys["ticks"],
        alt="Workers by the share of classes they find and of ticks that are right",
        select="points",
    )
    st.caption("Low on the right: ticks too much. High on the left: ticks too little.")


def draw_worker(run: RunRow, name: str) -> None:
    """Show one worker: the verdict, each class, and their answers."""
    worker = listed.draw_verdict(run, name)
    if worker is None:
        return
    classes = cache.result(run.id).data.classes
    left, right = layout.side_by_side(1, 1)
    with left:
        st.markdown("**Each class**")
        table = pd.DataFrame(
            {
                "class": list(classes),
                "recall": [100 * worker[RECALL + each] for each in classes],
                "precision": [100 * worker[PRECISION + each] for each in classes],
                "given": [100 * worker[GIVEN + each] for each in classes],
            }
        )
        column = st.column_config
        widgets.table(
            table,
            alt="How the worker does on each class",
            height=listed.MAX_PIXELS,
            columns={
                "class": column.TextColumn("Class"),
                "recall": column.NumberColumn(
                    "Found", format="%.0f%%", help="Of the items they saw that have the class."
                ),
                "precision": column.NumberColumn("Right", format="%.0f%%", help="Of their ticks."),
                "given": column.NumberColumn(
                    "Ticked in", format="%.0f%%", help="Of their answers."
                ),
            },
        )
    with right:
        st.markdown("**Answers, the least like the truth first**")
        labels = cache.label_table(run.id)
        mine = (labels["worker"] == name).to_numpy()
        wanted = ("item", "label", "truth", "similarity")
        shown = [column for column in cache.label_columns(run.id) if column.name in wanted]
        listed.draw_labels(
            run, mine, shown, key=f"worker_labels_{run.id}_{name}", alt="The worker's answers"
        )


def ticked_cells(workers: pd.DataFrame) -> dict[str, Sequence[str]]:
    """Write what the list of ticked workers shows beside verdict and evidence."""
    shares = (workers[name] for name in ("similarity", "similarity_low", "similarity_high"))
    return {"Similarity": [rate(*values) for values in zip(*shares, strict=True)]}
