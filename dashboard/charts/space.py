"""A scatter of points on a plane: workers or items where a method has placed them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from crowdcore.audit.verdicts import BEST_FIRST
from dashboard.charts.palette import (
    Theme,
    blues,
    class_colours,
    finish,
    ink,
    plain,
    quiet,
    verdict_colour,
    verdict_style,
)

MAX_CLASSES = 9
"""Classes with a colour of their own; the rest stand back in grey."""

_SVG_POINTS = 1_500
_VERY_FEW_POINTS, _FEW_POINTS = 60, 300
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "pentagon", "star")


@dataclass(frozen=True, kw_only=True)
class Group:
    """Points that look the same: one entry of the legend."""

    name: str
    rows: NDArray[np.intp]
    colour: str
    symbol: str


def verdict_groups(verdicts: NDArray[Any], theme: Theme) -> list[Group]:
    """Group workers by verdict, the best first."""
    order = [*BEST_FIRST, *sorted(set(verdicts.tolist()) - set(BEST_FIRST))]
    return [
        Group(
            name=verdict,
            rows=np.flatnonzero(verdicts == verdict),
            colour=verdict_colour(verdict, theme),
            symbol=verdict_style(verdict).symbol,
        )
        for verdict in order
        if (verdicts == verdict).any()
    ]


def class_groups(codes: NDArray[Any], classes: Sequence[str], theme: Theme) -> list[Group]:
    """Group items by class, in the classes' own colours; rare ones of many, and none, in grey."""
    sizes = np.bincount(codes[codes >= 0], minlength=len(classes))
    shown = np.sort(np.argsort(-sizes, kind="stable")[:MAX_CLASSES])
    colours = class_colours(len(classes), theme)
    groups = [
        Group(
            name=classes[code],
            rows=np.flatnonzero(codes == code),
            colour=colours[code],
            symbol=_SYMBOLS[code % len(_SYMBOLS)],
        )
        for code in shown
        if sizes[code]
    ]
    other_rows = np.flatnonzero(~np.isin(codes, shown))
    if len(other_rows):
        grey = Group(name="other", rows=other_rows, colour=quiet(theme), symbol="circle-open")
        groups.insert(0, grey)  # below the others
    return groups


def space_scatter(
    positions: NDArray[np.floating[Any]],
    names: NDArray[np.object_],
    texts: NDArray[np.object_],
    groups: Sequence[Group],
    *,
    theme: Theme,
    selected: str | None = None,
    shares: NDArray[np.floating[Any]] | None = None,
) -> go.Figure:
    """Draw points by group; `shares` colours them instead, from 0 to 1, and keeps the symbols.

    A point's customdata is its name. The axes have no meaning but nearness.
    """
    draw = go.Scattergl if len(positions) > _SVG_POINTS else go.Scatter
    is_few = len(positions) <= _FEW_POINTS
    size = 11 if len(positions) <= _VERY_FEW_POINTS else 9 if is_few else 6
    opacity = 0.9 if is_few else 0.7
    figure = go.Figure()
    for group in groups:
        rows = group.rows
        marker: dict[str, Any] = {"symbol": group.symbol, "size": size, "opacity": opacity}
        if shares is None:
            marker |= {"color": group.colour}
        else:
            marker |= {"color": shares[rows], "coloraxis": "coloraxis"}
        edge = ink(theme) if shares is not None else group.colour
        thick = 1.5 if "open" in group.symbol else 0.5 if shares is not None else 0
        same = {"marker": {"opacity": opacity}}
        figure.add_trace(
            draw(
                x=positions[rows, 0].astype(np.float32),
                y=positions[rows, 1].astype(np.float32),
                mode="markers",
                name=f"{plain(group.name)} ({len(rows):,})",
                customdata=names[rows].reshape(-1, 1),
                text=texts[rows],
                hovertemplate="%{text}<extra></extra>",
                marker=marker | {"line": {"width": thick, "color": edge}},
                selected=same,
                unselected=same,
            )
        )
    chosen = np.flatnonzero(names == selected)
    if len(chosen):
        ring = {"symbol": "circle-open", "size": 22, "color": ink(theme), "line": {"width": 2.5}}
        figure.add_scatter(
            x=positions[chosen, 0],
            y=positions[chosen, 1],
            mode="markers",
            marker=ring,
            hoverinfo="skip",
            showlegend=False,
        )
    figure.update_layout(clickmode="event+select", showlegend=True)
    if shares is not None:
        bar = {"thickness": 10, "tickformat": ".0%", "outlinewidth": 0, "len": 0.6}
        figure.update_layout(
            coloraxis={"colorscale": blues(theme), "cmin": 0, "cmax": 1, "colorbar": bar}
        )
    axis = {"showticklabels": False, "ticks": "", "nticks": 10}
    figure.update_xaxes(**axis, showgrid=True, range=_span(positions[:, 0]))
    figure.update_yaxes(**axis, showgrid=True, range=_span(positions[:, 1]))
    return finish(figure, theme=theme, height=560)


def _span(values: NDArray[np.floating[Any]]) -> list[float]:
    """The range of some values with room at both ends; never nothing."""
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
    room = 0.06 * (high - low) or 1.0
    return [low - room, high + room]
