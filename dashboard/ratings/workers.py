"""The Workers page of ratings: numbers on top, the table of workers, all of them in a chart."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from crowdcore.audit.kinds import audit_of
from crowdcore.audit.ratings.agreement import RatingAgreement, reliability
from crowdcore.audit.ratings.tables import WORKER_COLUMNS
from crowdcore.audit.verdicts import UNDECIDED
from crowdcore.wording import NOTHING, count, percent
from dashboard import cache, layout, state, widgets
from dashboard.charts.ratings import rater_scatter
from dashboard.tables import page_of
from dashboard.workers.table import EXCLUDED, verdict_text

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow

CHARTS = ("raters",)
ORDERS = {
    "Noisiest first": ("noise", False),
    "Most lenient first": ("bias", False),
    "Strictest first": ("bias", True),
}
MAX_PIXELS = 420


def draw_metrics(run: RunRow, workers: pd.DataFrame) -> None:
    """Draw the row of numbers."""
    audit, active = audit_of("ratings"), workers[workers["verdict"] != EXCLUDED]
    doubtful = active["verdict"].isin(audit.in_doubt)
    agreement: RatingAgreement = cache.agreement(run.id)
    row = st.container(horizontal=True)
    widgets.metric(row, "Workers", count(len(active)))
    widgets.metric(
        row,
        "Usual noise",
        NOTHING if active["noise"].isna().all() else f"{active['noise'].median():.2g}",
        help="The median of the workers' errors after their bias and slope are taken off.",
    )
    widgets.metric(
        row,
        "In doubt",
        count(doubtful.sum()),
        help=f"Workers judged {', '.join(audit.in_doubt[:-1])} or {audit.in_doubt[-1]}. Lenient, "
        "strict, narrow and wide workers can be corrected and need not be left out.",
    )
    widgets.metric(
        row,
        "Undecided",
        count((active["verdict"] == UNDECIDED.name).sum()),
        help="Workers of whom nothing can be said yet. That is no verdict against them.",
    )
    widgets.metric(
        row,
        "Agreement (alpha)",
        NOTHING if agreement.alpha is None else f"{agreement.alpha:.2f}",
        help="Krippendorff's alpha for numbers: 1 where workers always agree, 0 where no more "
        f"than by chance. {agreement.describe()}",
    )


def draw_overview(run: RunRow, workers: pd.DataFrame, keys: Mapping[str, str]) -> None:
    """Draw workers by bias and noise, or how far they agree."""
    view = st.segmented_control(
        "View",
        ["Bias and noise", "Agreement"],
        default="Bias and noise",
        key="workers_view",
        label_visibility="collapsed",
    )
    if view == "Agreement":
        _draw_agreement(run)
        return
    if workers["noise"].isna().all():
        st.info("None of these workers rated enough items that somebody else rated too.")
        return
    widgets.chart(
        rater_scatter(workers, theme=layout.theme(), selected=state.selection("worker")),
        key=keys["raters"],
        alt="Workers by bias and noise; the larger, the more they rated",
        select="points",
    )
    st.caption(
        "The further right, the more lenient; the higher, the noisier; the larger, the more "
        "ratings. Biases can be corrected, noise cannot."
    )


def _draw_agreement(run: RunRow) -> None:
    """List the measures of agreement with their intervals, or why there are none."""
    agreement: RatingAgreement = cache.agreement(run.id)
    rows = [
        {
            "measure": one.name,
            "value": NOTHING if one.value is None else f"{one.value:.3f}",
            "interval": NOTHING
            if one.interval is None
            else f"{one.interval[0]:.2f} to {one.interval[1]:.2f}",
            "note": one.note,
        }
        for one in agreement.coefficients
    ]
    column = st.column_config
    widgets.table(
        pd.DataFrame(rows),
        key="workers_agreement",
        alt="Measures of agreement",
        columns={
            "measure": column.TextColumn("Measure", width=110),
            "value": column.TextColumn("Value", width=60),
            "interval": column.TextColumn("95%", width=90),
            "note": column.TextColumn("Note", width="medium"),
        },
    )
    data = cache.result(run.id).data
    _, components = cache.rating_evidence(run.id)
    shares = reliability(components, float(data.labels_per_item[data.labels_per_item > 0].mean()))
    st.caption(
        f"{agreement.describe()} ICC(1) is the reliability of one rating, ICC(k) of an item's "
        "mean. By the Gaussian model, the part of the variance that is the truths': of one rating "
        f"{percent(shares['one'], 0)}, without biases {percent(shares['unbiased'], 0)}, of an "
        f"item's mean {percent(shares['mean'], 0)}, of the inferred truths "
        f"{percent(shares['truths'], 0)}."
    )


def draw_table(run: RunRow, workers: pd.DataFrame, ticked: Sequence[str]) -> list[str]:
    """Show some workers, of whom several can be ticked; return all who are, shown or not."""
    if workers.empty:
        st.info("No worker passes these filters.", icon=":material/filter_alt_off:")
        return list(ticked)
    workers = workers.iloc[page_of(np.arange(len(workers)), key="workers_page", noun="workers")]
    names = widgets.tick_table(
        _cells(workers),
        key=f"workers_table_{run.id}_{zlib.crc32(workers.index.to_numpy().tobytes()):08x}",
        alt="Workers with their verdicts",
        columns=_columns(),
        select="worker",
        ticked=ticked,
        height=MAX_PIXELS,
    )
    st.caption(
        "Bias, slope and noise are against the truths without the worker's own ratings. "
        "**Tick a row or click a point for the evidence; tick several to exclude them together.**"
    )
    return names


def ticked_cells(workers: pd.DataFrame) -> dict[str, Sequence[str]]:
    """Write what the list of ticked workers shows beside verdict and evidence."""
    return {
        title: [f"{value:.2f}" if np.isfinite(value) else NOTHING for value in workers[name]]
        for name, title in (("bias", "Bias"), ("slope", "Slope"), ("noise", "Noise"))
    }


def _cells(workers: pd.DataFrame) -> pd.DataFrame:
    cells: dict[str, Any] = {
        "worker": workers["worker"].to_numpy(),
        "verdict": [verdict_text(verdict) for verdict in workers["verdict"]],
    }
    for name in ("bias", "slope", "noise", "n_labels", "n_compared", "outliers"):
        cells[name] = workers[name].to_numpy()
    cells["favourite"] = [
        f"{value:g} ({percent(share, 0)})" if np.isfinite(share) else NOTHING
        for value, share in zip(workers["favourite"], workers["favourite_share"], strict=True)
    ]
    if workers["gold_n"].any():
        cells["gold_bias"] = workers["gold_bias"].to_numpy()
        cells["gold_rmse"] = workers["gold_rmse"].to_numpy()
    cells["evidence"] = workers["evidence"].to_numpy()
    return pd.DataFrame(cells)


def _columns() -> dict[str, Any]:
    column, listed = st.column_config, {entry.name: entry for entry in WORKER_COLUMNS}
    numbers = {
        name: column.NumberColumn(
            listed[name].title, format="%.2f", width=75, help=listed[name].help
        )
        for name in ("bias", "slope", "noise", "gold_bias", "gold_rmse")
    }
    counts = {
        name: column.NumberColumn(
            listed[name].title, format="localized", width=75, help=listed[name].help
        )
        for name in ("n_labels", "n_compared", "outliers")
    }
    return {
        "worker": column.TextColumn("Worker", pinned=True, width=90),
        "verdict": column.TextColumn(
            "Verdict", width=110, help=audit_of("ratings").describe_verdicts()
        ),
        **numbers,
        **counts,
        "favourite": column.TextColumn(
            "Favourite", width=90, help=listed["favourite"].help + " In brackets how often."
        ),
        "evidence": column.TextColumn("Evidence", width="large"),
    }
