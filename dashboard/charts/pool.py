"""How far the methods of a pool agree with it and with each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go
from numpy.typing import NDArray

from dashboard.charts.palette import Theme, blues, finish, ink, plain

ROW_PIXELS = 44


def agreement_map(
    names: Sequence[str],
    titles: Sequence[str],
    weights: NDArray[Any],
    agreement: NDArray[Any],
    *,
    theme: Theme,
) -> go.Figure:
    """Show the share of items on which a member (row) agrees with the pool or a member (column).

    `agreement` [members, 1 + members] has the pool first.
    """
    rows = [f"{plain(name)} × {weight:g}" for name, weight in zip(names, weights, strict=True)]
    lowest = float(agreement.min())
    figure = go.Figure(
        go.Heatmap(
            z=agreement,
            x=["pool", *(plain(name) for name in names)],
            y=rows,
            zmin=lowest,
            zmax=2 - lowest,  # only the half of the scale on which ink can be read
            colorscale=blues(theme),
            showscale=False,
            xgap=1,
            ygap=1,
            texttemplate="%{z:.1%}",
            textfont={"color": ink(theme)},
            customdata=[[plain(title, 60)] * (1 + len(names)) for title in titles],
            hovertemplate="%{customdata} and %{x} agree on %{z:.1%}<extra></extra>",
        )
    )
    figure.update_xaxes(side="top", showgrid=False)
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return finish(figure, theme=theme, height=ROW_PIXELS * len(rows) + 60)
