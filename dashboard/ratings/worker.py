"""One worker who rates up close: the verdict, their line over the others' truths, their values."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from crowdcore.audit.kinds import audit_of
from crowdcore.audit.ratings.agreement import MIN_SHARED_ITEMS, compare_raters
from crowdcore.wording import NOTHING, count
from dashboard import cache, layout, widgets
from dashboard.charts.palette import verdict_words
from dashboard.charts.ratings import rater_line, value_shares
from dashboard.decisions import about_workers
from dashboard.text import escape_md
from dashboard.workers import ticked

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow

MAX_ROWS = 1_000
"""Ratings of a worker that the page lists; the CSV has all."""


def draw(run: RunRow, name: str) -> None:
    """Show the worker called `name`; a name from an old link may not exist."""
    st.divider()
    widgets.panel_heading(
        f"Worker {escape_md(name, limit=60)}",
        key="worker_close",
        on_close=lambda: ticked.close(run),
    )
    names = cache.result(run.id).data.workers
    if name not in names:
        st.warning("This run's data have no worker of that name; the link may be of another run.")
        return
    code = names.index(name)
    row = cache.workers(run.id).iloc[code]
    is_out = name in run.excluded
    if is_out:
        st.markdown("**Excluded from this run.**")
        st.caption("What follows compares them with truths that they had no part in.")
    else:
        verdict = audit_of("ratings").verdict_named(row["verdict"])
        st.markdown(
            f"**{escape_md(verdict_words(row['verdict']))}.** {escape_md(row['evidence'])}",
            help=None
            if verdict is None
            else f"{verdict.meaning} {verdict.caveat} {verdict.advice}",
        )
        st.caption(_facts(row))
        if verdict is not None and verdict.harm:
            st.caption(f"{verdict.caveat} {verdict.advice}")
    about_workers.draw(run, [name], page="workers")
    ratings = _ratings(run, code, is_out=is_out)
    _draw_charts(run, code, ratings, None if is_out else row)
    _draw_pair(run, code)
    _draw_evidence(run, name, code, ratings)


def _facts(row: pd.Series) -> str:
    facts = [count(row["n_labels"], "rating"), f"{count(row['n_compared'])} comparable"]
    for name in ("bias", "slope", "noise"):
        if np.isfinite(row[name]):
            ends = f"{row[f'{name}_low']:.2f} to {row[f'{name}_high']:.2f}"
            facts.append(f"{name} {row[name]:.2f} ({ends})")
    if row["gold_n"]:
        facts.append(f"on gold: bias {row['gold_bias']:+.2f}, RMSE {row['gold_rmse']:.2f}")
    return " · ".join(facts)


def _ratings(run: RunRow, code: int, *, is_out: bool) -> pd.DataFrame:
    """A worker's ratings beside the truths without them."""
    data = cache.with_all_labels(run).data
    rows = np.flatnonzero(data.worker == code)
    result = cache.result(run.id)
    truth = result.truth[data.item[rows]]
    others: NDArray[np.float64] = truth
    if not is_out:
        own = np.flatnonzero(result.data.worker == code)
        others = cache.rating_evidence(run.id)[0][own]
    frame = pd.DataFrame(
        {
            "item": [data.items[item] for item in data.item[rows]],
            "given": data.label[rows],
            "others": others,
            "truth": truth,
        }
    )
    frame["difference"] = frame["given"] - frame["others"]
    return frame


def _draw_charts(run: RunRow, code: int, ratings: pd.DataFrame, row: pd.Series | None) -> None:
    left_column, right_column = layout.side_by_side(1, 1)
    known = ratings[ratings["others"].notna()]
    with left_column:
        st.markdown("**Their ratings over the truths of the others**")
        if known.empty:
            st.caption("Nobody else rated these items.")
        else:
            line = None
            if row is not None and np.isfinite(row["slope"]):
                slope = float(row["slope"])
                middle = float(known["given"].mean() - slope * known["others"].mean())
                line = (middle, slope)
            widgets.chart(
                rater_line(
                    known["others"].to_numpy(float),
                    known["given"].to_numpy(float),
                    line,
                    theme=layout.theme(),
                ),
                key=f"worker_line_{run.id}_{code}",
                alt="The worker's ratings against the truths without them",
            )
            st.caption("On the dotted line they would rate exactly as the others do.")
    with right_column:
        st.markdown("**The values they use**")
        everybody = cache.result(run.id).data.label
        widgets.chart(
            value_shares(ratings["given"].to_numpy(float), everybody, theme=layout.theme()),
            key=f"worker_values_{run.id}_{code}",
            alt="How often the worker gives each value, against everybody",
        )


def _draw_pair(run: RunRow, code: int) -> None:
    """Compare the worker with another one on the items that both rated."""
    data = cache.with_all_labels(run).data
    others = [name for index, name in enumerate(data.workers) if index != code]
    other = st.selectbox(
        "Compare with",
        others,
        index=None,
        placeholder="Another worker",
        key=f"worker_pair_{run.id}_{code}",
        width=280,
    )
    if other is None:
        return
    pair = compare_raters(data, code, data.workers.index(other))
    if pair.difference is None or pair.low is None or pair.high is None:
        st.caption(
            f"{count(pair.n_shared, 'item')} rated by both: too few, {MIN_SHARED_ITEMS} are needed."
        )
        return
    kappa = NOTHING if pair.kappa is None else f"{pair.kappa:.2f}"
    st.caption(
        f"On {count(pair.n_shared, 'item')} that both rated they give {pair.difference:+.2f} more "
        f"on average; 95% of the differences lie between {pair.low:+.2f} and {pair.high:+.2f} "
        f"(Bland and Altman). Quadratic kappa {kappa}: 1 where the two always agree."
    )


def _draw_evidence(run: RunRow, name: str, code: int, ratings: pd.DataFrame) -> None:
    """List the ratings that differ most from what the others say."""
    from crowdcore.export.writers import frame_bytes

    evidence = ratings.sort_values("difference", key=np.abs, ascending=False)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**Where they differ most: {count(len(evidence), 'rating')}**")
        st.download_button(
            "Evidence as CSV",
            data=partial(frame_bytes, evidence.assign(worker=name), "csv"),
            file_name=f"evidence-{run.method}-worker-{code + 1}.csv",
            mime="text/csv",
            icon=":material/download:",
            key="worker_csv",
            on_click="ignore",
            disabled=evidence.empty,
        )
    if evidence.empty:
        return
    column = st.column_config
    numbers = {
        "given": "They gave",
        "others": "Truth without them",
        "difference": "Difference",
        "truth": "Truth",
    }
    item = widgets.table(
        evidence.head(MAX_ROWS),
        key=f"worker_evidence_{run.id}_{code}",
        alt="The ratings that are the evidence",
        select="item",
        columns={
            "item": column.TextColumn("Item", pinned=True),
            **{key: column.NumberColumn(title, format="%.2f") for key, title in numbers.items()},
        },
    )
    widgets.open_item(item, key="worker_open_item", note="The largest differences first.")
