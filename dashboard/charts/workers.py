"""Charts of workers: the whole crowd, and one worker against it."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from crowdcore.audit.verdicts import BEST_FIRST, GOOD
from dashboard.charts.palette import (
    MAX_POINTS,
    Theme,
    blues,
    class_colours,
    finish,
    ink,
    paper,
    plain,
    quiet,
    verdict_colour,
    verdict_style,
)

if TYPE_CHECKING:
    import pandas as pd

MAX_WHISKERS = 300
"""More error bars than this hide the points; they are then read by hovering."""

MAX_TEXTS = 12
"""Classes up to which a confusion matrix carries its numbers."""

MAX_CLASSES = 60
"""Classes of a confusion matrix that a screen can hold apart."""

MAX_BARS = 15

_SVG_POINTS = 1_500
_PIXELS_FEW, _PIXELS_MANY = 280, 400
_FEW_CLASSES = 6
_LETTERS_ACROSS = 26  # that fit side by side under a matrix that shares its line
_STRONG: dict[Theme, float] = {"light": 0.55, "dark": 0.65}  # where the ink has to change


def sampled_workers(frame: pd.DataFrame, keep: str | None = None) -> pd.DataFrame:
    """Return at most MAX_POINTS workers: everyone in doubt first, then the good ones evenly."""
    if len(frame) <= MAX_POINTS:
        return frame
    doubtful = np.flatnonzero((frame["verdict"] != GOOD.name) | (frame["worker"] == keep))
    good = np.flatnonzero((frame["verdict"] == GOOD.name) & (frame["worker"] != keep))
    if len(doubtful) > MAX_POINTS:
        doubtful = doubtful[np.linspace(0, len(doubtful) - 1, MAX_POINTS).astype(int)]
    room = MAX_POINTS - len(doubtful)
    good = good[np.linspace(0, len(good) - 1, min(room, len(good))).astype(int)]
    return frame.iloc[np.sort(np.concatenate([doubtful, good]))]


def worker_scatter(
    frame: pd.DataFrame, *, theme: Theme, selected: str | None = None, chance: float | None = None
) -> go.Figure:
    """Place workers by how much they did and how often they were right, with 95 % intervals.

    A point's customdata is the worker's name.
    """
    frame = sampled_workers(frame[frame["accuracy"].notna()], selected)
    draw = go.Scattergl if len(frame) > _SVG_POINTS else go.Scatter
    size, opacity = (10, 0.9) if len(frame) <= MAX_WHISKERS else (6, 0.6)
    figure = go.Figure()
    for verdict in [*BEST_FIRST, *sorted(set(frame["verdict"]) - set(BEST_FIRST))]:
        group = frame[frame["verdict"] == verdict]
        if not len(group):
            continue
        style = verdict_style(verdict)
        colour = verdict_colour(verdict, theme)
        figure.add_trace(
            draw(
                x=group["n_labels"],
                y=group["accuracy"],
                mode="markers",
                name=f"{plain(verdict)} ({len(group):,})",
                customdata=np.array(group["worker"], dtype=object).reshape(-1, 1),
                text=[_facts(row) for row in group.itertuples(index=False)],
                hovertemplate="%{text}<extra></extra>",
                marker={
                    "color": colour,
                    "symbol": style.symbol,
                    "size": size,
                    "opacity": opacity,
                    "line": {"width": 2 if "open" in style.symbol else 0, "color": colour},
                },
                selected={"marker": {"opacity": opacity}},
                unselected={"marker": {"opacity": opacity}},
                error_y=_whiskers(group, colour, shown=len(frame) <= MAX_WHISKERS),
            )
        )
    chosen = frame[frame["worker"] == selected]
    if len(chosen):
        ring = {"symbol": "circle-open", "size": 20, "color": ink(theme), "line": {"width": 2.5}}
        figure.add_scatter(
            x=chosen["n_labels"],
            y=chosen["accuracy"],
            mode="markers",
            marker=ring,
            hoverinfo="skip",
            showlegend=False,
        )
    if chance is not None:
        figure.add_hline(
            y=chance,
            line={"dash": "dot", "width": 1, "color": quiet(theme)},
            annotation={"text": "guessing evenly", "font": {"size": 11, "color": quiet(theme)}},
            annotation_position="bottom right",
        )
    low, high = _decades(frame["n_labels"].to_numpy())
    figure.update_layout(clickmode="event+select", showlegend=True)
    figure.update_xaxes(type="log", title="labels given (log scale)", range=[low, high], dtick=1)
    figure.update_yaxes(range=[-0.03, 1.03], tickformat=".0%", title="right, as the others see it")
    return finish(figure, theme=theme, height=420)


def confusion_heatmap(
    confusion: NDArray[np.floating[Any]],
    counts: NDArray[np.integer[Any]],
    classes: Sequence[str],
    *,
    show_counts: bool,
    theme: Theme,
    chosen: tuple[int, int] | None = None,
    interval: NDArray[np.floating[Any]] | None = None,
) -> go.Figure:
    """Show what a worker gives [given] when the truth is [true]; each row adds up to 1.

    Heat maps give no clicks, so unseen squares lie on top; their customdata is (true, given).
    `interval` [2, true, given] has the lower and upper ends of the estimate, where there are any.
    """
    order = matrix_order(confusion, counts)
    shares = _row_shares(counts) if show_counts else confusion
    shares, numbers = shares[np.ix_(order, order)], counts[np.ix_(order, order)]
    positions = np.arange(len(order))
    names = [plain(classes[code], 16 if len(order) > MAX_TEXTS else 20) for code in order]
    figure = go.Figure(
        go.Heatmap(
            z=shares,
            x=positions,
            y=positions,
            zmin=0,
            zmax=1,
            colorscale=blues(theme),
            hoverinfo="skip",
            xgap=1,
            ygap=1,
            colorbar={"thickness": 10, "tickformat": ".0%", "outlinewidth": 0, "nticks": 5},
        )
    )
    if len(order) <= MAX_TEXTS:
        figure.add_traces(_texts(shares, numbers if show_counts else None, theme))
    spread = None if interval is None else interval[:, order][:, :, order]
    figure.add_trace(_cells(order, shares, numbers, classes, spread))
    if chosen is not None and set(chosen) <= set(order.tolist()):
        row, column = (int(np.flatnonzero(order == code)[0]) for code in chosen)
        edge = {"color": ink(theme), "width": 3}
        figure.add_shape(
            x0=column - 0.5, x1=column + 0.5, y0=row - 0.5, y1=row + 0.5, line=edge, fillcolor=None
        )
    figure.update_layout(clickmode="event+select", showlegend=False)
    figure.update_xaxes(tickvals=positions, ticktext=names, title="given", showgrid=False)
    figure.update_xaxes(range=[-0.5, len(order) - 0.5], tickangle=_tilt(names))
    figure.update_yaxes(tickvals=positions, ticktext=names, title="truth", showgrid=False)
    figure.update_yaxes(range=[len(order) - 0.5, -0.5])
    if len(order) > MAX_TEXTS:
        figure.update_xaxes(tickfont_size=9)
        figure.update_yaxes(tickfont_size=9)
    return finish(figure, theme=theme, height=_plot_pixels(len(order)) + 80)


def _tilt(names: Sequence[str]) -> int:
    """Turn names that would run into each other under narrow cells."""
    longest = max((len(html.unescape(name)) for name in names), default=0)
    return -45 if len(names) > _FEW_CLASSES or len(names) * longest > _LETTERS_ACROSS else 0


def matrix_order(
    confusion: NDArray[np.floating[Any]], counts: NDArray[np.integer[Any]]
) -> NDArray[np.intp]:
    """Return the classes in the order they are shown: their own, or the most confused first."""
    n_classes = len(confusion)
    if n_classes <= MAX_TEXTS:
        return np.arange(n_classes)
    wrong = counts.sum(1) + counts.sum(0) - 2 * counts.diagonal()
    return np.argsort(-wrong, kind="stable")[:MAX_CLASSES]


def class_shares(
    worker_shares: NDArray[np.floating[Any]],
    crowd_shares: NDArray[np.floating[Any]],
    classes: Sequence[str],
    *,
    theme: Theme,
) -> go.Figure:
    """Compare how often a worker gives each class with what others give on the same items."""
    gap = np.abs(np.nan_to_num(worker_shares) - np.nan_to_num(crowd_shares))
    shown = np.sort(np.argsort(-gap, kind="stable")[:MAX_BARS])
    positions = np.arange(len(shown))
    figure = go.Figure()
    series = [
        ("this worker", worker_shares, class_colours(1, theme)[0], ""),
        ("others, same items", crowd_shares, quiet(theme), "/"),
    ]
    for name, shares, colour, pattern in series:
        figure.add_bar(
            x=positions,
            y=shares[shown],
            name=name,
            marker={"color": colour, "pattern": {"shape": pattern}, "line": {"width": 0}},
            customdata=[plain(classes[code], 80) for code in shown],
            hovertemplate=f"{name}: %{{customdata}} in %{{y:.1%}}<extra></extra>",
        )
    figure.update_layout(barmode="group", bargap=0.3, showlegend=True)
    names = [plain(classes[code], 16) for code in shown]
    figure.update_xaxes(tickvals=positions, ticktext=names, showgrid=False)
    figure.update_xaxes(tickangle=-45 if len(shown) > _FEW_CLASSES else 0)
    highest = float(np.nanmax([worker_shares, np.nan_to_num(crowd_shares)]))
    top = next(limit for limit in (0.1, 0.25, 0.5, 1.0) if limit >= highest)
    figure.update_yaxes(range=[0, 1.02 * top], tickformat=".0%", title="share of labels", nticks=6)
    return finish(figure, theme=theme, height=_plot_pixels(len(classes)) + 80)


def _cells(
    order: NDArray[np.intp],
    shares: NDArray[np.floating[Any]],
    numbers: NDArray[np.integer[Any]],
    classes: Sequence[str],
    spread: NDArray[np.floating[Any]] | None,
) -> go.Scatter:
    size = len(order)
    column, row = (grid.ravel() for grid in np.meshgrid(np.arange(size), np.arange(size)))
    names = [plain(classes[code], 80) for code in order]
    texts = [
        f"truth {names[r]} → given {names[c]}<br>{shares[r, c]:.1%} of the row; "
        f"{numbers[r, c]:,} of {numbers[r].sum():,} labels"
        + ("" if spread is None else f"<br>likely {spread[0, r, c]:.0%} to {spread[1, r, c]:.0%}")
        for r, c in zip(row, column, strict=True)
    ]
    return go.Scatter(
        x=column,
        y=row,
        mode="markers",
        customdata=np.column_stack([order[row], order[column]]),
        text=texts,
        hovertemplate="%{text}<extra></extra>",
        marker={
            "symbol": "square",
            "size": max(6, min(64, 0.85 * _plot_pixels(size) / size)),
            "opacity": 0,
        },
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
    )


def _texts(
    shares: NDArray[np.floating[Any]], numbers: NDArray[np.integer[Any]] | None, theme: Theme
) -> list[go.Scatter]:
    """Write the cells' numbers, in the ink that can be read on their blue."""
    traces = []
    narrow = len(shares) > _FEW_CLASSES
    strong = shares > _STRONG[theme]
    for mask, colour in ((~strong, ink(theme)), (strong, paper(theme))):
        row, column = np.nonzero(mask)
        values = shares[mask] if numbers is None else numbers[mask]
        texts = [_cell_text(value, numbers is not None, narrow) for value in values]
        same = {"textfont": {"color": colour}}  # a click elsewhere must not fade them
        traces.append(
            go.Scatter(
                x=column,
                y=row,
                text=texts,
                mode="text",
                textfont={"color": colour, "size": 10 if narrow else 12},
                selected=same,
                unselected=same,
                hoverinfo="skip",
            )
        )
    return traces


def _cell_text(value: float, is_count: bool, narrow: bool) -> str:
    if is_count:
        return f"{value:,.0f}"
    if value < 0.005:  # noqa: PLR2004  (would read 0.00)
        return ""
    return f"{value:.2f}".removeprefix("0" if narrow else "")


def _plot_pixels(n_classes: int) -> int:
    """Return the height of a plot with so many classes, the same for both charts of a worker."""
    return _PIXELS_FEW if n_classes <= _FEW_CLASSES else _PIXELS_MANY


def _row_shares(counts: NDArray[np.integer[Any]]) -> NDArray[np.floating[Any]]:
    total = counts.sum(1, keepdims=True)
    shares: NDArray[np.floating[Any]] = counts / np.maximum(total, 1)
    return shares


def _facts(row: Any) -> str:
    low, high = f"{row.accuracy_low:.0%}", f"{row.accuracy_high:.0%}"
    return (
        f"<b>{plain(row.worker, 40)}</b><br>{row.n_labels:,} labels<br>"
        f"right {row.accuracy:.1%} ({low} to {high})<br>{plain(row.verdict)}"
    )


def _whiskers(workers: pd.DataFrame, colour: str, *, shown: bool) -> dict[str, Any]:
    up = workers["accuracy_high"] - workers["accuracy"]
    down = workers["accuracy"] - workers["accuracy_low"]
    return {
        "type": "data",
        "symmetric": False,
        "array": up.clip(lower=0).to_numpy(),
        "arrayminus": down.clip(lower=0).to_numpy(),
        "visible": shown,
        "color": colour,
        "thickness": 1,
        "width": 0,
    }


def _decades(numbers: NDArray[np.integer[Any]]) -> tuple[float, float]:
    """Return the whole powers of ten around some counts."""
    if not len(numbers):
        return 0.0, 1.0
    low, high = np.log10(max(1, numbers.min())), np.log10(max(1, numbers.max()))
    return float(np.floor(low)) - 0.05, max(float(np.floor(low)) + 1, float(high)) + 0.15
