"""Runs as they wait, work and end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from crowdcore import DataError
from crowdcore.wording import count, duration, percent, when
from dashboard import cache, layout, state, widgets
from dashboard.run import again
from dashboard.run.forms import label_of
from dashboard.text import escape_md, list_names

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow

POLL_SECONDS = 0.7
SHOWN = 8
"""Runs of a list that are shown at once."""

MAX_CURVE_POINTS = 300
"""Points that a curve is drawn with."""

BADGES = {
    "queued": ("gray", ":material/hourglass_top:", "waiting"),
    "running": ("blue", ":material/progress_activity:", "running"),
    "done": ("green", ":material/check_circle:", "done"),
    "failed": ("red", ":material/error:", "failed"),
    "cancelled": ("gray", ":material/stop_circle:", "stopped"),
    "lost": ("orange", ":material/link_off:", "interrupted"),
}


def draw_active(project_id: str, runs: Sequence[RunRow]) -> None:
    """Show what waits and works, and follow it as long as there is something to follow.

    `runs` are those of the project as the page began to draw: both lists come from one look,
    or a run that ends between two would stand in both.
    """
    active = frozenset(row.id for row in runs if row.active)
    if active:
        st.fragment(_follow, run_every=POLL_SECONDS)(project_id, active)


def draw_ended(runs: Sequence[RunRow]) -> None:
    """List the runs that had ended as the page began to draw, the newest first."""
    ended = [row for row in runs if not row.active]
    ids = {row.id for row in ended}
    rows = [row for row in ended if row.member_of not in ids]
    if not rows:
        return
    st.subheader("Earlier runs", anchor=False)
    shown = rows if state.kept("all_runs") else rows[:SHOWN]
    newest = next((row.id for row in rows if row.status == "done"), None)
    for row in shown:
        with st.container(border=True, key=f"run_{row.id}"):
            _draw_run(row, is_newest=row.id == newest)
            _draw_members([member for member in ended if member.member_of == row.id])
    if len(rows) > len(shown) and st.button(f"Show all {count(len(rows), 'run')}"):
        state.keep("all_runs", True)
        st.rerun()


def _follow(project_id: str, active: frozenset[str]) -> None:
    """Draw the runs that are active; the whole page anew once they are no longer the same."""
    rows = [row for row in state.workspace().runs(project_id) if row.active]
    if active != {row.id for row in rows}:
        st.rerun()
    working = [row for row in reversed(rows) if row.status == "running"]
    waiting = [row for row in reversed(rows) if row.status == "queued"]
    for row in working:
        with st.container(border=True, key=f"run_{row.id}"):
            _draw_headline(row)
            st.progress(row.share, text=_step_text(row))
            _draw_sparks(row)
    if waiting:
        with st.container(border=True, key="waiting"):
            for row in waiting[:SHOWN]:
                _draw_headline(row)
            if len(waiting) > SHOWN:
                st.caption(f"and {count(len(waiting) - SHOWN)} more")


def _draw_headline(row: RunRow) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        layout.write_beside(f"**{escape_md(row.label)}** {_badge(row)}")
        st.button(
            "Stopping…" if row.stopping else "Stop",
            key=f"stop:{row.id}",
            icon=":material/stop:",
            type="tertiary" if row.status == "queued" else "secondary",
            disabled=row.stopping,
            on_click=state.workspace().cancel,
            args=[row.id],
        )


def _draw_run(row: RunRow, *, is_newest: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        layout.write_beside(f"**{escape_md(row.label)}** {_badge(row)}")
        _delete(row)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(_facts(row), width="stretch")
        if row.status == "done" and st.button(
            "Open results",
            key=f"open:{row.id}",
            icon=":material/arrow_forward:",
            type="primary" if is_newest else "secondary",
        ):
            state.goto("overview", run=row.id)
        if (
            st.button("Run again", key=f"again:{row.id}", icon=":material/replay:")
            and again.queue_again(row) is not None
        ):
            st.rerun()
    if row.status == "failed":
        st.error(escape_md(row.error or "The run failed."), icon=":material/error:")
    if row.status == "lost":
        st.warning(
            "The computer or the job process stopped while this run was working. "
            "Run it again: the same settings and seed give the same result.",
            icon=":material/link_off:",
        )
    title = "Settings and curve" if row.status == "done" else "Settings and log"
    details = st.expander(title, key=f"details:{row.id}", on_change="rerun")
    if details.open:
        with details:
            _draw_details(row)


def _draw_members(rows: list[RunRow]) -> None:
    """List the runs that a pool is made of."""
    if not rows:
        return
    members = st.expander(count(len(rows), "member"), key=f"members:{rows[0].member_of}")
    for row in reversed(rows):
        with members.container(horizontal=True, vertical_alignment="center"):
            layout.write_beside(f"**{escape_md(row.label)}** :gray[{_facts(row)}]")
            if st.button("Open", key=f"open:{row.id}", type="tertiary"):
                state.goto("truths", run=row.id)


def _draw_details(row: RunRow) -> None:
    settings = {**row.params, "seed": row.seed, "device": row.device}
    if row.warm_from is not None:
        settings["begin_from"] = _start_label(row.warm_from)
    facts = [f"{label_of(name)} **{_value_text(value)}**" for name, value in settings.items()]
    st.markdown(" · ".join(facts))
    if row.excluded:
        workers = count(len(row.excluded), "worker")
        st.markdown(f"Without the labels of {workers}: {list_names(row.excluded, max_names=50)}.")
    if row.status == "done":
        for note in cache.provenance(row.id).get("notes") or ():
            st.info(escape_md(note))
        _draw_curve(row.id)
    elif log := state.workspace().log(row.id):
        st.code(log, language=None, height=240)


def _start_label(run_id: str) -> str:
    try:
        return state.workspace().run(run_id).label
    except DataError:
        return "a run that was deleted"


def _delete(row: RunRow) -> None:
    """Ask before a run goes."""
    with st.popover(":material/delete:", help="Delete", type="tertiary", key=f"ask:{row.id}"):
        st.write("The run and its results go to the trash, from where the Data page restores them.")
        if st.button("Delete this run", key=f"delete:{row.id}", icon=":material/delete:"):
            state.workspace().delete_run(row.id)
            state.forget_run(row.id)
            st.rerun()


def _badge(row: RunRow) -> str:
    colour, icon, word = BADGES[row.status]
    return f":{colour}-badge[{icon} {word}]"


def _step_text(row: RunRow) -> str:
    """Say how far a run is and how long it may still take."""
    if not row.total:
        return escape_md(row.stage) if row.stage else "Getting ready"
    facts = [f"{escape_md(row.stage)}, step {count(row.step)} of {count(row.total)}"]
    if row.speed >= 1:
        facts.append(f"{count(row.speed)} steps per second")
    elif row.speed > 0:
        facts.append(f"{duration(1 / row.speed)} per step")
    if row.speed > 0 and row.step < row.total:
        facts.append(f"at most {duration((row.total - row.step) / row.speed)} left")
    return " · ".join(facts)


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "automatic" if value is None or value == "auto" else escape_md(value)


def _facts(row: RunRow) -> str:
    facts = [when(row.finished or row.created)]
    if row.status == "done":
        facts.append(f"took {duration(row.seconds)}")
        provenance = cache.provenance(row.id)
        if provenance.get("converged") is not None:
            converged = "converged" if provenance["converged"] else "not converged"
            facts.append(f"{converged} in {count(provenance['steps'], 'step')}")
        if row.headline:
            facts.append(row.headline)
        elif row.accuracy is not None:  # a run of an earlier version
            facts.append(f"{percent(row.accuracy)} right against gold")
        if row.n_tied:
            facts.append(count(row.n_tied, "tie"))
    elif row.total:
        facts.append(f"ended at step {count(row.step)} of {count(row.total)}")
    return " · ".join(facts)


def _draw_sparks(row: RunRow) -> None:
    """Show the numbers that a working run logs, each with its course so far."""
    history = state.workspace().history(row.id)
    stage = history[history["stage"] == row.stage]
    with st.container(horizontal=True):
        for name in row.metrics:
            values = stage[name].dropna().tolist() if name in stage else []
            if values:
                st.metric(
                    label_of(name),
                    f"{values[-1]:.6g}",
                    chart_data=values[:: math.ceil(len(values) / MAX_CURVE_POINTS)],
                    chart_type="line",
                )


def _draw_curve(run_id: str) -> None:
    """Draw what the run has logged, with as many points as can be told apart."""
    from dashboard.charts.history import history_curve

    history = state.workspace().history(run_id)
    if len(history) < 2 or len(history.columns) <= 2:  # noqa: PLR2004  (stage and step)
        return
    thinned = history.iloc[:: math.ceil(len(history) / MAX_CURVE_POINTS)]
    labels = {name: label_of(name) for name in history.columns if name not in {"stage", "step"}}
    widgets.chart(
        history_curve(thinned.rename(columns=labels), theme=layout.theme()),
        key=f"curve:{run_id}",
        alt="What the run logged at each step",
    )
