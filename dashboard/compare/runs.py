"""All runs of a project with their numbers; two are ticked to be compared, one can be renamed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from crowdcore.data import DataError
from crowdcore.results.result import wilson
from crowdcore.wording import NOTHING, duration, interval, when
from dashboard import state, widgets
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.workspace import Dataset, RunRow

MAX_PIXELS = 360


def draw(current: RunRow) -> tuple[RunRow | None, RunRow | None]:
    """Draw the runs of a project.

    Parameters
    ----------
    current
        The run that is open.

    Returns
    -------
    The earlier and the later of two ticked runs; None where fewer or more are ticked.
    """
    workspace = state.workspace()
    rows = [row for row in workspace.runs(current.project_id) if row.status == "done"]
    with_members = False
    if any(row.member_of is not None for row in rows):
        with_members = st.toggle("Members of pools too", key="compare_members")
    rows = [row for row in rows if with_members or row.member_of is None]
    by_id = {row.id: row for row in rows}
    table = _table(rows)
    if table["accuracy"].isna().all():
        table = table.drop(columns=["accuracy", "interval"])
    ticked = widgets.tick_table(
        table,
        key="compare_runs",
        alt="The runs of the project with their numbers",
        select="id",
        ticked=_ticked(rows, current),
        height=MAX_PIXELS,
        columns=_columns(),
    )
    widgets.download_csv(table.drop(columns="id"), "runs.csv", key="compare_runs_csv")
    ticked = [run_id for run_id in ticked if run_id in by_id]
    state.keep("compared_runs", (current.project_id, tuple(ticked)))
    if len(ticked) == 1:
        _draw_name(by_id[ticked[0]])
    if len(ticked) != 2:  # noqa: PLR2004  (two are compared)
        st.caption("Tick two runs to see what differs between them, or one to rename it.")
        return None, None
    before, after = sorted((by_id[run_id] for run_id in ticked), key=lambda row: row.number)
    return before, after


def _ticked(rows: Sequence[RunRow], current: RunRow) -> list[str]:
    """What was ticked last; at first the open run and the one that it was made from."""
    project_id, ticked = state.kept("compared_runs") or (None, ())
    if project_id == current.project_id:
        return list(ticked)
    ids = [row.id for row in rows]
    earlier = current.warm_from if current.warm_from in ids else None
    if earlier is None:
        earlier = next((row.id for row in rows if row.id != current.id), None)
    return [run_id for run_id in (current.id, earlier) if run_id in ids]


def _table(rows: Sequence[RunRow]) -> pd.DataFrame:
    datasets = {
        dataset.id: dataset
        for dataset in (state.workspace().datasets(rows[0].project_id) if rows else ())
    }
    rates = [_rate(row, datasets.get(row.dataset_id)) for row in rows]
    return pd.DataFrame(
        {
            "id": [row.id for row in rows],
            "run": [row.label for row in rows],
            "dataset": [datasets[row.dataset_id].title for row in rows],
            "accuracy": [rate[0] for rate in rates],
            "interval": [rate[1] for rate in rates],
            "score": [row.headline or "–" for row in rows],
            "tied": [row.n_tied for row in rows],
            "decisions": [len(row.decisions) for row in rows],
            "seed": [row.seed for row in rows],
            "took": [duration(row.seconds) for row in rows],
            "finished": [when(row.finished) for row in rows],
        }
    )


def _rate(row: RunRow, dataset: Dataset | None) -> tuple[float | None, str]:
    """The accuracy against gold in percent, with its 95 % interval."""
    if row.accuracy is None or dataset is None or not dataset.n_gold:
        return None, NOTHING
    low, high = wilson(row.accuracy * dataset.n_gold, dataset.n_gold)
    return 100 * row.accuracy, interval(float(low), float(high))


def _columns() -> dict[str, object]:
    column = st.column_config
    return {
        "id": None,
        "run": column.TextColumn("Run", pinned=True, width="large"),
        "dataset": column.TextColumn("Data"),
        "accuracy": column.NumberColumn(
            "Right",
            format=widgets.PERCENT_FORMAT,
            help="The share of items with gold that are right; empty without gold, or if it was "
            "used.",
        ),
        "interval": column.TextColumn("95% interval", help="Of that share, by the number of gold."),
        "score": column.TextColumn("Against gold", help="– without gold, or if it was used."),
        "tied": column.NumberColumn("Ties", help="Items whose best classes are equally likely."),
        "decisions": column.NumberColumn("Decisions", help="Decisions that the run goes by."),
        "seed": column.NumberColumn("Seed", format="%d"),
        "took": column.TextColumn("Took"),
        "finished": column.TextColumn("Finished"),
    }


def _draw_name(row: RunRow) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input(
            f"Name of #{row.number}",
            value=row.name,
            placeholder=row.title,
            key=f"compare_name_{row.id}",
        )
        if st.button("Rename", key="compare_rename", disabled=name.strip() == row.name):
            try:
                state.workspace().rename_run(row.id, name)
            except DataError as error:
                st.error(escape_md(error), icon=":material/error:")
                return
            st.rerun()
