"""Charts of attention: who looks at whom, node by node and group by group."""

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
    finish,
    ink,
    paper,
    plain,
    verdict_colour,
    verdict_style,
)

Floats = NDArray[np.floating[Any]]

MAX_NAMES = 40
"""Rows up to which a map carries names; of more they are read by hovering."""

SIDE = 430
"""Height of the square of cells, in pixels."""

_SVG_CELLS = 1_600
_FINEST, _COARSEST = 1, 6  # powers of 2: a scale ends between 2 times and 64 times an even share
_TOP_SHARE = 0.995
_STRONG = 0.6
_LETTERS_ACROSS = 40  # that fit side by side under a map that shares its line


@dataclass(frozen=True, kw_only=True, eq=False)
class Shade:
    """How cells are coloured: what is shown as z, from where to where, and how the bar reads."""

    z: Floats
    low: float
    high: float
    ticks: list[float]
    tick_texts: list[str]
    title: str


def by_weight(weights: Floats, *, log: bool, links: NDArray[np.bool_] | None = None) -> Shade:
    """Colour by multiples of an even share; logs put half and double equally far from it.

    The scale ends where nearly all `links` [m, m] do, else nearly all cells.
    """
    shown = weights[np.isfinite(weights) if links is None else np.isfinite(weights) & links]
    top = float(np.quantile(shown, _TOP_SHARE)) if len(shown) else 1.0
    end = int(np.clip(np.ceil(np.log2(max(top, 1e-9))), _FINEST, _COARSEST))
    title = "weight, against an even share"
    if not log:
        ticks = [0.0, 1.0, *(2.0**step for step in range(max(1, end - 2), end + 1))]
        texts = [f"{tick:g}×" for tick in ticks]
        return Shade(z=weights, low=0, high=2.0**end, ticks=ticks, tick_texts=texts, title=title)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(weights > 0, np.log2(weights), np.nan)
    steps = range(-end, end + 1) if end <= 3 else range(-end, end + 1, 2)  # noqa: PLR2004  (room)
    texts = [
        "even" if step == 0 else f"{2**step}×" if step > 0 else f"1/{2**-step}" for step in steps
    ]
    ticks = [float(step) for step in steps]
    return Shade(z=z, low=-end, high=end, ticks=ticks, tick_texts=texts, title=title)


def by_excess(excess: Floats) -> Shade:
    """Colour by how far agreement surely exceeds what was expected, in shares."""
    top = float(np.nanmax(excess)) if np.isfinite(excess).any() else 0.0
    high = next(end for end in (0.1, 0.2, 0.4, 0.6, 1.0) if end >= min(top, 1.0))
    ticks = [high * quarter / 4 for quarter in range(5)]
    return Shade(
        z=excess,
        low=0,
        high=high,
        ticks=ticks,
        tick_texts=[f"+{100 * tick:g}" for tick in ticks],
        title="agreement beyond expected, in points",
    )


def node_map(
    shade: Shade,
    texts: NDArray[np.object_],
    codes: NDArray[np.integer[Any]],
    names: Sequence[str],
    verdicts: Sequence[str],
    *,
    theme: Theme,
    titles: tuple[str, str] = ("this worker looks …", "… at this worker"),
    worker: int | None = None,
    other: int | None = None,
) -> go.Figure:
    """Show who (rows) looks at whom (columns), in the order given; blank cells are no links.

    Heat maps give no clicks, so unseen squares lie on top; their customdata is the codes of row
    and column. Beside the rows stand the workers' verdicts.
    """
    n, positions = len(codes), np.arange(len(codes))
    figure = go.Figure(_heat(shade, theme, gap=1 if n <= MAX_NAMES else 0))
    figure.add_trace(_cells(texts, codes, codes))
    _add_verdicts(figure, verdicts, theme)
    _frame(figure, codes, worker, other, theme)
    tick_texts = [plain(name, 14) for name in names] if n <= MAX_NAMES else []
    axis = {"tickvals": positions[: len(tick_texts)], "ticktext": tick_texts, "showgrid": False}
    size = 12 if n <= MAX_NAMES / 2 else 10
    figure.update_yaxes(**axis, title=titles[0], tickfont_size=size)
    figure.update_xaxes(**axis, title=titles[1], tickangle=-90, tickfont_size=size)
    _box(figure, -0.5, -0.5, n - 0.5, n - 0.5, theme, width=0.5)
    margin = 0.5 + 0.04 * n
    figure.update_xaxes(range=[-margin, n - 0.5])
    figure.update_yaxes(range=[n - 0.5, -0.5])
    figure.update_layout(clickmode="event+select", showlegend=True)
    finish(figure, theme=theme, height=SIDE + 170)
    below = {"y": -0.2 if tick_texts else -0.1, "yanchor": "top", "itemsizing": "constant"}
    figure.update_layout(legend={**below, "itemclick": False, "itemdoubleclick": False})
    return figure


def group_map(
    shade: Shade,
    weights: Floats,
    sizes: NDArray[np.integer[Any]],
    names: Sequence[str],
    *,
    theme: Theme,
    chosen: tuple[int, int] | None = None,
) -> go.Figure:
    """Show how much the items of each class look at those of each other; cells can be clicked."""
    n, positions = len(names), np.arange(len(names))
    texts = np.empty((n, n), dtype=object)
    full_names = [plain(name, 60) for name in names]
    for row in range(n):
        for column in range(n):
            weight = weights[row, column]
            fact = "no such links" if np.isnan(weight) else f"{times(weight)} an even share"
            texts[row, column] = f"{full_names[row]} looks at {full_names[column]}<br>{fact}"
    figure = go.Figure(_heat(shade, theme, gap=2))
    figure.add_traces(_written(shade, weights, theme))
    figure.add_trace(_cells(texts, positions, positions))
    if chosen is not None:
        _box(figure, chosen[1] - 0.5, chosen[0] - 0.5, chosen[1] + 0.5, chosen[0] + 0.5, theme)
    rows = [f"{plain(name, 18)} ({size:,})" for name, size in zip(names, sizes, strict=True)]
    columns = [plain(name, 18) for name in names]
    figure.update_xaxes(tickvals=positions, ticktext=columns, title="… at items that are")
    figure.update_yaxes(tickvals=positions, ticktext=rows, title="items that are … look")
    figure.update_xaxes(range=[-0.5, n - 0.5], showgrid=False)
    wide = sum(len(name) for name in columns) > _LETTERS_ACROSS
    figure.update_xaxes(tickangle=-45 if wide else 0)
    figure.update_yaxes(range=[n - 0.5, -0.5], showgrid=False)
    figure.update_layout(clickmode="event+select", showlegend=False)
    return finish(figure, theme=theme, height=min(560, 200 + 52 * n))


def times(weight: float) -> str:
    """Write a multiple of an even share, with as many digits as say something."""
    if weight >= 10:  # noqa: PLR2004  (two figures)
        return f"{weight:,.0f}×"
    if weight >= 0.095:  # noqa: PLR2004  (would round to 0.1)
        return f"{weight:.1f}×"
    return f"{weight:.2f}×" if weight >= 0.005 else "<0.01×"  # noqa: PLR2004


def _heat(shade: Shade, theme: Theme, *, gap: int) -> go.Heatmap:
    height, width = shade.z.shape
    return go.Heatmap(
        z=np.asarray(shade.z, np.float32),
        x=np.arange(width),
        y=np.arange(height),
        zmin=shade.low,
        zmax=shade.high,
        colorscale=blues(theme),
        hoverinfo="skip",
        hoverongaps=False,
        xgap=gap,
        ygap=gap,
        colorbar={
            "orientation": "h",
            "thickness": 8,
            "outlinewidth": 0,
            "tickvals": shade.ticks,
            "ticktext": shade.tick_texts,
            "title": {"text": shade.title, "font": {"size": 12}, "side": "top"},
            "y": 1,
            "yanchor": "bottom",
            "ypad": 4,
        },
    )


def _cells(
    texts: NDArray[np.object_],
    rows: NDArray[np.integer[Any]],
    columns: NDArray[np.integer[Any]],
) -> go.Scatter | go.Scattergl:
    """Unseen squares that are hovered over and clicked; their customdata is (row, column)."""
    height, width = texts.shape
    x, y = (grid.ravel() for grid in np.meshgrid(np.arange(width), np.arange(height)))
    draw = go.Scattergl if texts.size > _SVG_CELLS else go.Scatter
    return draw(
        x=x.astype(np.int16),
        y=y.astype(np.int16),
        mode="markers",
        customdata=np.column_stack([rows[y], columns[x]]).astype(np.int32),
        text=texts.ravel(),
        hovertemplate="%{text}<extra></extra>",
        marker={"symbol": "square", "size": max(3, min(48, 0.85 * SIDE / height)), "opacity": 0},
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
        showlegend=False,
    )


def _add_verdicts(figure: go.Figure, verdicts: Sequence[str], theme: Theme) -> None:
    """Mark each row's verdict in a strip beside the cells, by sign and colour."""
    names, n = np.array(verdicts, dtype=object), len(verdicts)
    for verdict in [*BEST_FIRST, *sorted(set(verdicts) - set(BEST_FIRST))]:
        rows = np.flatnonzero(names == verdict)
        if not len(rows):
            continue
        style, colour = verdict_style(verdict), verdict_colour(verdict, theme)
        same = {"marker": {"opacity": 1}}  # a click elsewhere must not fade them
        figure.add_scatter(
            x=np.full(len(rows), -0.5 - 0.022 * n),
            y=rows,
            mode="markers",
            name=plain(verdict),
            marker={
                "symbol": style.symbol,
                "color": colour,
                "size": max(3, min(9, 0.7 * SIDE / n)),
                "line": {"width": 1.5 if "open" in style.symbol else 0, "color": colour},
            },
            selected=same,
            unselected=same,
            hoverinfo="skip",
        )


def _frame(
    figure: go.Figure,
    codes: NDArray[np.integer[Any]],
    worker: int | None,
    other: int | None,
    theme: Theme,
) -> None:
    """Frame the chosen worker's row, and the cell where it meets the other one."""
    row, column = (np.flatnonzero(codes == code) for code in (worker, other))
    if worker is None or not len(row):
        return
    y = int(row[0])
    width = 1.5 if len(codes) <= MAX_NAMES else 1
    _box(figure, -0.5, y - 0.5, len(codes) - 0.5, y + 0.5, theme, width=width)
    if other is not None and len(column):
        x = int(column[0])
        _box(figure, x - 0.5, y - 0.5, x + 0.5, y + 0.5, theme)


def _box(  # noqa: PLR0917  (two corners)
    figure: go.Figure, x0: float, y0: float, x1: float, y1: float, theme: Theme, width: float = 3
) -> None:
    edge = {"color": ink(theme), "width": width}
    figure.add_shape(x0=x0, x1=x1, y0=y0, y1=y1, line=edge, fillcolor=None)


def _written(shade: Shade, weights: Floats, theme: Theme) -> list[go.Scatter]:
    """Write the weights into the cells, in the ink that can be read on their blue."""
    span = (shade.z - shade.low) / (shade.high - shade.low)
    is_link = np.isfinite(weights)
    traces = []
    for mask, colour in ((span <= _STRONG, ink(theme)), (span > _STRONG, paper(theme))):
        row, column = np.nonzero(mask & is_link)
        same = {"textfont": {"color": colour}}
        traces.append(
            go.Scatter(
                x=column,
                y=row,
                text=[times(weights[r, c]) for r, c in zip(row, column, strict=True)],
                mode="text",
                textfont={"color": colour, "size": 12},
                selected=same,
                unselected=same,
                hoverinfo="skip",
            )
        )
    return traces
