"""The Truths page of ratings: numbers on top, filters, the table of items, all items in a chart."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from crowdcore.audit.ratings.tables import DISPUTED_RATIO, ITEM_COLUMNS, TRUTH_COLUMNS
from crowdcore.export.columns import TableColumn
from crowdcore.wording import NOTHING, count, percent
from dashboard import cache, layout, widgets
from dashboard.charts.ratings import truth_against_gold, truth_histogram
from dashboard.tables import page_of

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from crowdcore.workspace import RunRow

PRESETS = {
    "all": "All",
    "wide": "Wide spread",
    "disputed": "Disputed",
    "few": "Few ratings",
    "far": "Far from the mean",
}
ORDERS: dict[str, tuple[str | None, bool]] = {
    "Widest spread first": ("spread", False),
    "Most disputed first": ("deviation", False),
    "Highest first": ("truth", False),
    "Lowest first": ("truth", True),
    "As in the data": (None, True),
}
WIDE_QUANTILE = 0.9
"""Spreads above this quantile are called wide."""

FEW_RATINGS = 3
"""Items with fewer ratings are called thinly rated."""

MAX_PIXELS = 560
MAX_TEXT_LETTERS = 200


def masks(items: pd.DataFrame) -> dict[str, NDArray[np.bool_]]:
    """Tell which items pass each quick filter."""
    spread = items["spread"].to_numpy(float)
    known = spread[~np.isnan(spread)]
    bound = np.quantile(known, WIDE_QUANTILE) if len(known) else np.inf
    return {
        "all": np.ones(len(items), bool),
        "wide": np.isnan(spread) | (spread > bound),
        "disputed": items["disputed"].to_numpy(bool),
        "few": items["n_labels"].to_numpy() < FEW_RATINGS,
        "far": items["far"].to_numpy(bool),
    }


def narrow(row: DeltaGenerator, run: RunRow, items: pd.DataFrame) -> NDArray[np.bool_]:
    """Draw the choice of a range, and tell which truths lie in it."""
    truth = items["truth"].to_numpy(float)
    known = truth[~np.isnan(truth)]
    if not len(known) or np.ptp(known) == 0:
        return np.ones(len(items), bool)
    ends = float(np.floor(known.min())), float(np.ceil(known.max()))
    low, high = row.slider("Truth between", *ends, ends, key=f"truths_range_{run.id}", width=220)
    if (low, high) == ends:
        return np.ones(len(items), bool)
    inside: NDArray[np.bool_] = (truth >= low) & (truth <= high)
    return inside


def draw_metrics(run: RunRow, items: pd.DataFrame) -> None:
    """Draw the row of numbers."""
    row = st.container(horizontal=True)
    widgets.metric(row, "Items", count(len(items)))
    widgets.metric(
        row,
        "Mean truth",
        _text(items["truth"].mean()),
        help="No rating can tell whether the whole crowd rates too high or too low: only gold can.",
    )
    widgets.metric(
        row,
        "Usual spread",
        _text(items["spread"].median()),
        help="The median standard error of a truth; 95% intervals reach about twice as far.",
    )
    widgets.metric(
        row,
        "Disputed",
        count(items["disputed"].sum()),
        help=f"Items whose ratings scatter more than {DISPUTED_RATIO:g} times as widely as usual.",
    )
    score = cache.result(run.id).score()
    value, note, why = "no gold", None, "Known numbers of some items would tell the errors."
    if score is not None:
        value, note = f"{score.rmse:.3g}", f"R² {score.r2:.2f}, r {score.r:.2f}, n = {score.n:,}"
        why = (
            "The root of the mean squared distance of truths from gold. "
            f"{percent(score.coverage)} of the 95% intervals hold the gold."
        )
    elif cache.provenance(run.id).get("used_gold"):
        value, why = "not known", "The method was given the gold, so it cannot be scored by it."
    widgets.metric(row, "RMSE vs. gold", value, help=why, note=note)


def draw_overview(run: RunRow, items: pd.DataFrame) -> None:
    """Show how truths are spread over the scale, and how they compare with gold."""
    st.subheader("Where the truths lie", anchor=False)
    views = ["On the scale"]
    if items["gold"].notna().any():
        views.append("Against gold")
    view: str | None = views[0]
    if len(views) > 1:
        view = st.segmented_control(
            "View", views, default=views[0], key="truths_view", label_visibility="collapsed"
        )
    if view == "Against gold":
        _draw_gold(run, items)
        return
    widgets.chart(
        truth_histogram(
            items["truth"].to_numpy(float), items["mean"].to_numpy(float), theme=layout.theme()
        ),
        key="truths_histogram",
        alt="How many items have which truth, beside the mean ratings",
    )
    st.caption(
        "Filled: the truths of this run. Line: the plain mean ratings. Select a row of the table "
        "to see who gave what."
    )


def _draw_gold(run: RunRow, items: pd.DataFrame) -> None:
    widgets.chart(
        truth_against_gold(items, theme=layout.theme()),
        key="truths_gold",
        alt="Truths of items against their known numbers",
    )
    score = cache.result(run.id).score()
    if score is None:
        st.caption("The method was given this gold: how near the truths are says nothing.")
        return
    st.caption(
        f"On the dotted line truth and gold are the same. RMSE {score.rmse:.3g}, MAE "
        f"{score.mae:.3g}, R² {score.r2:.3f}, r {score.r:.3f}, Spearman {score.rho:.3f}; "
        f"{percent(score.coverage)} of the 95% intervals hold the gold."
    )


def draw_table(run: RunRow, items: pd.DataFrame, rows: NDArray[np.intp]) -> None:
    """Show the items at the given positions; a selected row becomes the selected item."""
    if not len(rows):
        st.info("No item passes these filters.", icon=":material/filter_alt_off:")
        return
    rows = page_of(rows, key="truths_page", noun="items")
    frame, details = items.iloc[rows], cache.details(run.id)
    cells: dict[str, Any] = {"item": frame["item"].to_numpy()}
    if details.picture:
        cells["picture"] = [details.picture[row] for row in rows]
    for name in ("truth", "interval", "spread", "mean", "median", "gold", "deviation", "n_labels"):
        if name == "interval":
            cells[name] = [
                f"{_text(low)} to {_text(high)}" if np.isfinite(low) else NOTHING
                for low, high in zip(frame["low"], frame["high"], strict=True)
            ]
        elif name != "gold" or items["gold"].notna().any():
            cells[name] = frame[name].to_numpy()
    cells["flags"] = [
        [name for name, is_so in (("disputed", disputed), ("far from mean", far)) if is_so]
        for disputed, far in zip(frame["disputed"], frame["far"], strict=True)
    ]
    for name, values in details.texts.items():
        cells[f"detail:{name}"] = [values[row][:MAX_TEXT_LETTERS] for row in rows]
    widgets.table(
        pd.DataFrame(cells),
        key=f"truths_table_{run.id}_{zlib.crc32(rows.tobytes()):08x}",
        alt="Items with their truths",
        columns=_columns(run, items),
        select="item",
        linked=True,
        height=MAX_PIXELS,
        pictures=details.picture is not None,
    )
    st.caption(
        "Wide spread: among the tenth with the largest standard error, or without one. "
        f"Disputed: ratings scatter over {DISPUTED_RATIO:g} times as widely as usual. "
        "Select a row to see who gave what."
    )


def _columns(run: RunRow, items: pd.DataFrame) -> dict[str, Any]:
    column = st.column_config
    columns: list[TableColumn[Any]] = [*TRUTH_COLUMNS, *ITEM_COLUMNS]
    listed = {entry.name: entry for entry in columns}
    truth = items["truth"].to_numpy(float)
    known = truth[~np.isnan(truth)]
    ends = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    names = cache.details(run.id).texts
    numbers = {
        name: column.NumberColumn(
            listed[name].title, format="%.2f", width=70, help=listed[name].help
        )
        for name in ("spread", "mean", "median", "gold", "deviation")
    }
    return {
        "item": column.TextColumn("Item", pinned=True, width=75),
        "picture": column.ImageColumn("Picture", width=70),
        "truth": column.ProgressColumn(
            "Truth",
            format="%.2f",
            min_value=ends[0],
            max_value=max(ends[1], ends[0] + 1e-9),
            width=130,
            help=f"{listed['truth'].help} The bar shows where it lies between the least and the "
            "greatest truth.",
        ),
        "interval": column.TextColumn(
            "95%", width=105, help="Where the truth may really lie, if the crowd's level is right."
        ),
        "n_labels": column.NumberColumn("Ratings", width=65, help=listed["n_labels"].help),
        **numbers,
        "flags": column.ListColumn("Flags", width=130),
        **{f"detail:{name}": column.TextColumn(name, width="medium") for name in names},
    }


def _text(value: float) -> str:
    return f"{value:.2f}" if np.isfinite(value) else NOTHING
