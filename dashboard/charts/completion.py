"""Charts of a completed matrix: its cells, what was filled in, and what that did to workers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from dashboard.charts.palette import (
    Theme,
    blues,
    class_colours,
    finish,
    ink,
    lighter,
    plain,
    quiet,
)
from dashboard.charts.space import MAX_CLASSES, verdict_groups
from dashboard.charts.spectral import point_sizes

if TYPE_CHECKING:
    import pandas as pd

    from crowdcore.audit.completion import MatrixPiece

MAX_NAMES = 40
"""Rows up to which a matrix carries names; of more they are read by hovering."""

MAX_BARS = 15
"""Classes that a bar chart holds apart; the commonest ones."""

_GAPS = 120  # columns up to which cells are held apart by a line
_SVG_POINTS = 1_500
_LETTER_WIDTH = 0.009  # share of the width that a letter of a class's name takes


def coloured(sizes: NDArray[np.integer[Any]]) -> NDArray[np.intp]:
    """Return the classes [K] with a colour of their own: all, or the commonest of too many."""
    if len(sizes) <= MAX_CLASSES + 1:
        return np.arange(len(sizes))
    return np.sort(np.argsort(-sizes, kind="stable")[:MAX_CLASSES])


def label_matrix(
    cells: MatrixPiece,
    texts: NDArray[np.object_],
    workers: Sequence[str],
    truth: NDArray[np.integer[Any]],
    classes: Sequence[str],
    *,
    shown: NDArray[np.integer[Any]],
    theme: Theme,
) -> go.Figure:
    """Show workers (rows) by items (columns): the colour is the class, filled labels are fainter.

    `shown` names the classes with a colour of their own; the rest stand back in grey. `truth` is
    that of the columns, which come in its order.
    """
    index = np.full(len(classes), len(shown))
    index[shown] = np.arange(len(shown))
    z = np.where(cells.label >= 0, 2.0 * index[cells.label] + cells.observed, np.nan)
    colours = [*class_colours(len(shown), theme), quiet(theme)]
    steps = [shade for colour in colours for shade in (lighter(colour, theme), colour)]
    scale = [
        [edge / len(steps), colour]
        for index, colour in enumerate(steps)
        for edge in (index, index + 1)
    ]
    figure = go.Figure(
        _heat(z, texts, colorscale=scale, zmin=-0.5, zmax=len(steps) - 0.5, showscale=False)
    )
    for code, colour in zip(shown, colours, strict=False):
        _key(figure, plain(classes[code]), colour)
    if np.isin(cells.label[cells.label >= 0], shown, invert=True).any():
        _key(figure, "other", quiet(theme))
    return _matrix_frame(figure, workers, truth, classes, theme)


def sureness_matrix(
    cells: MatrixPiece,
    texts: NDArray[np.object_],
    workers: Sequence[str],
    truth: NDArray[np.integer[Any]],
    classes: Sequence[str],
    *,
    theme: Theme,
) -> go.Figure:
    """Show how sure filled labels are, from 0 to 1; labels that were given have one colour."""
    sure = cells.probability.astype(np.float32)
    filled = np.where((cells.label >= 0) & ~cells.observed, sure, np.nan)
    given = class_colours(2, theme)[1]
    bar = {"thickness": 10, "tickformat": ".0%", "outlinewidth": 0, "len": 0.8}
    figure = go.Figure(
        [
            _heat(filled, texts, colorscale=blues(theme), zmin=0, zmax=1, colorbar=bar),
            _heat(
                np.where(cells.observed, 1.0, np.nan),
                texts,
                colorscale=[[0, given], [1, given]],
                showscale=False,
            ),
        ]
    )
    _key(figure, "given by the worker", given)
    return _matrix_frame(figure, workers, truth, classes, theme)


def class_bars(
    observed: NDArray[np.integer[Any]],
    filled: NDArray[np.integer[Any]],
    classes: Sequence[str],
    *,
    theme: Theme,
) -> go.Figure:
    """Compare the classes' shares [K] among labels that were given and those filled in."""
    order = np.argsort(-(observed + filled), kind="stable")[:MAX_BARS]
    order = np.sort(order)[::-1]  # the first class on top
    blue = class_colours(1, theme)[0]
    figure = go.Figure()
    for name, counts, pattern in [("filled in", filled, "/"), ("given", observed, "")]:
        figure.add_bar(
            x=counts[order] / max(1, counts.sum()),
            y=np.arange(len(order)),
            orientation="h",
            name=f"{name} ({counts.sum():,})",
            customdata=counts[order],
            marker={"color": blue, "pattern": {"shape": pattern}, "line": {"width": 0}},
            hovertemplate=f"{name}: %{{x:.1%}} (%{{customdata:,}} labels)<extra></extra>",
        )
    names = [plain(classes[code], 18) for code in order]
    figure.update_yaxes(tickvals=np.arange(len(order)), ticktext=names, showgrid=False)
    figure.update_xaxes(tickformat=".0%", title="share of such labels", rangemode="tozero")
    figure.update_layout(bargap=0.3, bargroupgap=0.06, legend_traceorder="reversed")
    return finish(figure, theme=theme, height=min(520, 130 + 40 * max(3, len(order))))


def sureness_histogram(counts: NDArray[np.integer[Any]], *, theme: Theme) -> go.Figure:
    """Count filled labels by their probability, from 0 to 1 in even steps."""
    n = len(counts)
    edges = np.linspace(0, 1, n + 1)
    spans = [f"{low:.0%} to {high:.0%}" for low, high in pairwise(edges)]
    figure = go.Figure(
        go.Bar(
            x=(edges[:-1] + edges[1:]) / 2,
            y=counts,
            width=0.9 / n,
            customdata=spans,
            marker={"color": class_colours(1, theme)[0], "line": {"width": 0}},
            hovertemplate="%{customdata} sure: %{y:,} filled labels<extra></extra>",
        )
    )
    figure.update_xaxes(tickformat=".0%", title="how sure the filled label is", range=[0, 1])
    figure.update_xaxes(showgrid=False)
    figure.update_yaxes(title="filled labels", rangemode="tozero", nticks=6)
    return finish(figure, theme=theme, height=290)


def quality_scatter(
    frame: pd.DataFrame, texts: Sequence[str], *, theme: Theme, selected: str | None = None
) -> go.Figure:
    """Place workers by the quality of their own labels, and of the completed ones.

    `frame` has worker, own, completed, n_labels and verdict. On the line nothing has changed. A
    point's customdata is the worker's name.
    """
    names = frame["worker"].to_numpy(object)
    x, y = (frame[name].to_numpy(np.float64) for name in ("own", "completed"))
    sizes = point_sizes(frame["n_labels"].to_numpy())
    hover_texts = np.array(texts, dtype=object)
    draw = go.Scattergl if len(frame) > _SVG_POINTS else go.Scatter
    figure = go.Figure()
    low = max(0.0, float(np.floor(10 * min(x.min(initial=1), y.min(initial=1)) - 0.5)) / 10)
    ends = [low, 1.0]
    line = {"color": quiet(theme), "width": 1.5, "dash": "dot"}
    figure.add_scatter(x=ends, y=ends, mode="lines", line=line, name="no change", hoverinfo="skip")
    for group in verdict_groups(frame["verdict"].to_numpy(object), theme):
        rows = group.rows
        is_open = "open" in group.symbol
        same = {"marker": {"opacity": 0.85}}
        figure.add_trace(
            draw(
                x=x[rows],
                y=y[rows],
                mode="markers",
                name=f"{plain(group.name)} ({len(rows):,})",
                customdata=names[rows].reshape(-1, 1),
                text=hover_texts[rows],
                hovertemplate="%{text}<extra></extra>",
                marker={
                    "symbol": group.symbol,
                    "color": group.colour,
                    "size": sizes[rows],
                    "opacity": 0.85,
                    "line": {"width": 1.5 if is_open else 0, "color": group.colour},
                },
                selected=same,
                unselected=same,
            )
        )
    chosen = np.flatnonzero(names == selected)
    if len(chosen):
        ring = {"symbol": "circle-open", "color": ink(theme), "line": {"width": 2.5}}
        figure.add_scatter(
            x=x[chosen],
            y=y[chosen],
            mode="markers",
            marker={**ring, "size": sizes[chosen] + 10},
            hoverinfo="skip",
            showlegend=False,
        )
    room = 0.03 * (1 - low)
    axis = {"tickformat": ".0%", "range": [low - room, 1 + room], "showgrid": True}
    figure.update_xaxes(**axis, title="right, of the labels they gave")
    figure.update_yaxes(**axis, title="right, with filled labels too")
    figure.update_layout(clickmode="event+select", legend_itemsizing="constant")
    return finish(figure, theme=theme, height=520)


def _heat(z: NDArray[np.floating[Any]], texts: NDArray[np.object_], **options: Any) -> go.Heatmap:
    height, width = z.shape
    gap = 1 if height <= MAX_NAMES and width <= _GAPS else 0
    return go.Heatmap(
        z=z.astype(np.float32),
        x=np.arange(width),
        y=np.arange(height),
        text=texts,
        hovertemplate="%{text}<extra></extra>",
        hoverongaps=False,
        xgap=gap,
        ygap=gap,
        **options,
    )


def _key(figure: go.Figure, name: str, colour: str) -> None:
    """Add an entry to the legend alone."""
    marker = {"symbol": "square", "size": 11, "color": colour}
    figure.add_scatter(x=[None], y=[None], mode="markers", name=name, marker=marker)


def _matrix_frame(
    figure: go.Figure,
    workers: Sequence[str],
    truth: NDArray[np.integer[Any]],
    classes: Sequence[str],
    theme: Theme,
) -> go.Figure:
    """Name the rows, and the stretches of columns with one truth, with a line between them."""
    height, width = len(workers), len(truth)
    edges = np.flatnonzero(np.diff(truth)) + 0.5
    starts, ends = np.append(-0.5, edges), np.append(edges, width - 0.5)
    for edge in edges:
        line = {"color": ink(theme), "width": 1}
        figure.add_shape(x0=edge, x1=edge, y0=-0.5, y1=height - 0.5, line=line)
    codes = truth[np.ceil(starts).astype(int)]
    names = [plain(classes[code], 16) if code >= 0 else "undecided" for code in codes]
    room = (ends - starts) / width / _LETTER_WIDTH
    names = [name if len(name) < letters else "" for name, letters in zip(names, room, strict=True)]
    figure.update_xaxes(
        tickvals=(starts + ends) / 2,
        ticktext=names,
        title="items, by their truth; the surest first",
    )
    rows = [plain(name, 16) for name in workers] if height <= MAX_NAMES else []
    figure.update_yaxes(tickvals=np.arange(len(rows)), ticktext=rows, title="workers")
    figure.update_xaxes(range=[-0.5, width - 0.5], showgrid=False, tickangle=0)
    figure.update_yaxes(range=[height - 0.5, -0.5], showgrid=False)
    pixels = 18 if height <= MAX_NAMES else 6
    finish(figure, theme=theme, height=int(np.clip(pixels * height + 130, 260, 700)))
    figure.update_layout(
        showlegend=True,
        dragmode="zoom",
        legend={"itemclick": False, "itemdoubleclick": False},
    )
    figure.update_xaxes(fixedrange=False)
    figure.update_yaxes(fixedrange=False)
    return figure
