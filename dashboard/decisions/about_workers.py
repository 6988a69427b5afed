"""Deciding about workers: see what it would change, give the reason, run by it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from crowdcore.data import DataError
from crowdcore.decisions import Action
from crowdcore.wording import count
from dashboard import cache, state
from dashboard.decisions import effect, person
from dashboard.server import startup
from dashboard.text import escape_md, list_names

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow

ACTIONS: dict[Action, str] = {"exclude": "Exclude", "watch": "Watch", "keep": "Keep"}

REASONS: dict[Action, tuple[str, ...]] = {
    "exclude": (
        "Answers at random",
        "Gives one answer whatever the item is",
        "Answers the opposite of what is meant",
        "Same answers as another worker",
        "Answers faster than one can read",
        "Fails gold items",
        "Below the required accuracy",
    ),
    "watch": ("Too few labels to tell", "Asked them about it", "Will look at more items"),
    "keep": ("Looked at their items: they are right", "Their bias is corrected by the method"),
}
"""What people usually say; another reason can be typed."""


def draw(run: RunRow, names: Sequence[str], *, page: str, note: str = "") -> None:
    """Offer to exclude, watch or keep some workers, with a reason, and to run by the decision.

    Workers who are all left out already are offered to be taken in again. After a decision that
    changes the data the new run is opened on the same page, where its progress and then its results
    are shown.

    Parameters
    ----------
    run
        The run that is open.
    names
        The workers to decide about.
    page
        The page that the offer stands on, and on which the new run opens.
    note
        What else is to be considered; Markdown.
    """
    is_back = all(name in run.excluded for name in names)
    with st.container(border=True, key=f"{page}_decision"):
        action: Action = "keep" if is_back else _choose_action(page)
        chosen = [name for name in names if is_back or name not in run.excluded]
        if action != "exclude":
            chosen = list(names)
        problem = _problem(run, chosen) if action == "exclude" else None
        if action == "exclude" and problem is None:
            effect.draw(run, chosen, page=page)
        reason, text, by = _ask(page, action)
        missing = problem or ("" if by else "Give your name first.")
        if action == "exclude" and not reason:
            missing = missing or "Choose or type a reason first."
        label = _button_label(action, len(chosen), is_back=is_back)
        with st.container(horizontal=True, vertical_alignment="center"):
            pressed = st.button(
                label,
                icon=":material/person_add:" if is_back else ":material/gavel:",
                key=f"{page}_exclude",
                type="primary",
                disabled=bool(missing),
                help=missing or None,
            )
            st.caption(_explanation(run, action, chosen, is_back=is_back) + f" {note}")
    if pressed:
        _decide(run, action, chosen, page=page, by=by, reason=reason, note=text)


def _choose_action(page: str) -> Action:
    chosen = st.segmented_control(
        "Decision",
        list(ACTIONS),
        default="exclude",
        format_func=lambda action: ACTIONS.get(action, action),
        key=f"{page}_action",
    )
    return chosen or "exclude"


def _ask(page: str, action: Action) -> tuple[str, str, str]:
    """Ask for the reason, a note and the name."""
    left, middle, right = st.columns([3, 3, 2])
    with left:
        reason = st.selectbox(
            "Reason",
            REASONS[action],
            index=None,
            placeholder="Choose or type",
            accept_new_options=True,
            key=f"{page}_reason_{action}",
        )
    with middle:
        note = st.text_input("Note", key=f"{page}_note", placeholder="Optional")
    with right:
        by = person.ask(f"{page}_by")
    return reason or "", note, by


def _decide(
    run: RunRow,
    action: Action,
    names: Sequence[str],
    *,
    page: str,
    by: str,
    reason: str,
    note: str,
) -> None:
    """Keep the decision; where it changes the data, run by it and open the run."""
    workspace = state.workspace()
    try:
        workspace.decide(
            run.project_id, action, names, by=by, reason=reason, note=note, run_id=run.id
        )
        changes = action == "exclude" or any(name in run.excluded for name in names)
        queued = workspace.run_decided(run.id) if changes else None
        workspace.discard_previews(run.project_id)
    except DataError as error:
        st.error(escape_md(error), icon=":material/error:")
        return
    if queued is None:
        st.toast(f"Kept: {ACTIONS[action].lower()} {list_names(names)}", icon=":material/gavel:")
        return
    startup.wake_jobs(workspace)
    state.goto(page, run=queued.id)


def _button_label(action: Action, n_workers: int, *, is_back: bool) -> str:
    workers = "" if n_workers == 1 else f" {count(n_workers, 'worker')}"
    if is_back:
        return f"Take in{workers} and run again"
    if action == "exclude":
        return f"Exclude{workers} and run again"
    return f"{ACTIONS[action]}{workers}"


def _explanation(run: RunRow, action: Action, names: Sequence[str], *, is_back: bool) -> str:
    """Say what will happen."""
    if action != "exclude" and not is_back:
        return "Kept among the decisions with what this run says of them. No label is left out."
    labels = f"{'with' if is_back else 'without'} the labels of {list_names(names)}"
    sentence = (
        f"Kept among the decisions. Queues {escape_md(run.title)} with the same settings and seed, "
        f"{labels}, and opens it. This run and the data stay as they are."
    )
    still_out = [name for name in run.excluded if name not in set(names)]
    return f"{sentence} Still left out: {list_names(still_out)}." if still_out else sentence


def _problem(run: RunRow, names: Sequence[str]) -> str | None:
    """Say why some workers cannot be left out; None if they can."""
    data = cache.result(run.id).data
    codes = {name: code for code, name in enumerate(data.workers)}
    n_active = sum(bool(data.labels_per_worker[codes[name]]) for name in names)
    if n_active == 0:
        return "No label to leave out: nobody chosen here has one in this run."
    if n_active >= cache.active_workers(run):
        return "Nobody else has labels; without them there would be none."
    return None
