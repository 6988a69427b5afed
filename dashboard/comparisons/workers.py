"""The Workers page where items were compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from crowdcore.audit.comparisons.workers import COLUMNS
from crowdcore.wording import rate
from dashboard import cache, layout, listed, widgets
from dashboard.charts.palette import finish, verdict_colour, verdict_style

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow

_SHOWN = (
    *("worker", "verdict", "agreement", "expected_agreement", "sharpness", "left_share"),
    *("cyclic_share", "tie_share", "n_labels", "evidence"),
)
SHOWN = tuple(column for name in _SHOWN for column in COLUMNS if column.name == name)

CHARTS = ("habits",)
ORDERS = {
    "Least sharp first": ("sharpness", True),
    "Most to the left first": ("left_share", False),
    "Most to the right first": ("left_share", True),
}


def draw_metrics(run: RunRow, workers: pd.DataFrame) -> None:
    """Draw the row of numbers."""
    listed.draw_worker_metrics(run, workers, noun="comparisons")


def draw_table(run: RunRow, workers: pd.DataFrame, ticked: Sequence[str]) -> list[str]:
    """Show some workers, of whom several can be ticked."""
    names = listed.draw_workers(run, workers, ticked, SHOWN)
    st.caption(
        "Workers are held against the order that the others make, without their own answers. "
        "**Tick a row or click a point for the evidence.**"
    )
    return names


def draw_overview(run: RunRow, workers: pd.DataFrame, keys: Mapping[str, str]) -> None:
    """Draw workers by how sharply they tell items apart and which side they lean to."""
    del run
    theme = layout.theme()
    figure = go.Figure()
    for verdict, group in workers.groupby("verdict", sort=False):
        figure.add_scatter(
            x=100 * group["left_share"],
            y=group["sharpness"],
            mode="markers",
            name=str(verdict),
            marker={
                "color": verdict_colour(str(verdict), theme),
                "symbol": verdict_style(str(verdict)).symbol,
                "size": 9,
            },
            customdata=group[["worker"]].to_numpy(),
            hovertemplate="%{customdata[0]}: left %{x:.0f}%, sharpness %{y:.2f}<extra></extra>",
        )
    figure.update_layout(
        xaxis={"title": "left item between equals, %", "range": [-3, 103]},
        yaxis={"title": "sharpness (1 average, 0 blind)"},
    )
    figure.add_hline(y=0, line_dash="dot")
    widgets.chart(
        finish(figure, theme=theme, height=420),
        key=keys["habits"],
        alt="Workers by the side they lean to and how sharply they tell items apart",
        select="points",
    )
    st.caption("Far left or right: side bias. Near 0: blind. Below 0: reversed.")


def draw_worker(run: RunRow, name: str) -> None:
    """Show one worker: the verdict, their numbers, and their comparisons."""
    worker = listed.draw_verdict(run, name)
    if worker is None:
        return
    left = rate(worker["left_share"], worker["left_low"], worker["left_high"])
    facts = [
        f"sharpness {worker['sharpness']:.2f} ({worker['sharpness_low']:.2f} to "
        f"{worker['sharpness_high']:.2f})",
        f"left between equals {left}",
        f"{worker['triads']:,} triples of items compared in full",
    ]
    st.caption(" · ".join(facts))
    st.markdown("**Comparisons**")
    labels = cache.label_table(run.id)
    mine = (labels["worker"] == name).to_numpy()
    wanted = ("left", "right", "label", "left_expected", "agrees")
    shown = [column for column in cache.label_columns(run.id) if column.name in wanted]
    key = f"worker_labels_{run.id}_{name}"
    listed.draw_labels(run, mine, shown, key=key, alt="The worker's comparisons")


def ticked_cells(workers: pd.DataFrame) -> dict[str, Sequence[str]]:
    """Write what the list of ticked workers shows beside verdict and evidence."""
    shares = (workers[name] for name in ("agreement", "agreement_low", "agreement_high"))
    return {"Agreement": [rate(*values) for values in zip(*shares, strict=True)]}
