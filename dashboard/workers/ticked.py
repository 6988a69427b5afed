"""Which workers are ticked in the table: one is shown up close, several are excluded together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from crowdcore.wording import count
from dashboard import cache, state, widgets
from dashboard.decisions import about_workers
from dashboard.workers.table import verdict_text

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow

MAX_PIXELS = 320


def selected(run: RunRow) -> list[str]:
    """Return the ticked workers: the one that the URL names, else those of this tab and run."""
    worker = state.selection("worker")
    if worker is not None:
        return [worker]
    run_id, names = state.kept("ticked_workers") or (None, ())
    return list(names) if run_id == run.id else []


def select(run: RunRow, names: Sequence[str]) -> None:
    """Remember the ticked workers: a single one in the URL, several with this tab."""
    state.select("worker", names[0] if len(names) == 1 else None)
    state.keep("ticked_workers", (run.id, tuple(names)) if len(names) > 1 else None)


def draw(
    run: RunRow,
    workers: pd.DataFrame,
    names: Sequence[str],
    cells: Callable[[pd.DataFrame], dict[str, Sequence[str]]],
) -> None:
    """Show several ticked workers side by side, and offer a run without them.

    `cells` says what is shown of them beside verdict and evidence, by column title.
    """
    st.divider()
    widgets.panel_heading(
        f"{count(len(names), 'worker')} ticked", key="workers_untick", on_close=lambda: close(run)
    )
    about_workers.draw(run, names, page="workers")
    shown = workers[workers["worker"].isin(names)]
    column = st.column_config
    widgets.table(
        pd.DataFrame(
            {
                "worker": shown["worker"].to_numpy(),
                "verdict": [verdict_text(verdict) for verdict in shown["verdict"]],
                **cells(shown),
                "labels": cache.with_all_labels(run).data.labels_per_worker[shown.index],
                "evidence": shown["evidence"].to_numpy(),
            }
        ),
        alt="The ticked workers with their evidence",
        height=MAX_PIXELS,
        columns={
            "worker": column.TextColumn("Worker", pinned=True, width=90),
            "verdict": column.TextColumn("Verdict", width=125),
            "labels": column.NumberColumn("Labels", width=70, format="localized"),
            "evidence": column.TextColumn("Evidence", width="large"),
        },
    )
    st.caption("Tick a single worker for charts and the labels behind the verdict.")


def close(run: RunRow) -> None:
    """Untick everybody."""
    select(run, ())
    # A new key for the charts, which would otherwise still hold the point that was clicked.
    state.keep("workers_closed", (state.kept("workers_closed") or 0) + 1)
