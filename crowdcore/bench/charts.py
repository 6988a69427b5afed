"""Figures of the papers' tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from crowdcore.data import Floats

KINDS = (("sensitivity", "#0072B2", "circle"), ("specificity", "#D55E00", "diamond"))
"""Colours that everybody can tell apart, and shapes for print."""


def against_true(title: str, true: Floats, estimates: Mapping[str, Floats]) -> Any:
    """Draw estimates of expertise [draw, kind, expert] over the true values [kind, expert].

    One panel per method; bars are standard deviations over the draws. On the line, an estimate is
    right.

    Parameters
    ----------
    title : str
        Title of the figure.
    true : ndarray
        True values [kind, expert].
    estimates : dict of str to ndarray
        Per method, its estimates [draw, kind, expert].

    Returns
    -------
    object
        A Plotly figure.
    """
    from plotly.subplots import make_subplots

    figure = make_subplots(
        cols=len(estimates),
        subplot_titles=list(estimates),
        shared_yaxes=True,
        horizontal_spacing=0.02,
    )
    for column, draws in enumerate(estimates.values(), start=1):
        panel: dict[str, Any] = {"row": 1, "col": column}
        figure.add_scatter(
            x=[0, 1], y=[0, 1], mode="lines", line={"dash": "dot", "color": "#777777"},
            hoverinfo="skip", showlegend=False, **panel,
        )  # fmt: skip
        for kind, (name, colour, symbol) in enumerate(KINDS):
            # Experts of one ability would cover each other: they stand a little apart.
            n_experts = true.shape[1]
            offsets = [0.012 * (expert - (n_experts - 1) / 2) for expert in range(n_experts)]
            figure.add_scatter(
                x=true[kind] + offsets,
                y=draws[:, kind].mean(0),
                error_y={"type": "data", "array": draws[:, kind].std(0, ddof=1)},
                mode="markers",
                marker={"color": colour, "symbol": symbol, "size": 9},
                name=name,
                legendgroup=name,
                showlegend=column == 1,
                text=[f"expert {expert + 1}" for expert in range(n_experts)],
                hovertemplate="%{text}: %{y:.2f}<extra>" + name + "</extra>",
                **panel,
            )
    figure.update_xaxes(range=[0.5, 0.9], tickvals=[0.6, 0.7, 0.8], title="true")
    figure.update_yaxes(range=[0.4, 1.02])
    figure.update_yaxes(title="estimated", col=1)
    figure.update_layout(title=title, template="plotly_white", height=420)
    return figure


def lines(
    title: str,
    x_title: str,
    x_values: Sequence[float],
    accuracies: Mapping[str, Sequence[Sequence[float]]],
) -> Any:
    """Draw accuracy against something, one line per method: means and standard deviations.

    Parameters
    ----------
    title : str
        Title of the figure.
    x_title : str
        Title of the x-axis.
    x_values : sequence of float
        Values on the x-axis.
    accuracies : Mapping[str, Sequence[sequence of float]]
        Per method, the accuracies at each of these values.

    Returns
    -------
    object
        A Plotly figure.
    """
    import plotly.graph_objects as go

    figure = go.Figure(
        [
            go.Scatter(
                x=x_values,
                y=[mean(shares) for shares in groups],
                error_y={
                    "type": "data",
                    "array": [float(np.std(shares, ddof=1)) for shares in groups],
                },
                name=name,
            )
            for name, groups in accuracies.items()
        ]
    )
    figure.update_layout(
        title=title,
        xaxis={"title": x_title},
        yaxis={"title": "Accuracy", "tickformat": ".0%"},
        template="plotly_white",
    )
    return figure
