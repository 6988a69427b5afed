"""The curve of a fit: what it logged at each step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.charts.palette import Theme, class_colours, finish, plain

if TYPE_CHECKING:
    import pandas as pd

MAX_CURVES = 4
FEW_STEPS = 10


def history_curve(history: pd.DataFrame, *, theme: Theme) -> go.Figure:
    """Draw each logged number over the steps, one strip per number, for their scales differ."""
    numbers = [name for name in history.columns if name not in {"stage", "step"}][:MAX_CURVES]
    rows = max(1, len(numbers))
    figure = make_subplots(rows=rows, cols=1, shared_xaxes=True, vertical_spacing=0.12 / rows)
    step = np.arange(1, len(history) + 1)  # stages follow each other, so their steps add up
    for row, name in enumerate(numbers, start=1):
        values = history[name].to_numpy(float)
        is_finite = np.isfinite(values)
        figure.add_scatter(
            x=step[is_finite],
            y=values[is_finite],
            mode="lines+markers" if is_finite.sum() <= 60 else "lines",  # noqa: PLR2004  (dots merge)
            name=plain(name),
            line={"color": class_colours(MAX_CURVES, theme)[row - 1], "width": 2},
            marker={"size": 5},
            hovertemplate=f"step %{{x:,}}<br>{plain(name)} %{{y:.6g}}<extra></extra>",
            showlegend=False,
            row=row,
            col=1,
        )
        figure.update_yaxes(title=plain(name), nticks=4, row=row, col=1)
    figure.update_xaxes(title="step", row=rows, col=1)
    if len(history) <= FEW_STEPS:
        figure.update_xaxes(dtick=1)  # there is no step 1.5
    return finish(figure, theme=theme, height=90 + 150 * rows)
