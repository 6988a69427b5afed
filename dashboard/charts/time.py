"""A worker over time: how right their labels are, as a running mean in the order of work."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from dashboard.charts.palette import Theme, class_colours, finish, ink, quiet

WINDOW = 15
"""Labels that a running mean is over."""


def care_over_time(
    belief: NDArray[np.float64],
    is_fast: NDArray[np.bool_],
    *,
    change: int | None,
    theme: Theme,
) -> go.Figure:
    """Draw the others' belief in a worker's labels, in their order of work.

    Parameters
    ----------
    belief
        The others' belief in each label [n].
    is_fast
        Which labels took far less time than usual [n].
    change
        After how many labels care falls; None where it does not.
    theme
        Of the page.
    """
    size = min(WINDOW, len(belief))
    mean = np.convolve(belief, np.ones(size) / size, mode="valid")
    at = np.arange(1, len(belief) + 1)
    blue, orange = class_colours(2, theme)
    figure = go.Figure()
    figure.add_scatter(
        x=at,
        y=belief,
        mode="markers",
        marker={
            "size": 5,
            "color": np.where(is_fast, orange, quiet(theme)),
            "symbol": np.where(is_fast, "x", "circle"),
        },
        name="a label",
        hovertemplate="label %{x}: %{y:.0%}<extra></extra>",
    )
    figure.add_scatter(
        x=at[size - 1 :] - size // 2,
        y=mean,
        mode="lines",
        line={"color": blue, "width": 2},
        name="running mean",
        hoverinfo="skip",
    )
    if change is not None:
        figure.add_vline(x=change + 0.5, line={"color": ink(theme), "dash": "dash", "width": 1})
    figure.update_yaxes(range=[-0.05, 1.05], tickformat=".0%", title=None)
    figure.update_xaxes(title="Comparable label")
    return finish(figure, theme=theme, height=240)
