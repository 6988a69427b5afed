"""Deciding about workers: see what it would change, give the reason, run by it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from crowdcore.data import UNKNOWN, DataError
from crowdcore.decisions import CHANGE_DATA, MIN_GROUP, NEED_REASON, Action, names_text
from crowdcore.decisions.applying import surplus_votes
from crowdcore.wording import count
from dashboard import cache, state
from dashboard.decisions import effect, person
from dashboard.server import startup
from dashboard.text import escape_md, list_names

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow

ACTIONS: dict[Action, str] = {
    "exclude": "Exclude",
    "leave_out": "Leave out a part",
    "one_vote": "Vote once",
    "watch": "Watch",
    "keep": "Keep",
}

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
    "leave_out": ("Stops looking at the items", "Answers faster than one can read"),
    "one_vote": ("Same answers, also where both are wrong", "One person with several accounts"),
    "watch": ("Too few labels to tell", "Asked them about it", "Will look at more items"),
    "keep": ("Looked at their items: they are right", "Their bias is corrected by the method"),
}
"""What people usually say; another reason can be typed."""


def draw(run: RunRow, names: Sequence[str], *, page: str, note: str = "") -> None:
    """Offer to exclude, watch or keep some workers, with a reason, and to run by the decision.

    Of a worker who is worse in part, that part can be left out alone; workers who answer alike can
    be made to vote once. Workers who are all left out already are offered to be taken in again.
    After a decision that changes the data the new run is opened on the same page, where its
    progress and then its results are shown.

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
        part, group = ([], []) if is_back else _offers(run, names)
        action: Action = "keep" if is_back else _choose_action(page, part=part, group=group)
        chosen = [name for name in names if is_back or name not in run.excluded]
        if action != "exclude":
            chosen = group if action == "one_vote" else list(names)
        problem = _problem(run, chosen) if action == "exclude" else None
        if action == "exclude" and problem is None:
            effect.draw(run, chosen, page=page)
        reason, text, by = _ask(page, action)
        missing = problem or ("" if by else "Give your name first.")
        if action in NEED_REASON and not reason:
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
            explanation = _explanation(run, action, chosen, part=part, is_back=is_back)
            st.caption(f"{explanation} {note}")
    if pressed:
        subjects = [names_text(chosen)] if action == "one_vote" else chosen
        value = names_text(part) if action == "leave_out" else ""
        _decide(run, action, subjects, value=value, page=page, by=by, reason=reason, note=text)


def _offers(run: RunRow, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Items whose labels of a single worker are the worse part, and workers who may vote once."""
    from crowdcore.audit.judging.worse_part import worse_part

    evidence, data = cache.evidence(run.id), cache.result(run.id).data
    if evidence is None:
        return [], []
    if len(names) > 1:
        return [], [name for name in names if name not in run.excluded]
    code = data.workers.index(names[0])
    part = [data.items[item] for item in data.item[worse_part(data, evidence, code)].tolist()]
    number = evidence.group[code]
    members = np.flatnonzero(evidence.group == number) if number != UNKNOWN else np.zeros(0, int)
    return part, [data.workers[member] for member in members.tolist()]


def _choose_action(page: str, *, part: Sequence[str], group: Sequence[str]) -> Action:
    offered = {
        "leave_out": bool(part),
        "one_vote": len(group) >= MIN_GROUP,
    }
    chosen = st.segmented_control(
        "Decision",
        [action for action in ACTIONS if offered.get(action, True)],
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
    subjects: Sequence[str],
    *,
    value: str,
    page: str,
    by: str,
    reason: str,
    note: str,
) -> None:
    """Keep the decision; where it changes the data, run by it and open the run."""
    workspace = state.workspace()
    try:
        workspace.decide(
            run.project_id,
            action,
            subjects,
            value=value,
            by=by,
            reason=reason,
            note=note,
            run_id=run.id,
        )
        changes = action in CHANGE_DATA or _is_left_out(run, subjects)
        queued = workspace.run_decided(run.id) if changes else None
        workspace.discard_previews(run.project_id)
    except DataError as error:
        st.error(escape_md(error), icon=":material/error:")
        return
    if queued is None:
        st.toast(f"Kept: {ACTIONS[action].lower()} {list_names(subjects)}", icon=":material/gavel:")
        return
    startup.wake_jobs(workspace)
    state.goto(page, run=queued.id)


def _is_left_out(run: RunRow, names: Sequence[str]) -> bool:
    """Whether the run leaves out labels of some of these workers, in part or all."""
    in_part = {made.subject for made in run.decisions if made.action == "leave_out"}
    return any(name in run.excluded or name in in_part for name in names)


def _button_label(action: Action, n_workers: int, *, is_back: bool) -> str:
    workers = "" if n_workers == 1 else f" {count(n_workers, 'worker')}"
    if is_back:
        return f"Take in{workers} and run again"
    if action == "exclude":
        return f"Exclude{workers} and run again"
    if action in CHANGE_DATA:
        return f"{ACTIONS[action]} and run again"
    return f"{ACTIONS[action]}{workers}"


def _explanation(
    run: RunRow, action: Action, names: Sequence[str], *, part: Sequence[str], is_back: bool
) -> str:
    """Say what will happen."""
    if action not in CHANGE_DATA and not is_back:
        if _is_left_out(run, names):
            return "Kept among the decisions. Queues a run with all their labels, and opens it."
        return "Kept among the decisions with what this run says of them. No label is left out."
    labels = f"{'with' if is_back else 'without'} the labels of {list_names(names)}"
    if action == "leave_out":
        labels = f"without the {count(len(part), 'label')} of their worse part"
    if action == "one_vote":
        n_lost = int(surplus_votes(cache.result(run.id).data, names).sum())
        labels = (
            f"with one vote per item of {list_names(names)} together, which leaves out "
            f"{count(n_lost, 'label')}"
        )
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
