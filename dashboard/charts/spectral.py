"""Charts of a spectral space: workers around the oracle, and one worker's experts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from dashboard.charts.palette import Theme, class_colours, finish, ink, paper, plain, quiet
from dashboard.charts.space import Group, space_scatter

if TYPE_CHECKING:
    from crowdcore.audit.spectral import Density

MAX_EXPERTS = 16
"""Experts that bars can hold apart: those with the most weight."""

# Red to green as in the paper, but a red towards orange and a green towards blue, with a pale
# middle: so the ends differ for every kind of colour blindness.
_ACCURACY: dict[Theme, tuple[str, ...]] = {
    "light": ("#A3200C", "#DF7636", "#F0DCA4", "#5DBBA5", "#008374"),
    "dark": ("#D9401F", "#F0924A", "#F6E9BE", "#63C9BC", "#0E9C8E"),
}
_VERY_FEW_POINTS, _FEW_POINTS = 60, 300
_FADED = 0.35


@dataclass(frozen=True, kw_only=True, eq=False)
class Mark:
    """An oracle among the workers."""

    name: str
    position: NDArray[np.floating[Any]]  # [2]
    symbol: str
    strong: bool  # the one that the page is about


def accuracy_scale(theme: Theme) -> list[list[Any]]:
    """Return the scale from never right to always right."""
    steps = _ACCURACY[theme]
    return [[index / (len(steps) - 1), colour] for index, colour in enumerate(steps)]


def spectral_scatter(
    positions: NDArray[np.floating[Any]],
    names: NDArray[np.object_],
    texts: NDArray[np.object_],
    *,
    shares: NDArray[np.floating[Any]],
    against: str,
    labels: NDArray[np.integer[Any]],
    marks: Sequence[Mark],
    density: Density | None,
    chosen: NDArray[np.bool_],
    theme: Theme,
) -> go.Figure:
    """Draw workers by accuracy (`shares`, NaN where unknown) and number of labels, and oracles.

    `against` says what the accuracies rest on. A worker's customdata is the name; a click chooses
    one of them, and a drawn loop many.
    """
    is_known = np.isfinite(shares)
    groups = [
        Group(name="workers", rows=np.flatnonzero(is_known), colour=ink(theme), symbol="circle"),
        Group(
            name="accuracy not known",
            rows=np.flatnonzero(~is_known),
            colour=quiet(theme),
            symbol="circle-open",
        ),
    ]
    groups = [group for group in groups if len(group.rows)]
    all_positions = np.vstack([positions, *(mark.position for mark in marks)])
    figure = space_scatter(all_positions, names, texts, groups, theme=theme, shares=shares)
    for trace, group in zip(figure.data, groups, strict=True):
        rows = group.rows
        trace.marker.size = point_sizes(labels)[rows]
        opacity = np.where(chosen[rows], 1.0, _FADED) if chosen.any() else trace.marker.opacity
        trace.marker.opacity = opacity
        edge = (
            0.6 if len(positions) <= _FEW_POINTS else 0.0
        )  # would hide the colours of small points
        trace.marker.line.width = np.where(chosen[rows], 2.5, edge)
        trace.marker.line.color = ink(theme)
        if "open" in group.symbol:
            trace.marker.update(color=group.colour, coloraxis=None)
            trace.marker.line.color = quiet(theme)
            trace.marker.line.width = np.where(chosen[rows], 3.5, 1.5)
        trace.selected.marker.opacity, trace.unselected.marker.opacity = 1, _FADED
    draw = type(figure.data[0])
    for mark in sorted(marks, key=lambda mark: mark.strong):
        figure.add_trace(_star(mark, draw, theme))
    if density is not None:
        figure.add_trace(_contours(density, theme))
        figure.data = (figure.data[-1], *figure.data[:-1])  # below the points
    bar = {
        "title": {"text": f"right,<br>on {against}", "side": "top"},
        "tickformat": ".0%",
        "thickness": 10,
    }
    figure.update_layout(
        coloraxis={"colorscale": accuracy_scale(theme), "cmin": 0, "cmax": 1},
        coloraxis_colorbar={**bar, "outlinewidth": 0, "len": 0.7},
        dragmode="lasso",
        legend_itemsizing="constant",
    )
    return figure


def point_sizes(labels: NDArray[np.integer[Any]]) -> NDArray[np.floating[Any]]:
    """Return diameters whose areas go with the number of labels; smaller where points are many."""
    low, high = 5, 14
    if len(labels) <= _FEW_POINTS:
        low, high = (8, 28) if len(labels) <= _VERY_FEW_POINTS else (6, 20)
    share = labels / max(1, labels.max(initial=0))
    sizes: NDArray[np.floating[Any]] = np.maximum(low, high * np.sqrt(share))
    return sizes


def _star(mark: Mark, draw: type[Any], theme: Theme) -> Any:
    edge = {"width": 1.5, "color": paper(theme)} if mark.strong else {"width": 1.2}
    return draw(
        x=[float(mark.position[0])],
        y=[float(mark.position[1])],
        mode="markers",
        name=mark.name,
        hovertemplate=f"<b>{mark.name}</b><extra></extra>",
        marker={
            "symbol": mark.symbol,
            "size": 24 if mark.strong else 11,
            "color": ink(theme),
            "line": edge,
        },
        showlegend=mark.strong or mark.symbol != "star-open",
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
    )


def _contours(density: Density, theme: Theme) -> go.Contour:
    shade = "60,90,120" if theme == "light" else "170,200,230"
    return go.Contour(
        x=density.x,
        y=density.y,
        z=density.height,
        contours={"start": 0.1, "end": 0.9, "size": 0.16},
        colorscale=[[0, f"rgba({shade},0)"], [1, f"rgba({shade},0.14)"]],
        zmin=0,
        zmax=1,
        line={"width": 0.7, "color": f"rgba({shade},0.40)", "smoothing": 1},
        showscale=False,
        hoverinfo="skip",
        showlegend=False,
    )


def heaviest(
    worker: NDArray[np.floating[Any]], oracle: NDArray[np.floating[Any]]
) -> NDArray[np.intp]:
    """Return the experts [E] with the most weight in either blend, in their own order."""
    weight = np.maximum(worker, oracle)
    return np.sort(np.argsort(-weight, kind="stable")[:MAX_EXPERTS])


def expert_bars(
    worker: NDArray[np.floating[Any]],
    oracle: NDArray[np.floating[Any]],
    name: str,
    *,
    theme: Theme,
) -> go.Figure:
    """Compare a worker's shares on the experts [E] with the oracle's."""
    shown = heaviest(worker, oracle)
    positions = np.arange(len(shown))
    figure = go.Figure()
    series = [
        (plain(name), worker, class_colours(1, theme)[0], ""),
        ("the oracle", oracle, quiet(theme), "/"),
    ]
    for series_name, shares, colour, pattern in series:
        figure.add_bar(
            x=positions,
            y=shares[shown],
            name=series_name,
            marker={"color": colour, "pattern": {"shape": pattern}, "line": {"width": 0}},
            customdata=shown + 1,
            hovertemplate=f"{series_name}: expert %{{customdata}}, %{{y:.1%}}<extra></extra>",
        )
    figure.update_layout(barmode="group", bargap=0.3, showlegend=True)
    figure.update_xaxes(
        tickvals=positions,
        ticktext=(shown + 1).tolist(),
        title="expert",
        showgrid=False,
        tickangle=0,
    )
    figure.update_yaxes(tickformat=".0%", title="share of the weight", rangemode="tozero", nticks=6)
    return finish(figure, theme=theme, height=320)
