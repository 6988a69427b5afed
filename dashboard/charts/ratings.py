"""Charts of ratings: truths with their spreads, one item, all workers, one worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from crowdcore.audit.kinds import audit_of
from dashboard.charts.palette import (
    MAX_POINTS,
    Theme,
    class_colours,
    finish,
    ink,
    plain,
    quiet,
    verdict_colour,
    verdict_style,
)

if TYPE_CHECKING:
    import pandas as pd

MAX_POINT_PIXELS = 26
N_BINS = 30


def truth_histogram(
    truth: NDArray[np.float64], mean: NDArray[np.float64], *, theme: Theme
) -> go.Figure:
    """Show how the truths are spread over the scale, beside the plain means."""
    colours = class_colours(2, theme)
    figure = go.Figure()
    known = np.concatenate([truth[~np.isnan(truth)], mean[~np.isnan(mean)]])
    edges = np.histogram_bin_edges(known, bins=N_BINS) if len(known) else np.array([0.0, 1.0])
    for name, values, colour in (
        ("mean ratings", mean, quiet(theme)),
        ("truths", truth, colours[0]),
    ):
        counts, _ = np.histogram(values[~np.isnan(values)], bins=edges)
        figure.add_scatter(
            x=(edges[1:] + edges[:-1]) / 2,
            y=counts,
            mode="lines",
            line={"shape": "hvh", "color": colour, "width": 2},
            fill="tozeroy" if name == "truths" else None,
            name=name,
            hovertemplate="%{y:,} items near %{x:.3g}<extra></extra>",
        )
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title="rating")
    figure.update_yaxes(title="items", rangemode="tozero")
    return finish(figure, theme=theme, height=330)


def truth_against_gold(items: pd.DataFrame, *, theme: Theme) -> go.Figure:
    """Place items by their known number and their truth; on the line the two are the same."""
    known = items[items["gold"].notna() & items["truth"].notna()]
    if len(known) > MAX_POINTS:
        known = known.iloc[np.linspace(0, len(known) - 1, MAX_POINTS).astype(int)]
    ends = [
        float(min(known["gold"].min(), known["truth"].min())),
        float(max(known["gold"].max(), known["truth"].max())),
    ]
    figure = go.Figure()
    _identity(figure, ends, theme)
    figure.add_scattergl(
        x=known["gold"],
        y=known["truth"],
        mode="markers",
        marker={"color": class_colours(1, theme)[0], "size": 6, "opacity": 0.6},
        text=[plain(name) for name in known["item"]],
        hovertemplate="%{text}: gold %{x:.3g}, truth %{y:.3g}<extra></extra>",
        showlegend=False,
    )
    figure.update_xaxes(title="gold")
    figure.update_yaxes(title="truth")
    return finish(figure, theme=theme, height=360)


def item_dots(ratings: pd.DataFrame, row: pd.Series, *, theme: Theme) -> go.Figure:
    """Show an item's ratings as given and as corrected, one line per worker, with the truth."""
    colours = class_colours(2, theme)
    names = [plain(name) for name in ratings["worker"]]
    figure = go.Figure()
    if not np.isnan(row["low"]):
        figure.add_vrect(
            x0=row["low"], x1=row["high"], fillcolor=colours[0], opacity=0.12, line_width=0
        )
    for given, corrected, name in zip(ratings["label"], ratings["corrected"], names, strict=True):
        figure.add_scatter(
            x=[given, corrected],
            y=[name, name],
            mode="lines",
            line={"color": quiet(theme), "width": 1},
            hoverinfo="skip",
            showlegend=False,
        )
    figure.add_scatter(
        x=ratings["label"],
        y=names,
        mode="markers",
        name="as given",
        marker={"color": colours[1], "size": 10},
        hovertemplate="%{y} gave %{x:.3g}<extra></extra>",
    )
    if ratings["corrected"].notna().any():
        figure.add_scatter(
            x=ratings["corrected"],
            y=names,
            mode="markers",
            name="bias and slope taken off",
            marker={"color": colours[0], "size": 9, "symbol": "diamond-open", "line": {"width": 2}},
            hovertemplate="%{y}: %{x:.3g} when corrected<extra></extra>",
        )
    figure.add_vline(x=row["truth"], line={"color": ink(theme), "width": 2})
    figure.add_vline(x=row["mean"], line={"color": quiet(theme), "width": 1, "dash": "dot"})
    figure.update_layout(showlegend=True)
    figure.update_xaxes(title="rating; solid: truth, dotted: mean")
    figure.update_yaxes(type="category", autorange="reversed")
    return finish(figure, theme=theme, height=max(220, 120 + 26 * len(set(names))))


def rater_scatter(workers: pd.DataFrame, *, theme: Theme, selected: str | None) -> go.Figure:
    """Place workers by bias and noise, the larger the more they rated; customdata is the name."""
    drawn = workers[workers["bias"].notna() & workers["noise"].notna()]
    if len(drawn) > MAX_POINTS:
        drawn = drawn.nlargest(MAX_POINTS, "n_labels")
    figure = go.Figure()
    order = audit_of("ratings").best_first
    top = max(1.0, float(drawn["n_labels"].max()))
    for verdict in [*order, *sorted(set(drawn["verdict"]) - set(order))]:
        group = drawn[drawn["verdict"] == verdict]
        if group.empty:
            continue
        size = 6 + (MAX_POINT_PIXELS - 6) * np.sqrt(group["n_labels"].to_numpy() / top)
        colour = verdict_colour(verdict, theme)
        figure.add_scatter(
            x=group["bias"],
            y=group["noise"],
            mode="markers",
            name=f"{plain(verdict)} ({len(group):,})",
            customdata=np.array(group["worker"], dtype=object).reshape(-1, 1),
            text=[
                f"<b>{plain(one.worker)}</b><br>bias {one.bias:+.2g}, slope {one.slope:.2f}, "
                f"noise {one.noise:.2g}<br>{one.n_labels:,} ratings"
                for one in group.itertuples(index=False)
            ],
            hovertemplate="%{text}<extra></extra>",
            marker={
                "color": colour,
                "symbol": verdict_style(verdict).symbol,
                "size": size,
                "opacity": 0.75,
                "line": {"width": 1, "color": colour},
            },
            selected={"marker": {"opacity": 0.75}},
            unselected={"marker": {"opacity": 0.75}},
        )
    chosen = drawn[drawn["worker"] == selected]
    if len(chosen):
        figure.add_scatter(
            x=chosen["bias"],
            y=chosen["noise"],
            mode="markers",
            marker={
                "symbol": "circle-open",
                "size": MAX_POINT_PIXELS + 6,
                "color": ink(theme),
                "line": {"width": 2.5},
            },
            hoverinfo="skip",
            showlegend=False,
        )
    figure.add_vline(x=0, line={"dash": "dot", "width": 1, "color": quiet(theme)})
    figure.update_layout(clickmode="event+select", showlegend=True)
    figure.update_xaxes(title="bias: rates lower ← → higher than others")
    figure.update_yaxes(title="noise", rangemode="tozero")
    return finish(figure, theme=theme, height=420)


def rater_line(
    others: NDArray[np.float64],
    given: NDArray[np.float64],
    line: tuple[float, float] | None,
    *,
    theme: Theme,
) -> go.Figure:
    """Place a worker's ratings over the truths of the others, with identity and their own line.

    `line` is the value at the others' 0 and the slope.
    """
    colours = class_colours(2, theme)
    if len(others) > MAX_POINTS:
        chosen = np.linspace(0, len(others) - 1, MAX_POINTS).astype(int)
        others, given = others[chosen], given[chosen]
    ends = [float(min(others.min(), given.min())), float(max(others.max(), given.max()))]
    figure = go.Figure()
    _identity(figure, ends, theme)
    figure.add_scattergl(
        x=others,
        y=given,
        mode="markers",
        marker={"color": colours[0], "size": 7, "opacity": 0.6},
        hovertemplate="others %{x:.3g}, they gave %{y:.3g}<extra></extra>",
        showlegend=False,
    )
    if line is not None:
        across = np.array([others.min(), others.max()])
        figure.add_scatter(
            x=across,
            y=line[0] + line[1] * across,
            mode="lines",
            line={"color": colours[1], "width": 2.5},
            name="their line",
            hoverinfo="skip",
        )
    figure.update_layout(showlegend=line is not None)
    figure.update_xaxes(title="truth without their own ratings")
    figure.update_yaxes(title="what they gave")
    return finish(figure, theme=theme, height=340)


def value_shares(
    own: NDArray[np.float64], everybody: NDArray[np.float64], *, theme: Theme
) -> go.Figure:
    """Show how often a worker gives each value, against the whole crowd."""
    values = np.unique(everybody)
    if len(values) <= N_BINS:
        gap = np.diff(values).min() if len(values) > 1 else 1.0
        edges = np.append(values - gap / 2, values[-1] + gap / 2)
        centres = values
    else:
        edges = np.histogram_bin_edges(everybody, bins=N_BINS)
        centres = (edges[1:] + edges[:-1]) / 2
    figure = go.Figure()
    for name, given, colour in (
        ("they", own, class_colours(1, theme)[0]),
        ("everybody", everybody, quiet(theme)),
    ):
        counts, _ = np.histogram(given, bins=edges)
        figure.add_bar(
            x=centres,
            y=counts / max(1, counts.sum()),
            name=name,
            marker={"color": colour},
            hovertemplate="%{x:.3g}: %{y:.1%}<extra>" + name + "</extra>",
        )
    figure.update_layout(showlegend=True, barmode="group", bargap=0.15)
    figure.update_xaxes(title="value given")
    figure.update_yaxes(title="share", tickformat=".0%")
    return finish(figure, theme=theme, height=340)


def _identity(figure: go.Figure, ends: list[float], theme: Theme) -> None:
    figure.add_scatter(
        x=ends,
        y=ends,
        mode="lines",
        line={"color": quiet(theme), "width": 1, "dash": "dot"},
        hoverinfo="skip",
        showlegend=False,
    )
