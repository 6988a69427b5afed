"""The Truths page where items were compared: a ranking with intervals, and what to ask next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray

from crowdcore.audit.comparisons.items import COLUMNS, TRUTH_COLUMNS, encounters
from crowdcore.audit.comparisons.next_pairs import next_pairs
from crowdcore.export.columns import TableColumn
from crowdcore.export.writers import frame_bytes
from crowdcore.results.ranking import SURE
from crowdcore.wording import count, percent
from dashboard import cache, layout, listed, state, widgets
from dashboard.charts.palette import class_colours, finish, quiet
from dashboard.text import escape_md

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from crowdcore.workspace import RunRow

PRESETS = {"all": "All", "top": "May be the best", "open": "Not surely above the next"}
ORDERS: dict[str, tuple[str | None, bool]] = {
    "Best first": ("rank", True),
    "Worst first": ("rank", False),
    "Fewest comparisons first": ("n_labels", True),
    "As in the data": (None, True),
}

_SHOWN = (
    *("item", "rank", "truth", "low", "high", "rank_low", "rank_high", "best", "above_next"),
    *("n_labels", "win_share", "elo", "gold"),
)
_ALL: tuple[TableColumn[Any], ...] = (*TRUTH_COLUMNS, *COLUMNS)
SHOWN = tuple(column for name in _SHOWN for column in _ALL if column.name == name)

MAX_DRAWN = 40
"""Items that the chart of scores shows at most, and the map of encounters half as many."""


def masks(items: pd.DataFrame) -> dict[str, NDArray[np.bool_]]:
    """Tell which items pass each quick filter; filters that do not apply are left out."""
    passing = {"all": np.ones(len(items), bool)}
    if "rank_low" in items:
        passing["top"] = items["rank_low"].to_numpy() == 1
        above = items["above_next"].to_numpy()
        passing["open"] = np.isfinite(above) & (above < SURE)
    return passing


def narrow(row: DeltaGenerator, run: RunRow, items: pd.DataFrame) -> NDArray[np.bool_]:
    """Draw no further filter."""
    del row, run
    return np.ones(len(items), bool)


def draw_metrics(run: RunRow, items: pd.DataFrame) -> None:
    """Draw the row of numbers."""
    result = cache.result(run.id)
    row = st.container(horizontal=True)
    best = items.iloc[int(result.order[0])]
    widgets.metric(row, "Items", count(len(items)))
    widgets.metric(row, "Comparisons", count(result.data.n_labels))
    note = percent(best["best"]) + " sure" if "best" in best else "no interval"
    widgets.metric(row, "Best", escape_md(best["item"], limit=24), note=note)
    numbers = result.summary
    if np.isfinite(numbers["median_spread"]):
        widgets.metric(
            row,
            "Neighbours surely in order",
            f"{count(numbers['sure_neighbours'])} of {count(numbers['neighbours'])}",
            help="Items that are better than the next in rank with a probability of 95% or more.",
        )
    score = result.score()
    if score is not None:
        widgets.metric(
            row, "Pairs in the right order", percent(score.pairs_right), help=" ".join(score.lines)
        )


def draw_table(run: RunRow, items: pd.DataFrame, rows: NDArray[np.intp]) -> None:
    """Show the items at the given positions."""
    empty = {name for name in _SHOWN if name in items and items[name].isna().all()}
    listed.draw_items(run, items, rows, [c for c in SHOWN if c.name not in empty])
    st.caption(
        "A score one higher wins 73% of comparisons. Intervals hold the score, or the rank, with "
        "95%. Select a row to see whom the item beat."
    )


def draw_overview(run: RunRow, items: pd.DataFrame) -> None:
    """Show the ranking: scores with intervals, who beats whom, and what to ask next."""
    view = st.segmented_control(
        "View",
        ["Ranking", "Who beats whom", "Ask next"],
        default="Ranking",
        key="ranking_view",
        label_visibility="collapsed",
    )
    if view == "Who beats whom":
        _draw_encounters(run)
    elif view == "Ask next":
        _draw_next(run)
    else:
        _draw_ranking(run, items)


def _draw_ranking(run: RunRow, items: pd.DataFrame) -> None:
    theme = layout.theme()
    shown = items.iloc[cache.result(run.id).order[:MAX_DRAWN]][::-1]
    score = shown["truth"].to_numpy()
    figure = go.Figure()
    figure.add_scatter(
        x=score,
        y=shown["item"],
        mode="markers",
        marker={"color": class_colours(1, theme)[0], "size": 9},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": shown["high"].to_numpy() - score,
            "arrayminus": score - shown["low"].to_numpy(),
            "color": quiet(theme),
        },
        hovertemplate="%{y}: %{x:.2f}<extra></extra>",
        showlegend=False,
    )
    figure.update_layout(xaxis={"title": "score with its 95% interval, log-odds"})
    widgets.chart(
        finish(figure, theme=theme, height=90 + 18 * len(shown)),
        key=f"ranking_{run.id}",
        alt="Scores of the best items with their intervals",
    )
    if len(items) > MAX_DRAWN:
        st.caption(f"The best {MAX_DRAWN} of {count(len(items))} items.")


def _draw_encounters(run: RunRow) -> None:
    result, theme = cache.result(run.id), layout.theme()
    met = encounters(result, result.order[: MAX_DRAWN // 2])
    names = [result.data.items[code] for code in met.items]
    n_met = met.wins + met.wins.T + met.ties
    share = np.divide(
        met.wins + 0.5 * met.ties, n_met, out=np.full(n_met.shape, np.nan), where=n_met > 0
    )
    text = [
        [
            f"{names[i]} against {names[j]}: {met.wins[i, j]} won, {met.wins[j, i]} lost, "
            f"{met.ties[i, j]} tied"
            + ("" if np.isnan(met.above[i, j]) else f"; better with {percent(met.above[i, j])}")
            for j in range(len(names))
        ]
        for i in range(len(names))
    ]
    figure = go.Figure(
        go.Heatmap(
            z=share,
            x=names,
            y=names,
            zmin=0,
            zmax=1,
            colorscale="RdBu",
            text=text,
            hovertemplate="%{text}<extra></extra>",
            colorbar={"title": "won", "tickformat": ".0%"},
        )
    )
    figure.update_yaxes(autorange="reversed")
    widgets.chart(
        finish(figure, theme=theme, height=460),
        key=f"encounters_{run.id}",
        alt="Who beat whom: share of comparisons that the item of the row won",
    )
    st.caption(
        f"The best {len(names)} items. A row says against whom the item won (blue) and lost (red); "
        "white fields were never compared. Hover for counts and for how sure the order is."
    )


def _draw_next(run: RunRow) -> None:
    pairs = next_pairs(cache.result(run.id))
    if pairs.empty:
        st.info("This method does not say how sure the order is. Run bayesian_bt to see this.")
        return
    column = st.column_config
    shown = pairs.assign(above=100 * pairs["above"])
    widgets.table(
        shown,
        alt="Pairs of items whose comparison would tell most",
        height=listed.MAX_PIXELS,
        order=["first", "second", "above", "n_asked", "bits"],
        columns={
            "first": column.TextColumn("Item"),
            "second": column.TextColumn("Against"),
            "above": column.NumberColumn("First is better", format="%.0f%%"),
            "n_asked": column.NumberColumn("Asked so far"),
            "bits": column.NumberColumn("Tells (bits)", format="%.3f"),
        },
    )
    st.download_button(
        "Pairs as CSV",
        frame_bytes(pairs, "csv"),
        file_name="next-pairs.csv",
        mime="text/csv",
        icon=":material/download:",
    )
    st.caption(
        "One more comparison of these pairs is expected to tell most about which of the two is "
        "better: their order is open, and they were compared little."
    )


def draw_item(run: RunRow, name: str) -> None:
    """Show one item: its score, its rank, and how it fared against the others."""
    widgets.panel_heading(
        escape_md(name, limit=60), key="item_close", on_close=lambda: state.select("item", None)
    )
    code = cache.item_codes(run.id).get(name)
    if code is None:
        st.warning("This run's data have no item of that name; the link may be of another run.")
        return
    result, row = cache.result(run.id), cache.items(run.id).iloc[code]
    facts = [f"rank **{row['rank']}**", f"score {row['truth']:.2f}"]
    if np.isfinite(row["low"]):
        facts[1] += f" ({row['low']:.2f} to {row['high']:.2f})"
    if "rank_low" in row:
        facts[0] += f" ({row['rank_low']} to {row['rank_high']})"
    facts.append(f"{row['wins']} won, {row['losses']} lost, {row['ties']} tied")
    st.markdown(" · ".join(facts))
    data, ranked = result.data, result.order
    near = np.flatnonzero(ranked == code)[0]
    others = ranked[max(0, near - MAX_DRAWN // 2) : near + MAX_DRAWN // 2 + 1]
    met = encounters(result, others)
    own = int(np.flatnonzero(others == code)[0])
    table = pd.DataFrame(
        {
            "item": [data.items[other] for other in others],
            "won": met.wins[own],
            "lost": met.wins[:, own],
            "tied": met.ties[own],
            "above": 100 * met.above[own],
        }
    ).drop(index=own)
    column = st.column_config
    widgets.table(
        table,
        alt="How the item fared against others",
        height=listed.MAX_PIXELS,
        columns={
            "item": column.TextColumn("Against"),
            "won": column.NumberColumn("Won"),
            "lost": column.NumberColumn("Lost"),
            "tied": column.NumberColumn("Tied"),
            "above": column.NumberColumn("Is better", format="%.0f%%"),
        },
    )
    if len(others) < data.n_items:
        st.caption(f"The {len(others) - 1} items nearest in rank.")
