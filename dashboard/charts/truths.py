"""Charts of truths: how sure they are, all together and one by one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from crowdcore.wording import percent
from dashboard.charts.palette import Theme, class_colours, finish, ink, plain, quiet

if TYPE_CHECKING:
    import pandas as pd

N_BINS = 10
MAX_BARS = 15
FEW_CLASSES = 5
MIN_PROBABILITY = 0.001
"""A class less likely than this that nobody gave is left out where there are many."""

RIGHT, WRONG, NO_GOLD = 1, 0, -1
"""Codes of how a truth compares with gold."""


def confidence_histogram(
    confidence: NDArray[np.floating[Any]], against_gold: NDArray[np.integer[Any]], *, theme: Theme
) -> go.Figure:
    """Count the items by confidence; where there is gold, right and wrong ones apart.

    `against_gold` holds RIGHT, WRONG or NO_GOLD for each item. Bins have the same edges for
    every run, so two runs compare.
    """
    edges = np.linspace(0, 1, N_BINS + 1)
    middles = (edges[:-1] + edges[1:]) / 2
    spans = [f"{low:.0%} to {high:.0%}" for low, high in pairwise(edges)]
    some_gold = bool((against_gold != NO_GOLD).any())
    blue, orange = class_colours(6, theme)[0], class_colours(6, theme)[5]
    groups = [
        (RIGHT, "right", blue, ""),
        (WRONG, "wrong", orange, "/"),
        (NO_GOLD, "no gold" if some_gold else "items", quiet(theme) if some_gold else blue, ""),
    ]
    figure = go.Figure()
    total = np.zeros(N_BINS, np.int64)
    for code, name, colour, pattern in groups:
        counts, _ = np.histogram(confidence[against_gold == code], bins=edges)
        if not counts.any():
            continue
        total += counts
        figure.add_bar(
            x=middles,
            y=counts,
            width=0.9 / N_BINS,
            name=name,
            marker={"color": colour, "pattern": {"shape": pattern}, "line": {"width": 0}},
            customdata=spans,
            hovertemplate=f"confidence %{{customdata}}<br>%{{y:,}} {name}<extra></extra>",
        )
    figure.add_scatter(
        x=middles,
        y=total,
        text=[_short(int(number)) for number in total],
        mode="text",
        textposition="top center",
        textfont={"size": 10, "color": ink(theme)},
        hoverinfo="skip",
        showlegend=False,
    )
    figure.update_layout(barmode="stack", showlegend=some_gold, legend_traceorder="normal")
    figure.update_xaxes(
        range=[0, 1.01], dtick=0.25, tickformat=".0%", title="confidence of the truth"
    )
    top = max(1, int(total.max()))
    figure.update_yaxes(range=[0, 1.12 * top], title="items", nticks=5)
    return finish(figure, theme=theme, height=300)


def reliability_curve(bins: pd.DataFrame, *, theme: Theme) -> go.Figure:
    """Show how often truths of each confidence are right on gold; on the line, it means itself.

    `bins` is what `crowdcore.audit.reliability.reliability` returns.
    """
    figure = go.Figure(
        go.Scatter(
            x=[0, 1],
            y=[0, 1],
            mode="lines",
            name="as sure as right",
            line={"dash": "dot", "width": 1, "color": quiet(theme)},
            hoverinfo="skip",
        )
    )
    colour = class_colours(1, theme)[0]
    rate, low, high = bins["accuracy"], bins["accuracy_low"], bins["accuracy_high"]
    figure.add_scatter(
        x=bins["confidence"],
        y=rate,
        mode="markers+lines",
        name="items with gold",
        marker={"size": 9, "color": colour},
        line={"width": 1, "color": colour},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": (high - rate).clip(lower=0),
            "arrayminus": (rate - low).clip(lower=0),
            "thickness": 1,
            "width": 0,
        },
        text=[
            f"{n:,} items, {sure:.1%} sure<br>right {share:.1%} ({lowest:.0%} to {highest:.0%})"
            for n, sure, share, lowest, highest in zip(
                bins["n"], bins["confidence"], rate, low, high, strict=True
            )
        ],
        hovertemplate="%{text}<extra></extra>",
    )
    figure.update_layout(showlegend=True)
    figure.update_xaxes(range=[0, 1.02], dtick=0.25, tickformat=".0%", title="confidence")
    figure.update_yaxes(range=[0, 1.02], dtick=0.25, tickformat=".0%", title="right, on gold")
    return finish(figure, theme=theme, height=300)


def posterior_bars(
    posterior: NDArray[np.floating[Any]],
    votes: NDArray[np.integer[Any]],
    classes: Sequence[str],
    *,
    theme: Theme,
) -> go.Figure:
    """Show one item's probabilities, and beside them what plain counting of labels would say."""
    shown = classes_shown(posterior, votes)[::-1]  # in their order, the first on top
    colours = class_colours(len(classes), theme)
    figure = go.Figure(
        go.Bar(
            y=np.arange(len(shown)),
            x=posterior[shown],
            orientation="h",
            name="probability",
            marker={"color": [colours[code] for code in shown], "line": {"width": 0}},
            customdata=[plain(classes[code], 80) for code in shown],
            hovertemplate="%{customdata}: %{x:.2%}<extra></extra>",
            showlegend=False,
        )
    )
    figure.add_scatter(  # in a column of their own, where no marker covers them
        y=np.arange(len(shown)),
        x=np.full(len(shown), 1.04),
        text=[percent(float(posterior[code])) for code in shown],
        mode="text",
        textposition="middle right",
        textfont={"color": ink(theme)},
        cliponaxis=False,
        hoverinfo="skip",
        showlegend=False,
    )
    if votes.sum():
        given = votes[shown] > 0
        figure.add_scatter(
            y=np.flatnonzero(given),
            x=votes[shown][given] / votes.sum(),
            mode="markers",
            name="share of labels",
            marker={
                "symbol": "diamond-open",
                "size": 10,
                "color": ink(theme),
                "line": {"width": 2},
            },
            cliponaxis=False,
            customdata=votes[shown][given],
            hovertemplate="%{customdata} of the labels (%{x:.0%})<extra></extra>",
        )
    figure.update_layout(showlegend=True, bargap=0.35)
    figure.update_xaxes(range=[0, 1.2], tickvals=[0, 0.25, 0.5, 0.75, 1], tickformat=".0%")
    figure.update_yaxes(
        tickvals=np.arange(len(shown)),
        ticktext=[plain(classes[code]) for code in shown],
        range=[-0.6, len(shown) - 0.4],
        showgrid=False,
    )
    return finish(figure, theme=theme, height=90 + 32 * len(shown))


def classes_shown(
    posterior: NDArray[np.floating[Any]], votes: NDArray[np.integer[Any]]
) -> NDArray[np.intp]:
    """Return the classes worth a bar: all of a few, else those somebody gave or that may be."""
    if len(posterior) <= FEW_CLASSES:
        return np.arange(len(posterior))
    alive = np.flatnonzero((posterior >= MIN_PROBABILITY) | (votes > 0))
    likeliest = np.argsort(-posterior[alive], kind="stable")[:MAX_BARS]
    return np.sort(alive[likeliest])


def _short(number: int) -> str:
    """Write a count in at most four characters; nothing for none."""
    if number == 0:
        return ""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size * 10:
            return f"{number / size:.0f}{unit}"
        if number >= size:
            return f"{number / size:.1f}{unit}"
    return str(number)
