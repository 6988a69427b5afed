"""Charts of agreement: of every two workers, and of classes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from crowdcore.audit.agreements.worker_pairs import WorkerPairs
from dashboard.charts.palette import Theme, blues, class_colours, finish, ink, plain

MAX_TEXTS = 14
"""Workers up to which the numbers stand in the cells."""

_CELL_PIXELS, _BAR_PIXELS = 26, 30


def pair_map(pairs: WorkerPairs, *, theme: Theme) -> go.Figure:
    """Show how far every two workers agree; a cell's customdata is the two and what they share.

    Cells without anything shared stay empty.
    """
    names = [plain(name) for name in pairs.workers]
    m = len(names)
    values = np.where(pairs.n_shared > 0, pairs.agreement, np.nan)
    data = np.empty((m, m, 3), dtype=object)
    data[:, :, 0] = np.array(pairs.workers, dtype=object)[:, None]
    data[:, :, 1] = np.array(pairs.workers, dtype=object)[None, :]
    data[:, :, 2] = pairs.n_shared
    texts = [
        [
            f"{value:.2f}<br>{n:,}" if np.isfinite(value) else ""
            for value, n in zip(row, shared, strict=True)
        ]
        for row, shared in zip(values, pairs.n_shared, strict=True)
    ]
    figure = go.Figure(
        go.Heatmap(
            z=values,
            x=names,
            y=names,
            zmin=0,
            zmax=1,
            colorscale=blues(theme),
            colorbar={"title": "agree", "thickness": 12},
            xgap=1,
            ygap=1,
            customdata=data,
            text=texts if m <= MAX_TEXTS else None,
            texttemplate="%{text}" if m <= MAX_TEXTS else None,
            hovertemplate="%{y} and %{x}: %{z:.2f}, %{customdata[2]} shared<extra></extra>",
        )
    )
    figure.update_xaxes(side="top", showgrid=False, type="category", tickangle=-45)
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category")
    return finish(figure, theme=theme, height=max(260, _CELL_PIXELS * m + 110))


def class_bars(by_class: pd.DataFrame, *, theme: Theme) -> go.Figure:
    """Show how often another worker gives the class that one gave, with 95 % intervals."""
    names = [plain(name) for name in by_class["class"]]
    shares = by_class["agreement"].to_numpy()
    ends = {
        "type": "data",
        "array": by_class["agreement_high"].to_numpy() - shares,
        "arrayminus": shares - by_class["agreement_low"].to_numpy(),
        "color": ink(theme),
        "thickness": 1.2,
    }
    figure = go.Figure(
        go.Bar(
            x=shares,
            y=names,
            orientation="h",
            error_x=ends,
            marker={"color": class_colours(1, theme)[0]},
            customdata=by_class["n_labels"].to_numpy(),
            hovertemplate="%{y}: %{x:.1%} of %{customdata:,} labels<extra></extra>",
        )
    )
    figure.update_xaxes(range=[0, 1], tickformat=".0%", title="of partners who give the same class")
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category")
    return finish(figure, theme=theme, height=_BAR_PIXELS * len(names) + 90)
