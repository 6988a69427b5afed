"""Workers before and after completion: whether what was filled in for them looks like them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from crowdcore.artefacts.adverse_workers import AdverseWorkers
from crowdcore.results.result import wilson
from crowdcore.wording import count, interval, percent, percent_of, percents
from dashboard import cache, layout, state, widgets
from dashboard.charts.completion import quality_scatter
from dashboard.charts.palette import MAX_POINTS, plain, verdict_words
from dashboard.completion import reads
from dashboard.tables import page_of

if TYPE_CHECKING:
    from crowdcore.artefacts.completion import Completion
    from crowdcore.audit.completion import Against
    from crowdcore.workspace import RunRow

AGAINST: dict[Against, str] = {"gold": "gold", "truths": "the inferred truths"}
ORDERS = {
    "Changed most first": "change",
    "Most labels first": "n_labels",
    "Most filled first": "n_filled",
}
WORTH_SAYING = 0.05
"""How much better or worse filled labels must be for the page to say so."""

MAX_PIXELS = 420  # as tall as the chart

MANY = 0.2
"""The share of workers who change beyond luck from which the filler seems not to imitate them."""


def draw(run: RunRow, completion: Completion) -> None:
    """Compare workers' own labels with the completed ones, in a chart and a table."""
    _draw_adverse(run)
    _draw_controls(run)
    against = reads.against(run)
    frame = reads.quality(run.id, against)
    left_column, right_column = layout.side_by_side(3, 2)
    with left_column:
        _draw_scatter(run, frame, against)
    with right_column:
        _draw_meaning(frame, against)
        _draw_selected(run)
    _draw_table(run, frame)


def _draw_controls(run: RunRow) -> None:
    if not cache.result(run.id).data.has_gold.any():
        return
    picked = st.segmented_control(
        "Right, measured against",
        list(AGAINST),
        default=reads.against(run),
        format_func=lambda name: AGAINST[name].capitalize(),
        key="completion_against",
    )
    state.select("against", "truths" if picked == "truths" else None)


def _draw_meaning(frame: pd.DataFrame, against: Against) -> None:
    """Say in words what happened to the workers, all together and one by one."""
    given, filled = (_overall(frame, name) for name in ("own", "filled"))
    row = st.container(horizontal=True)
    for name, share in (("given", given), ("filled", filled)):
        widgets.metric(
            row,
            f"{name.capitalize()}, right",
            percent(share, 0),
            help=f"Of all {name} labels, against {AGAINST[against]}.",
        )
    sentences = []
    compared = frame[(frame["own_n"] >= reads.MIN_LABELS) & frame["change"].notna()]
    n_beyond = int(_beyond(compared).sum())
    if compared.empty:
        sentences.append(f"No worker has {reads.MIN_LABELS} labels that can be compared.")
    else:
        sentences.append(
            f"With what was filled in, **{count(n_beyond)} of {count(len(compared), 'worker')}** "
            f"{'is' if n_beyond == 1 else 'are'} better or worse than luck explains: outside the "
            "95% interval of their own labels. A filler that imitates each worker keeps everyone "
            "near the line."
        )
    # Better alone proves little: a filler may leave poor workers and doubtful items empty.
    if filled - given > WORTH_SAYING and n_beyond >= MANY * max(1, len(compared)):
        sentences.append(
            "Filled labels are better than the given ones: the filler repeats what the crowd says "
            "rather than what each worker would say."
        )
    elif given - filled > WORTH_SAYING:
        sentences.append("Filled labels are worse than the given ones.")
    if against == "truths":
        sentences.append(
            "The truths were inferred from these very labels, so agreement with them flatters "
            "what was filled in; gold would not."
        )
    for sentence in sentences:
        st.markdown(sentence)


def _overall(frame: pd.DataFrame, name: str) -> float:
    """Return the share that is right over all workers; NaN where nothing can be compared."""
    n = frame[f"{name}_n"].to_numpy()
    n_right = float((frame[name].fillna(0).to_numpy() * n).sum())
    return n_right / n.sum() if n.sum() else np.nan


def _beyond(frame: pd.DataFrame) -> np.ndarray[Any, Any]:
    """Tell whose completed quality lies outside the interval of their own."""
    low, high = _interval(frame)
    completed = frame["completed"].to_numpy()
    return (completed < low) | (completed > high)


def _interval(frame: pd.DataFrame) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    n = frame["own_n"].to_numpy()
    return wilson(frame["own"].fillna(0).to_numpy() * n, n)


def _draw_selected(run: RunRow) -> None:
    name = state.selection("worker")
    is_here = name in cache.result(run.id).data.workers
    widgets.open_worker(name if is_here else None, key="completion_open_worker")


def _draw_scatter(run: RunRow, frame: pd.DataFrame, against: Against) -> None:
    compared = frame[frame["own"].notna() & frame["completed"].notna()]
    if compared.empty:
        st.info("No worker has labels to compare.", icon=":material/info:")
        return
    drawn = compared
    if len(compared) > MAX_POINTS:
        drawn = compared.iloc[np.linspace(0, len(compared) - 1, MAX_POINTS).astype(int)]
    key = f"completion_quality_{run.id}_{against}"
    widgets.follow_click(key, "worker")
    widgets.chart(
        quality_scatter(
            drawn, _texts(drawn), theme=layout.theme(), selected=state.selection("worker")
        ),
        key=key,
        alt="Each worker's share of right labels, of their own against completed",
        select="points",
    )
    note = f"Against {AGAINST[against]}. Area is the number of labels given. "
    if len(drawn) < len(frame):
        note += f"{count(len(drawn))} of {count(len(frame))} workers drawn"
        note += "; the others have nothing to compare. " if drawn is compared else ". "
    st.caption(note)


def _texts(frame: pd.DataFrame) -> list[str]:
    rows = zip(
        *(
            frame[name].tolist()
            for name in (
                *("worker", "own", "own_n", "filled", "filled_n", "completed", "n_labels"),
                "verdict",
            )
        ),
        strict=True,
    )
    return [
        f"<b>{plain(worker, 40)}</b>, {plain(verdict)}<br>{count(labels, 'label')} given<br>"
        f"given: right {percent_of(given, n_given, 1)}<br>"
        f"filled in: right {percent_of(filled, n_filled, 1)}<br>"
        f"together: {percent(completed)}"
        for worker, given, n_given, filled, n_filled, completed, labels, verdict in rows
    ]


def _draw_table(run: RunRow, frame: pd.DataFrame) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        order = st.selectbox("Order", list(ORDERS), key="completion_worker_order", width=220)
    score = frame[ORDERS[order]].to_numpy(np.float64)
    if order == "Changed most first":
        too_few = frame["own_n"].to_numpy() < reads.MIN_LABELS
        score = np.where(too_few | np.isnan(score), -1.0, np.abs(score))
    rows = np.argsort(-score, kind="stable")
    rows = rows[reads.labelled(run.id)[rows]]
    shown = frame.iloc[page_of(rows, key="completion_workers_page", noun="workers")]
    first = shown.index[0] if len(shown) else 0
    widgets.table(
        _cells(shown),
        key=f"completion_workers_{run.id}_{order}_{first}",
        alt="Workers' own, filled and completed labels, and how often they are right",
        columns=_columns(),
        select="worker",
        linked=True,
        height=MAX_PIXELS,
    )


def _cells(frame: pd.DataFrame) -> pd.DataFrame:
    n = frame["own_n"].to_numpy()
    low, high = _interval(frame)
    return pd.DataFrame(
        {
            "worker": frame["worker"].to_numpy(),
            "labels": frame["n_labels"].to_numpy(),
            "own": percents(frame["own"]),
            "interval": [
                interval(*ends) if total else "" for *ends, total in zip(low, high, n, strict=True)
            ],
            "n_filled": frame["n_filled"].to_numpy(),
            "filled": percents(frame["filled"]),
            "completed": percents(frame["completed"]),
            "change": 100 * frame["change"].to_numpy(),
            "beyond": np.where(_beyond(frame) & (n >= reads.MIN_LABELS), "beyond luck", ""),
            "verdict": [verdict_words(verdict) for verdict in frame["verdict"]],
        }
    )


def _columns() -> dict[str, Any]:
    column = st.column_config
    return {
        "worker": column.TextColumn("Worker", pinned=True),
        "labels": column.NumberColumn("Given", format="localized", width=60),
        "own": column.NumberColumn(
            "Right", format="%.1f%%", width=65, help="Of the labels they gave."
        ),
        "interval": column.TextColumn("95% interval", width=85),
        "n_filled": column.NumberColumn("Filled", format="localized", width=65),
        "filled": column.NumberColumn(
            "Right, filled", format="%.1f%%", width=85, help="Of the labels filled in for them."
        ),
        "completed": column.NumberColumn(
            "Right, all", format="%.1f%%", width=75, help="Given and filled labels together."
        ),
        "change": column.NumberColumn(
            "Change", format="%+.1f", width=65, help="All less given, in points."
        ),
        "beyond": column.TextColumn(
            " ", width=95, help="Outside the 95% interval of their own labels."
        ),
        "verdict": column.TextColumn(
            "Verdict", width=125, help="On the labels they gave, as on the Workers page."
        ),
    }


def _draw_adverse(run: RunRow) -> None:
    """List the workers whom the filler found to answer without or against the others."""
    left_out = cache.result(run.id).artefact(AdverseWorkers)
    if left_out is None:
        return
    codes = np.flatnonzero(left_out.adverse)
    if not len(codes):
        st.caption("The filler found no worker whose labels are unrelated or opposed to others'.")
        return
    st.subheader("Workers who did not guide the filling", anchor=False)
    st.markdown(
        f"The filler found the labels of {count(len(codes), 'worker')} unrelated or opposed to "
        "what others say of the same items. Nothing was learnt from them, and nothing was filled "
        "in for them; the labels they gave still count when the truths are inferred."
    )
    workers = cache.workers(run.id).iloc[codes]
    column = st.column_config
    widgets.table(
        pd.DataFrame(
            {
                "worker": workers["worker"].to_numpy(),
                "labels": workers["n_labels"].to_numpy(),
                "verdict": [verdict_words(verdict) for verdict in workers["verdict"]],
                "evidence": workers["evidence"].to_numpy(),
            }
        ),
        key="completion_adverse",
        alt="Workers who were found to answer without or against the others",
        height=250,
        columns={
            "worker": column.TextColumn("Worker", pinned=True),
            "labels": column.NumberColumn("Given", format="localized", width=70),
            "verdict": column.TextColumn("Verdict"),
            "evidence": column.TextColumn("Evidence", width="large"),
        },
    )
