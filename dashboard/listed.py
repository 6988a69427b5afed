"""Tables of items and workers that are drawn from the definitions of their columns alone."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from crowdcore.audit.kinds import audit_of
from crowdcore.export.columns import TableColumn
from crowdcore.wording import NOTHING, count, percent
from dashboard import cache, widgets
from dashboard.charts.palette import verdict_words
from dashboard.tables import page_of
from dashboard.text import escape_md
from dashboard.workers import ticked
from dashboard.workers.table import EXCLUDED, UNKNOWN, verdict_text

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow

MAX_PIXELS = 480

FORMATS = {"labels": "localized", "share": "%.0f%%", "score": "%.2f"}
"""How columns of numbers look, by their unit."""


def settings(columns: Sequence[TableColumn[Any]]) -> dict[str, Any]:
    """Return Streamlit's settings for columns, by their units."""
    made: dict[str, Any] = {}
    for entry in columns:
        if entry.unit in FORMATS:
            made[entry.name] = st.column_config.NumberColumn(
                entry.title, format=FORMATS[entry.unit], help=entry.help
            )
        else:
            made[entry.name] = st.column_config.TextColumn(entry.title, help=entry.help)
    return made


def cells(frame: pd.DataFrame, columns: Sequence[TableColumn[Any]]) -> pd.DataFrame:
    """Return the columns of a frame as they are shown: shares in percent, names as text."""
    shown: dict[str, Any] = {}
    for entry in columns:
        if entry.name in frame:
            values = frame[entry.name]
            as_number = entry.unit in FORMATS
            factor = 100 if entry.unit == "share" else 1
            shown[entry.name] = (
                values.to_numpy() * factor if as_number else values.astype(str).to_numpy()
            )
    return pd.DataFrame(shown)


def draw_items(
    run: RunRow,
    items: pd.DataFrame,
    rows: NDArray[np.intp],
    columns: Sequence[TableColumn[Any]],
) -> None:
    """Show the items at the given positions; a selected row becomes the selected item."""
    if not len(rows):
        st.info("No item passes these filters.", icon=":material/filter_alt_off:")
        return
    rows = page_of(rows, key="truths_page", noun="items")
    widgets.table(
        cells(items.iloc[rows], columns),
        key=f"truths_table_{run.id}_{zlib.crc32(rows.tobytes()):08x}",
        alt="Items with their truths",
        columns=settings(columns),
        select="item",
        linked=True,
        height=MAX_PIXELS,
    )


def draw_workers(
    run: RunRow,
    workers: pd.DataFrame,
    ticked_names: Sequence[str],
    columns: Sequence[TableColumn[Any]],
) -> list[str]:
    """Show some workers, of whom several can be ticked; return all who are, shown or not."""
    if workers.empty:
        st.info("No worker passes these filters.", icon=":material/filter_alt_off:")
        return list(ticked_names)
    workers = workers.iloc[page_of(np.arange(len(workers)), key="workers_page", noun="workers")]
    shown = cells(workers, columns)
    shown["verdict"] = [verdict_text(str(verdict)) for verdict in workers["verdict"]]
    return widgets.tick_table(
        shown,
        key=f"workers_table_{run.id}_{zlib.crc32(workers.index.to_numpy().tobytes()):08x}",
        alt="Workers with their verdicts",
        columns=settings(columns),
        select="worker",
        ticked=ticked_names,
        height=MAX_PIXELS,
    )


def draw_worker_metrics(run: RunRow, workers: pd.DataFrame, *, noun: str) -> None:
    """Draw the numbers on top of the Workers page that every kind of labels has."""
    audit = audit_of(cache.kind(run))
    active = workers[workers["verdict"] != EXCLUDED]
    doubtful = active["verdict"].isin(audit.in_doubt)
    labels = active["n_labels"].to_numpy()
    agreement = cache.agreement(run.id)
    row = st.container(horizontal=True)
    widgets.metric(row, "Workers", count(len(active)))
    widgets.metric(
        row,
        "In doubt",
        count(doubtful.sum()),
        help=f"Workers judged {', '.join(audit.in_doubt[:-1])} or {audit.in_doubt[-1]}.",
    )
    widgets.metric(
        row,
        f"Their {noun}",
        percent(labels[doubtful.to_numpy()].sum() / max(1, labels.sum())),
        help=f"The share of all {noun} that came from workers in doubt.",
    )
    widgets.metric(
        row,
        "Undecided",
        count((active["verdict"] == UNKNOWN).sum()),
        help="Workers of whom nothing can be said yet. That is no verdict against them.",
    )
    interval = ""
    if agreement.interval is not None:
        interval = (
            f" Its 95% interval is {agreement.interval[0]:.2f} to {agreement.interval[1]:.2f}."
        )
    widgets.metric(
        row,
        "Agreement (alpha)",
        NOTHING if agreement.alpha is None else f"{agreement.alpha:.2f}",
        help="Krippendorff's alpha: 1 where workers always agree, 0 where no more than by chance."
        f"{interval} {agreement.describe()}",
    )


def draw_verdict(run: RunRow, name: str) -> pd.Series[Any] | None:
    """Head the panel of one worker with the verdict and its evidence; return their numbers."""
    from dashboard.decisions import about_workers

    st.divider()
    widgets.panel_heading(
        f"Worker {escape_md(name, limit=60)}",
        key="worker_close",
        on_close=lambda: ticked.close(run),
    )
    workers = cache.workers(run.id)
    known = workers[workers["worker"] == name]
    if known.empty:
        st.warning("This run's data have no worker of that name; the link may be of another run.")
        return None
    worker = known.iloc[0]
    if name in run.excluded:
        st.markdown("**Excluded from this run.**")
    else:
        verdict = audit_of(cache.kind(run)).verdict_named(worker["verdict"])
        st.markdown(
            f"**{escape_md(verdict_words(worker['verdict']))}.** {escape_md(worker['evidence'])}",
            help=None if verdict is None else f"{verdict.meaning} {verdict.advice}",
        )
        if verdict is not None and verdict.harm:
            st.caption(f"{escape_md(verdict.caveat)} {escape_md(verdict.advice)}")
    about_workers.draw(run, [name], page="workers")
    return worker


def draw_labels(
    run: RunRow, mask: NDArray[np.bool_], columns: Sequence[TableColumn[Any]], *, key: str, alt: str
) -> None:
    """List some labels of a run beside the truths."""
    frame = cache.label_table(run.id).iloc[np.flatnonzero(mask)[:1000]]
    widgets.table(
        cells(frame, columns), key=key, alt=alt, columns=settings(columns), height=MAX_PIXELS
    )
