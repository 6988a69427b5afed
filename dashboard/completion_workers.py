"""Workers before and after completion: whether what was filled in for them looks like them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from crowdcore.result import wilson
from dashboard import completion_reads, opening, reads, state
from dashboard.charts.completion import quality_scatter
from dashboard.charts.palette import MOST_POINTS, plain, verdict_words
from dashboard.paging import chosen_point, chosen_row, page_of
from dashboard.text import count, escape_md, interval, percent, percents

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

MANY = 0.2
"""The share of workers who change beyond luck from which the filler seems not to imitate them."""


def draw(run: RunRow, completion: Completion) -> None:
    """Compare workers' own labels with the completed ones, in a chart and a table."""
    _adverse(run, completion)
    _controls(run)
    against = completion_reads.against(run)
    frame = completion_reads.quality(run.id, against)
    left, right = opening.side_by_side(3, 2)
    with left:
        _scatter(run, frame, against)
    with right:
        _meaning(frame, against)
        _chosen(run)
    _table(run, frame)


def _controls(run: RunRow) -> None:
    if not reads.result(run.id).data.has_gold.any():
        return
    picked = st.segmented_control(
        "Right, measured against",
        list(AGAINST),
        default=completion_reads.against(run),
        format_func=lambda one: AGAINST[one].capitalize(),
        key="completion_against",
    )
    state.select("against", "truths" if picked == "truths" else None)


def _meaning(frame: pd.DataFrame, against: Against) -> None:
    """Say in words what happened to the workers, all together and one by one."""
    own, filled = (_together(frame, name) for name in ("own", "filled"))
    row = st.container(horizontal=True)
    row.metric(
        "Given, right",
        percent(own, 0),
        border=True,
        help=f"Of all given labels, against {AGAINST[against]}.",
    )
    row.metric(
        "Filled, right",
        percent(filled, 0),
        border=True,
        help=f"Of all filled labels, against {AGAINST[against]}.",
    )
    words = []
    told = frame[(frame["own_n"] >= completion_reads.FEWEST) & frame["change"].notna()]
    beyond = int(_beyond(told).sum())
    if told.empty:
        words.append(f"No worker has {completion_reads.FEWEST} labels that can be compared.")
    else:
        words.append(
            f"With what was filled in, **{count(beyond)} of {count(len(told), 'worker')}** "
            f"{'is' if beyond == 1 else 'are'} better or worse than luck explains: outside the 95% "
            "interval of their own labels. A filler that imitates each worker keeps everyone near "
            "the line."
        )
    # Better alone proves little: a filler may leave poor workers and doubtful items empty.
    if filled - own > WORTH_SAYING and beyond >= MANY * max(1, len(told)):
        words.append(
            "Filled labels are better than the given ones: the filler repeats what the crowd says "
            "rather than what each worker would say."
        )
    elif own - filled > WORTH_SAYING:
        words.append("Filled labels are worse than the given ones.")
    if against == "truths":
        words.append(
            "The truths were inferred from these very labels, so agreement with them flatters "
            "what was filled in; gold would not."
        )
    for one in words:
        st.markdown(one)


def _together(frame: pd.DataFrame, name: str) -> float:
    """Return the share that is right over all workers; NaN where nothing can be compared."""
    n = frame[f"{name}_n"].to_numpy()
    hits = float((frame[name].fillna(0).to_numpy() * n).sum())
    return hits / n.sum() if n.sum() else np.nan


def _beyond(frame: pd.DataFrame) -> np.ndarray[Any, Any]:
    """Tell whose completed quality lies outside the interval of their own."""
    low, high = _interval(frame)
    whole = frame["completed"].to_numpy()
    return (whole < low) | (whole > high)


def _interval(frame: pd.DataFrame) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    n = frame["own_n"].to_numpy()
    return wilson(frame["own"].fillna(0).to_numpy() * n, n)


def _chosen(run: RunRow) -> None:
    name = state.selection("worker")
    if name in reads.result(run.id).data.workers:
        words = f"Open {escape_md(name, limit=40)} among the workers"
        if st.button(words, icon=":material/arrow_forward:", key="completion_open_worker"):
            state.goto("workers", worker=str(name))
    else:
        st.caption("Click a point or select a row to open the worker.")


def _scatter(run: RunRow, frame: pd.DataFrame, against: Against) -> None:
    known = frame[frame["own"].notna() & frame["completed"].notna()]
    if known.empty:
        st.info("No worker has labels to compare.", icon=":material/info:")
        return
    drawn = known
    if len(known) > MOST_POINTS:
        drawn = known.iloc[np.linspace(0, len(known) - 1, MOST_POINTS).astype(int)]
    key = f"completion_quality_{run.id}_{against}"
    point = chosen_point(st.session_state.get(key))
    state.follow("worker", key, None if point is None else str(point[0]), clears=False)
    st.plotly_chart(
        quality_scatter(
            drawn, _texts(drawn), theme=opening.theme(), selected=state.selection("worker")
        ),
        key=key,
        on_select="rerun",
        selection_mode="points",
        config={"displayModeBar": False},
        alt="Each worker's share of right labels, of their own against completed",
    )
    words = f"Against {AGAINST[against]}. Area is the number of labels given. "
    if len(drawn) < len(frame):
        words += f"{count(len(drawn))} of {count(len(frame))} workers drawn"
        words += "; the others have nothing to compare. " if drawn is known else ". "
    st.caption(words)


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
        f"own: right {percent(own)} of {count(own_n)}<br>"
        f"filled in: right {percent(filled)} of {count(filled_n)}<br>"
        f"together: {percent(whole)}"
        for worker, own, own_n, filled, filled_n, whole, labels, verdict in rows
    ]


def _table(run: RunRow, frame: pd.DataFrame) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        order = st.selectbox("Order", list(ORDERS), key="completion_worker_order", width=220)
    score = frame[ORDERS[order]].to_numpy(np.float64)
    if order == "Changed most first":
        few = frame["own_n"].to_numpy() < completion_reads.FEWEST
        score = np.where(few | np.isnan(score), -1.0, np.abs(score))
    rows = np.argsort(-score, kind="stable")
    rows = rows[completion_reads.labelled(run.id)[rows]]
    shown = frame.iloc[page_of(rows, key="completion_workers_page", noun="workers")]
    first = shown.index[0] if len(shown) else 0
    key = f"completion_workers_{run.id}_{order}_{first}"
    picked = chosen_row(st.session_state.get(key))
    state.follow("worker", key, None if picked is None else str(shown["worker"].iloc[picked]))
    st.dataframe(
        _cells(shown),
        key=key,
        hide_index=True,
        height=420 if len(shown) > 10 else "content",  # noqa: PLR2004  (as tall as the chart)
        column_config=_columns(),
        on_select="rerun",
        selection_mode="single-row",
        lazy=False,
        placeholder="",
        alt="Workers' own, filled and completed labels, and how often they are right",
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
                interval(*ends) if of else "" for *ends, of in zip(low, high, n, strict=True)
            ],
            "n_filled": frame["n_filled"].to_numpy(),
            "filled": percents(frame["filled"]),
            "completed": percents(frame["completed"]),
            "change": 100 * frame["change"].to_numpy(),
            "beyond": np.where(_beyond(frame) & (n >= completion_reads.FEWEST), "beyond luck", ""),
            "verdict": [verdict_words(word) for word in frame["verdict"]],
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


def _adverse(run: RunRow, completion: Completion) -> None:
    """List the workers whom the filler found to answer without or against the others."""
    found = completion.artefacts.get("workers", {}).get("adverse")
    if found is None:
        return
    codes = np.flatnonzero(found)
    if not len(codes):
        st.caption("The filler found no worker whose labels are unrelated or opposed to others'.")
        return
    st.subheader("Workers who did not guide the filling", anchor=False)
    st.markdown(
        f"The filler found the labels of {count(len(codes), 'worker')} unrelated or opposed to "
        "what others say of the same items. Nothing was learnt from them, and nothing was filled "
        "in for them; the labels they gave still count when the truths are inferred."
    )
    workers = reads.workers(run.id).iloc[codes]
    st.dataframe(
        pd.DataFrame(
            {
                "worker": workers["worker"].to_numpy(),
                "labels": workers["n_labels"].to_numpy(),
                "verdict": [verdict_words(word) for word in workers["verdict"]],
                "evidence": workers["evidence"].to_numpy(),
            }
        ),
        key="completion_adverse",
        hide_index=True,
        height=250 if len(codes) > 6 else "content",  # noqa: PLR2004  (leaves room for the rest)
        column_config={
            "worker": st.column_config.TextColumn("Worker", pinned=True),
            "labels": st.column_config.NumberColumn("Given", format="localized", width=70),
            "verdict": st.column_config.TextColumn("Verdict"),
            "evidence": st.column_config.TextColumn("Evidence", width="large"),
        },
        placeholder="",
        alt="Workers who were found to answer without or against the others",
    )
