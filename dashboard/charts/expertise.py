"""Charts of expertise: how often workers are right about each class, and what gold says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from dashboard.charts.palette import (
    MOST_POINTS,
    Theme,
    blues,
    class_colours,
    finish,
    ink,
    plain,
    quiet,
)
from dashboard.text import percent

if TYPE_CHECKING:
    from crowdcore.audit.expertise import Expertise

MOST_ROWS = 30
"""Workers whose names fit beside a heat map."""

MOST_CLASSES = 30
"""Classes that a heat map beside a table can hold apart."""

MOST_NAMES = 12
"""Workers whose names can be written beside their points."""

FLOORS = (0.5, 0.25, 0.0)
"""Where an axis may begin; the highest below all points, so that good workers lie apart."""

_SMALLEST, _LARGEST = 7.0, 18.0
_SHORT = 2  # signs of a class that fit under its column


def expertise_plane(
    found: Expertise, rows: NDArray[np.intp], *, theme: Theme, selected: str | None = None
) -> go.Figure:
    """Place some workers by specificity and sensitivity, with what gold says of them.

    Of two classes the second is the positive one. A point's customdata is the worker's name.
    """
    rows = rows[:MOST_POINTS]
    blue, orange = class_colours(6, theme)[0], class_colours(6, theme)[5]
    figure = go.Figure(
        go.Scatter(
            x=[0, 1],
            y=[1, 0],
            mode="lines",
            line={"dash": "dot", "width": 1, "color": quiet(theme)},
            hoverinfo="skip",
            showlegend=False,
        )
    )
    judged = rows[~np.isnan(found.gold[rows]).any(1)]
    if len(judged):
        figure.add_trace(_bridges(found, judged, theme))
    names = np.array(found.workers, dtype=object)
    open_diamond = {"symbol": "diamond-open", "size": 10, "color": orange, "line": {"width": 2}}
    sizes = _sizes(found.n_labels[rows])
    filled = {"size": sizes, "color": blue, "opacity": 0.75, "line": {"width": 0}}
    written = len(rows) <= MOST_NAMES
    series = [
        ("estimated", found.right, rows, filled),
        ("on gold", found.gold, judged, open_diamond),
    ]
    for name, shares, part, marker in series:
        if not len(part):
            continue
        own = written and name == "estimated"
        figure.add_scatter(
            x=shares[part, 0],
            y=shares[part, 1],
            mode="markers+text" if own else "markers",
            name=name,
            text=[plain(names[row], 10) for row in part] if own else None,
            textposition="middle right",
            textfont={"size": 10, "color": ink(theme)},
            customdata=names[part].reshape(-1, 1),
            hovertext=[_facts(found, row) for row in part],
            hovertemplate="%{hovertext}<extra></extra>",
            marker=marker,
            selected={"marker": {"opacity": 0.75}},
            unselected={"marker": {"opacity": 0.75}},
        )
    chosen = [row for row in rows if found.workers[row] == selected]
    if chosen:
        ring = {"symbol": "circle-open", "size": 28, "color": ink(theme), "line": {"width": 2.5}}
        place = {"x": found.right[chosen, 0], "y": found.right[chosen, 1]}
        figure.add_scatter(**place, mode="markers", marker=ring, hoverinfo="skip", showlegend=False)
    figure.update_layout(clickmode="event+select", showlegend=True)
    negative, positive = (plain(name, 20) for name in found.classes)
    lowest = np.nanmin(np.concatenate([found.right[rows], found.gold[judged]]))
    floor = next((one for one in FLOORS if one <= lowest), 0.0)
    room = 0.04 * (1 - floor)
    axis = {
        "range": [floor - room, 1 + 1.5 * room],
        "tickformat": ".0%",
        "dtick": 0.25 if floor < FLOORS[0] else 0.1,
    }
    figure.update_xaxes(**axis, title=f"right about {negative} (specificity)")
    figure.update_yaxes(**axis, title=f"right about {positive} (sensitivity)")
    return finish(figure, theme=theme, height=420)


def expertise_map(
    found: Expertise, rows: NDArray[np.intp], *, theme: Theme, selected: str | None = None
) -> go.Figure:
    """Show how often some workers are right about each class; a dot in a cell is what gold says.

    Heat maps give no clicks, so unseen squares lie on top; their customdata is the worker's name.
    """
    rows, columns = rows[:MOST_ROWS], shown_classes(found)
    right, gold = found.right[np.ix_(rows, columns)], found.gold[np.ix_(rows, columns)]
    figure = go.Figure(
        go.Heatmap(
            z=right,
            zmin=0,
            zmax=1,
            colorscale=blues(theme),
            hoverinfo="skip",
            xgap=1,
            ygap=1,
            colorbar={"thickness": 10, "tickformat": ".0%", "outlinewidth": 0, "nticks": 5},
        )
    )
    place, column = (axis.ravel() for axis in np.indices(right.shape))
    told = ~np.isnan(gold[place, column])
    if told.any():
        figure.add_trace(_gold_dots(place[told], column[told], gold, theme))
    figure.add_scatter(
        x=column,
        y=place,
        mode="markers",
        customdata=np.array([found.workers[rows[one]] for one in place], object).reshape(-1, 1),
        text=[
            _facts(found, rows[one], columns[other])
            for one, other in zip(place, column, strict=True)
        ],
        hovertemplate="%{text}<extra></extra>",
        marker={"symbol": "square", "size": 14, "opacity": 0},
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
    )
    for row in np.flatnonzero([found.workers[one] == selected for one in rows]):
        edge = {"color": ink(theme), "width": 3}
        figure.add_shape(x0=-0.5, x1=len(columns) - 0.5, y0=row - 0.5, y1=row + 0.5, line=edge)
    figure.update_layout(clickmode="event+select", showlegend=False)
    figure.update_xaxes(
        tickvals=np.arange(len(columns)),
        ticktext=[plain(found.classes[code], 14) for code in columns],
        range=[-0.5, len(columns) - 0.5],
        tickangle=-45 if max(len(name) for name in found.classes) > _SHORT else 0,
        showgrid=False,
        title="truth",
    )
    figure.update_yaxes(
        tickvals=np.arange(len(rows)),
        ticktext=[plain(found.workers[row], 12) for row in rows],
        range=[len(rows) - 0.5, -0.5],
        showgrid=False,
    )
    return finish(figure, theme=theme, height=120 + 20 * max(6, len(rows)))


def shown_classes(found: Expertise) -> NDArray[np.intp]:
    """Return the classes that a heat map shows: all of a few, else those that differ most."""
    spread = found.right.std(0)
    return np.sort(np.argsort(-spread, kind="stable")[:MOST_CLASSES])


def _gold_dots(
    place: NDArray[np.intp], column: NDArray[np.intp], gold: NDArray[Any], theme: Theme
) -> go.Scatter:
    return go.Scatter(
        x=column,
        y=place,
        mode="markers",
        hoverinfo="skip",
        marker={
            "size": 11,
            "color": gold[place, column],
            "cmin": 0,
            "cmax": 1,
            "colorscale": blues(theme),
            "line": {"width": 1, "color": class_colours(6, theme)[5]},
        },
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
    )


def _bridges(found: Expertise, rows: NDArray[np.intp], theme: Theme) -> go.Scatter:
    """Thin lines from what was estimated to what gold says, one trace with gaps."""
    gap = np.full((len(rows), 2), np.nan)
    path = np.stack([found.right[rows], found.gold[rows], gap], axis=1).reshape(-1, 2)
    return go.Scatter(
        x=path[:, 0],
        y=path[:, 1],
        mode="lines",
        line={"width": 1, "color": quiet(theme)},
        hoverinfo="skip",
        showlegend=False,
    )


def _sizes(n_labels: NDArray[np.integer[Any]]) -> NDArray[np.floating[Any]]:
    """Return diameters whose areas grow with the labels."""
    share = np.sqrt(n_labels / max(1, int(n_labels.max(initial=1))))
    sizes: NDArray[np.floating[Any]] = _SMALLEST + (_LARGEST - _SMALLEST) * share
    return sizes


def _facts(found: Expertise, row: int, *codes: int) -> str:
    """Write what is known of a worker, of all classes or of some."""
    lines = [f"<b>{plain(found.workers[row], 40)}</b>, {found.n_labels[row]:,} labels"]
    for code in codes or range(len(found.classes)):
        words = f"right about {plain(found.classes[code], 40)}: {percent(found.right[row, code])}"
        if not np.isnan(found.gold[row, code]):
            words += f", on gold {percent(found.gold[row, code])}"
        lines.append(words)
    return "<br>".join(lines)
