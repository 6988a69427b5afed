"""One rated item up close: its truth, its text, and its ratings as given and as corrected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from crowdcore.wording import NOTHING, count
from dashboard import cache, layout, state, widgets
from dashboard.charts.palette import verdict_words
from dashboard.charts.ratings import item_dots
from dashboard.text import escape_md
from dashboard.truths.item import draw_details

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow

MIN_SLOPE = 0.2
"""Ratings of workers who hardly follow the truths cannot be corrected."""

MAX_DOTS = 40
"""Ratings that a chart can hold apart."""


def draw(run: RunRow, name: str) -> None:
    """Show the item called `name`; a name from an old link may not exist."""
    code = cache.item_codes(run.id).get(name)
    widgets.panel_heading(
        escape_md(name, limit=60),
        key="item_close",
        on_close=lambda: state.select("item", None),
    )
    if code is None:
        st.warning("This run's data have no item of that name; the link may be of another run.")
        return
    row = cache.items(run.id).iloc[code]
    facts = [f"**{row['truth']:.2f}**" if np.isfinite(row["truth"]) else "**not known**"]
    if np.isfinite(row["low"]):
        facts.append(f"95% interval {row['low']:.2f} to {row['high']:.2f}")
    facts.append(f"mean {row['mean']:.2f}" if np.isfinite(row["mean"]) else NOTHING)
    facts.append(count(row["n_labels"], "rating"))
    if np.isfinite(row["gold"]):
        facts.append(f"gold **{row['gold']:.2f}** (off by {row['error']:+.2f})")
    st.markdown(" · ".join(facts))
    if row["n_labels"] == 0:
        st.caption("Nobody rated it in this run; the truth says only what is usual.")
    draw_details(run, code)
    ratings = _ratings(run, code)
    if len(ratings):
        widgets.chart(
            item_dots(ratings.head(MAX_DOTS), row, theme=layout.theme()),
            key=f"item_dots_{run.id}_{code}",
            alt="Each worker's rating of this item, as given and as corrected",
        )
        if len(ratings) > MAX_DOTS:
            st.caption(f"The first {MAX_DOTS} of {count(len(ratings), 'rating')} are drawn.")
        _draw_table(run, code, ratings)


def _ratings(run: RunRow, code: int) -> pd.DataFrame:
    """The item's ratings, with those of workers whom the run left out, and as corrected."""
    data = cache.with_all_labels(run).data
    rows = np.flatnonzero(data.item == code)
    workers = cache.workers(run.id).iloc[data.worker[rows]]
    frame = pd.DataFrame(
        {
            "worker": [data.workers[worker] for worker in data.worker[rows]],
            "label": data.label[rows],
            "verdict": workers["verdict"].to_numpy(),
            "bias": workers["bias"].to_numpy(float),
            "slope": workers["slope"].to_numpy(float),
        }
    )
    centre = float(np.nanmean(cache.items(run.id)["truth"]))
    usable = frame["slope"] > MIN_SLOPE
    corrected = (frame["label"] - centre - frame["bias"]) / frame["slope"].where(usable) + centre
    is_out = frame["worker"].isin(run.excluded)
    frame["verdict"] = frame["verdict"].where(~is_out, "excluded")
    return frame.assign(corrected=corrected.where(~is_out)).sort_values("label")


def _draw_table(run: RunRow, code: int, ratings: pd.DataFrame) -> None:
    column = st.column_config
    cells = ratings[["worker", "label", "corrected"]].assign(
        verdict=[
            "excluded" if verdict == "excluded" else verdict_words(str(verdict))
            for verdict in ratings["verdict"]
        ]
    )
    worker = widgets.table(
        cells,
        key=f"item_labels_{run.id}_{code}",
        alt="Who gave this item which rating",
        select="worker",
        columns={
            "worker": column.TextColumn("Worker", width=80),
            "label": column.NumberColumn("Gave", width=60, format="%.4g"),
            "corrected": column.NumberColumn(
                "Corrected",
                width=75,
                format="%.2f",
                help="The rating with the worker's bias and slope taken off; empty where the "
                "worker hardly follows the truths.",
            ),
            "verdict": column.TextColumn("Verdict", width=105),
        },
    )
    widgets.open_worker(worker, key="item_open_worker")
