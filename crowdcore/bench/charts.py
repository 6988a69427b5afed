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

    One panel a method; bars are standard deviations over the draws. On the line, an estimate is
    right.
    """
    from plotly.subplots import make_subplots

    figure = make_subplots(
        cols=len(estimates),
        subplot_titles=list(estimates),
        shared_yaxes=True,
        horizontal_spacing=0.02,
    )
    for column, found in enumerate(estimates.values(), start=1):
        spot: dict[str, Any] = {"row": 1, "col": column}
        figure.add_scatter(
            x=[0, 1], y=[0, 1], mode="lines", line={"dash": "dot", "color": "#777777"},
            hoverinfo="skip", showlegend=False, **spot,
        )  # fmt: skip
        for kind, (name, colour, symbol) in enumerate(KINDS):
            # Experts of one ability would cover each other: they stand a little apart.
            count = true.shape[1]
            aside = [0.012 * (place - (count - 1) / 2) for place in range(count)]
            figure.add_scatter(
                x=true[kind] + aside,
                y=found[:, kind].mean(0),
                error_y={"type": "data", "array": found[:, kind].std(0, ddof=1)},
                mode="markers",
                marker={"color": colour, "symbol": symbol, "size": 9},
                name=name,
                legendgroup=name,
                showlegend=column == 1,
                text=[f"expert {place + 1}" for place in range(count)],
                hovertemplate="%{text}: %{y:.2f}<extra>" + name + "</extra>",
                **spot,
            )
    figure.update_xaxes(range=[0.5, 0.9], tickvals=[0.6, 0.7, 0.8], title="true")
    figure.update_yaxes(range=[0.4, 1.02])
    figure.update_yaxes(title="estimated", col=1)
    figure.update_layout(title=title, template="plotly_white", height=420)
    return figure


def lines(
    title: str, across: str, at: Sequence[float], found: Mapping[str, Sequence[Sequence[float]]]
) -> Any:
    """Draw accuracy against something, one line a method: means and standard deviations."""
    import plotly.graph_objects as go

    figure = go.Figure(
        [
            go.Scatter(
                x=at,
                y=[mean(shares) for shares in parts],
                error_y={"type": "data", "array": [float(np.std(one, ddof=1)) for one in parts]},
                name=name,
            )
            for name, parts in found.items()
        ]
    )
    figure.update_layout(
        title=title,
        xaxis={"title": across},
        yaxis={"title": "Accuracy", "tickformat": ".0%"},
        template="plotly_white",
    )
    return figure
