"""Charts of expertise: how often workers are right about each class, and what gold says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from crowdcore.wording import percent
from dashboard.charts.palette import (
    MAX_POINTS,
    Theme,
    blues,
    class_colours,
    finish,
    ink,
    plain,
    quiet,
)

if TYPE_CHECKING:
    from crowdcore.audit.expertise import Expertise

MAX_ROWS = 30
"""Workers whose names fit beside a heat map."""

MAX_CLASSES = 30
"""Classes that a heat map beside a table can hold apart."""

MAX_NAMES = 12
"""Workers whose names can be written beside their points."""

FLOORS = (0.5, 0.25, 0.0)
"""Where an axis may begin; the highest below all points, so that good workers lie apart."""

_SMALLEST, _LARGEST = 7.0, 18.0
_SHORT_NAME_LETTERS = 2  # of a class that fit under its column


def expertise_plane(
    expertise: Expertise, rows: NDArray[np.intp], *, theme: Theme, selected: str | None = None
) -> go.Figure:
    """Place some workers by specificity and sensitivity, with what gold says of them.

    Of two classes the second is the positive one. A point's customdata is the worker's name.
    """
    rows = rows[:MAX_POINTS]
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
    judged = rows[~np.isnan(expertise.gold[rows]).any(1)]
    if len(judged):
        figure.add_trace(_bridges(expertise, judged, theme))
    names = np.array(expertise.workers, dtype=object)
    open_diamond = {"symbol": "diamond-open", "size": 10, "color": orange, "line": {"width": 2}}
    sizes = _sizes(expertise.n_labels[rows])
    filled = {"size": sizes, "color": blue, "opacity": 0.75, "line": {"width": 0}}
    show_names = len(rows) <= MAX_NAMES
    series = [
        ("estimated", expertise.right, rows, filled),
        ("on gold", expertise.gold, judged, open_diamond),
    ]
    for name, shares, shown, marker in series:
        if not len(shown):
            continue
        named = show_names and name == "estimated"
        figure.add_scatter(
            x=shares[shown, 0],
            y=shares[shown, 1],
            mode="markers+text" if named else "markers",
            name=name,
            text=[plain(names[row], 10) for row in shown] if named else None,
            textposition="middle right",
            textfont={"size": 10, "color": ink(theme)},
            customdata=names[shown].reshape(-1, 1),
            hovertext=[_facts(expertise, row) for row in shown],
            hovertemplate="%{hovertext}<extra></extra>",
            marker=marker,
            selected={"marker": {"opacity": 0.75}},
            unselected={"marker": {"opacity": 0.75}},
        )
    chosen = [row for row in rows if expertise.workers[row] == selected]
    if chosen:
        ring = {"symbol": "circle-open", "size": 28, "color": ink(theme), "line": {"width": 2.5}}
        figure.add_scatter(
            x=expertise.right[chosen, 0],
            y=expertise.right[chosen, 1],
            mode="markers",
            marker=ring,
            hoverinfo="skip",
            showlegend=False,
        )
    figure.update_layout(clickmode="event+select", showlegend=True)
    negative, positive = (plain(name, 20) for name in expertise.classes)
    lowest = np.nanmin(np.concatenate([expertise.right[rows], expertise.gold[judged]]))
    floor = next((low for low in FLOORS if low <= lowest), 0.0)
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
    expertise: Expertise, rows: NDArray[np.intp], *, theme: Theme, selected: str | None = None
) -> go.Figure:
    """Show how often some workers are right about each class; a dot in a cell is what gold says.

    Heat maps give no clicks, so unseen squares lie on top; their customdata is the worker's name.
    """
    rows, columns = rows[:MAX_ROWS], shown_classes(expertise)
    right, gold = expertise.right[np.ix_(rows, columns)], expertise.gold[np.ix_(rows, columns)]
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
    row, column = (axis.ravel() for axis in np.indices(right.shape))
    has_gold = ~np.isnan(gold[row, column])
    if has_gold.any():
        figure.add_trace(_gold_dots(row[has_gold], column[has_gold], gold, theme))
    figure.add_scatter(
        x=column,
        y=row,
        mode="markers",
        customdata=np.array([expertise.workers[rows[y]] for y in row], object).reshape(-1, 1),
        text=[_facts(expertise, rows[y], columns[x]) for y, x in zip(row, column, strict=True)],
        hovertemplate="%{text}<extra></extra>",
        marker={"symbol": "square", "size": 14, "opacity": 0},
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
    )
    for y in np.flatnonzero([expertise.workers[code] == selected for code in rows]):
        edge = {"color": ink(theme), "width": 3}
        figure.add_shape(x0=-0.5, x1=len(columns) - 0.5, y0=y - 0.5, y1=y + 0.5, line=edge)
    figure.update_layout(clickmode="event+select", showlegend=False)
    figure.update_xaxes(
        tickvals=np.arange(len(columns)),
        ticktext=[plain(expertise.classes[code], 14) for code in columns],
        range=[-0.5, len(columns) - 0.5],
        tickangle=-45 if max(len(name) for name in expertise.classes) > _SHORT_NAME_LETTERS else 0,
        showgrid=False,
        title="truth",
    )
    figure.update_yaxes(
        tickvals=np.arange(len(rows)),
        ticktext=[plain(expertise.workers[row], 12) for row in rows],
        range=[len(rows) - 0.5, -0.5],
        showgrid=False,
    )
    return finish(figure, theme=theme, height=120 + 20 * max(6, len(rows)))


def shown_classes(expertise: Expertise) -> NDArray[np.intp]:
    """Return the classes that a heat map shows: all of a few, else those that differ most."""
    spread = expertise.right.std(0)
    return np.sort(np.argsort(-spread, kind="stable")[:MAX_CLASSES])


def _gold_dots(
    row: NDArray[np.intp], column: NDArray[np.intp], gold: NDArray[Any], theme: Theme
) -> go.Scatter:
    return go.Scatter(
        x=column,
        y=row,
        mode="markers",
        hoverinfo="skip",
        marker={
            "size": 11,
            "color": gold[row, column],
            "cmin": 0,
            "cmax": 1,
            "colorscale": blues(theme),
            "line": {"width": 1, "color": class_colours(6, theme)[5]},
        },
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
    )


def _bridges(expertise: Expertise, rows: NDArray[np.intp], theme: Theme) -> go.Scatter:
    """Thin lines from what was estimated to what gold says, one trace with gaps."""
    gap = np.full((len(rows), 2), np.nan)
    path = np.stack([expertise.right[rows], expertise.gold[rows], gap], axis=1).reshape(-1, 2)
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


def _facts(expertise: Expertise, row: int, *codes: int) -> str:
    """Write what is known of a worker, of all classes or of some."""
    lines = [f"<b>{plain(expertise.workers[row], 40)}</b>, {expertise.n_labels[row]:,} labels"]
    for code in codes or range(len(expertise.classes)):
        name, share = plain(expertise.classes[code], 40), percent(expertise.right[row, code])
        line = f"right about {name}: {share}"
        if not np.isnan(expertise.gold[row, code]):
            line += f", on gold {percent(expertise.gold[row, code])}"
        lines.append(line)
    return "<br>".join(lines)
