"""Deciding one item: what it is, who said what, keys to answer with, and what happens then."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from crowdcore.data import DataError
from crowdcore.review.similar import similar_items
from crowdcore.wording import count, percent
from dashboard import cache, layout, state, widgets
from dashboard.decisions import person
from dashboard.kinds import views_of
from dashboard.server import startup
from dashboard.text import escape_md
from dashboard.truths import item as truth_item

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow

KEYS = "1234567890"
"""Keys of the buttons, in the order of the classes; with more classes there is a list instead."""

PICTURE_PIXELS = 320
POLL_SECONDS = 1.0
LAST, LATER, REFIT = "last_decision", "decide_later", "items_refit"
"""Names of what this tab keeps: the decision that can be taken back, items put off, a new run."""

CANNOT = (
    "Spans are corrected in the tool that they were marked in: download the list, correct the "
    "texts there, and add them as gold on the Data page."
)


def draw(
    run: RunRow, name: str, *, why: str, blind: bool = False, audit: str | None = None
) -> None:
    """Show an item and let a person decide it; the next one is drawn by whoever calls.

    Parameters
    ----------
    run
        The run that is looked at.
    name
        The item.
    why
        Why it is asked about, in a sentence; shown below its name.
    blind
        Whether labels and truth are hidden, so that nobody is led.
    audit
        The id of the audit that the item was drawn for.
    """
    code = cache.item_codes(run.id).get(name)
    if code is None:
        st.warning("This run's data have no item of that name; the link may be of another run.")
        return
    left, right = layout.side_by_side(6, 5)
    with left:
        st.subheader(f"What is {escape_md(name, limit=60)}?", anchor=False)
        st.caption(escape_md(why))
        truth_item.draw_details(run, code, width=PICTURE_PIXELS)
        by = person.ask("items_by")
        _draw_answers(run, name, code, by=by, blind=blind, audit=audit)
    with right:
        if blind:
            st.info(
                "Labels and truth are hidden, so that nobody is led. They are kept apart from what "
                "you decide.",
                icon=":material/visibility_off:",
            )
        else:
            _draw_evidence(run, name, code)


def _draw_answers(
    run: RunRow, name: str, code: int, *, by: str, blind: bool, audit: str | None
) -> None:
    kind, classes = cache.kind(run), cache.result(run.id).data.classes
    note = st.text_input("Note", key=f"items_note_{code}", placeholder="Optional", max_chars=2000)
    missing = None if by else "Give your name first."

    def keep(answer: str | None) -> None:
        _keep(run, name, answer, by=by, note=note, blind=blind, audit=audit)

    with st.container(horizontal=True, vertical_alignment="bottom"):
        if kind == "classes" and len(classes) <= len(KEYS):
            for number, label in enumerate(classes, start=1):
                st.button(
                    escape_md(label, limit=40),
                    key=f"items_answer_{number}",
                    shortcut=KEYS[number - 1],
                    disabled=not by,
                    help=missing,
                    on_click=keep,
                    args=(label,),
                )
        else:
            answer = _choose(run, code)
            st.button(
                "Decide",
                key="items_answer",
                type="primary",
                shortcut="Ctrl+Enter",
                disabled=not by or answer is None,
                help=missing,
                on_click=keep,
                args=(answer,),
            )
    with st.container(horizontal=True):
        st.button(
            "Cannot tell",
            key="items_unsure",
            shortcut="U",
            type="tertiary",
            disabled=not by,
            help=missing or "Kept with your name; the item leaves the list.",
            on_click=keep,
            args=(None,),
        )
        st.button(
            "Skip",
            key="items_skip",
            shortcut="S",
            type="tertiary",
            help="Puts it off until this tab is closed; nothing is kept.",
            on_click=_put_off,
            args=(name,),
        )
        last = state.kept(LAST)
        if last is not None:
            st.button(
                f"Take back {escape_md(last[1], limit=30)}",
                key="items_undo",
                shortcut="Z",
                type="tertiary",
                disabled=not by,
                on_click=_take_back,
                args=(run, last[0], by),
            )


def _choose(run: RunRow, code: int) -> str | None:
    """Choose among many classes, several of them, or a number; None if nothing is chosen yet."""
    kind, data = cache.kind(run), cache.result(run.id).data
    if kind == "classes":
        return st.selectbox("Class", data.classes, index=None, key=f"items_class_{code}")
    if kind == "sets":
        chosen = st.multiselect(
            "Classes that apply; none is an answer too", data.classes, key=f"items_set_{code}"
        )
        return json.dumps(chosen, ensure_ascii=False)
    number = st.number_input("Rating", value=None, key=f"items_rating_{code}", format="%g")
    return None if number is None else f"{number:.10g}"


def _keep(
    run: RunRow,
    name: str,
    answer: str | None,
    *,
    by: str,
    note: str,
    blind: bool,
    audit: str | None,
) -> None:
    try:
        made = state.workspace().adjudicate(
            run.id,
            name,
            answer,
            by=by,
            note=note,
            labels_shown=not blind,
            audit=audit,
            data=cache.result(run.id).data,
        )
    except DataError as error:
        st.error(escape_md(error), icon=":material/error:")
        return
    state.keep(LAST, (made.id, name))
    state.select("item", None)


def _put_off(name: str) -> None:
    state.keep(LATER, [*(state.kept(LATER) or []), name])
    state.select("item", None)


def _take_back(run: RunRow, decision_id: str, by: str) -> None:
    try:
        state.workspace().decide(run.project_id, "undo", [decision_id], by=by)
    except DataError as error:
        st.error(escape_md(error), icon=":material/error:")
        return
    state.keep(LAST, None)


def _draw_evidence(run: RunRow, name: str, code: int) -> None:
    if cache.kind(run) != "classes":
        views_of(cache.kind(run)).truths.draw_item(run, name)
        return
    truth_item.draw_facts(run, code)
    truth_item.draw_probabilities(run, code)
    truth_item.draw_labels(run, name)
    _draw_similar(run, code)


def _draw_similar(run: RunRow, code: int) -> None:
    """List items like this one, with what is known of them."""
    data = cache.result(run.id).data
    codes, by = similar_items(data, code)
    if not codes:
        return
    rows = cache.items(run.id).iloc[codes]
    decided = state.workspace().standing(run.project_id, run.dataset_id).truths
    known = [
        decided[item].value if item in decided else str(gold)
        for item, gold in zip(rows["item"], rows["gold"], strict=True)
    ]
    frame = pd.DataFrame(
        {
            "item": rows["item"].to_numpy(),
            "truth": rows["truth"].astype(str).to_numpy(),
            "sure": 100 * rows["confidence"].to_numpy(),
            "known": known,
        }
    )
    column = st.column_config
    what = "their features are closest" if by == "features" else "they got the same labels"
    st.caption(f"Similar items: {what}.")
    widgets.table(
        frame,
        key=f"items_similar_{code}",
        alt="Items like this one",
        columns={
            "item": column.TextColumn("Item", width=90),
            "truth": column.TextColumn("Truth", width=90),
            "sure": column.NumberColumn("Sure", format="%.0f%%", width=60),
            "known": column.TextColumn("Known", width=90, help="Decided, or gold."),
        },
    )


def offer_refit(run: RunRow) -> None:
    """Offer a run by the decisions, which goes on in the background, and open it when it is done.

    Parameters
    ----------
    run
        The run that is open, from which the new one begins.
    """
    workspace = state.workspace()
    used = {made.id for made in run.decisions}
    standing = workspace.standing(run.project_id, run.dataset_id)
    n_new = sum(made.id not in used for made in standing.changing_data)
    queued = state.kept(REFIT)
    if queued is not None and queued[0] == run.id:
        _follow(queued[1])
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(
            f"Refit with {count(n_new, 'new decision')}",
            key="items_refit",
            icon=":material/refresh:",
            disabled=not n_new,
            help=None if n_new else "Decide something first.",
        ):
            _refit(run)
        st.caption(
            "Decided truths act as gold. The run begins from this one and goes on in the "
            "background: you can go on deciding."
        )


def _refit(run: RunRow) -> None:
    workspace = state.workspace()
    try:
        queued = workspace.run_decided(run.id)
    except DataError as error:
        st.error(escape_md(error), icon=":material/error:")
        return
    startup.wake_jobs(workspace)
    state.keep(REFIT, (run.id, queued.id))
    st.rerun()


def _follow(run_id: str) -> None:
    """Say how far the new run is, and offer it once it is done."""
    try:
        row = state.workspace().run(run_id)
    except DataError:  # deleted meanwhile
        return
    label = escape_md(row.label, limit=80)
    if row.active:
        _watch(run_id)
    elif row.status != "done":
        st.warning(f"{label} ended without a result ({row.status}).")
    else:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.success(f"{label} is done.", icon=":material/check:")
            if st.button("Open it", key="items_open_refit", type="primary"):
                state.keep(REFIT, None)
                state.goto("items", run=run_id)


@st.fragment(run_every=POLL_SECONDS)
def _watch(run_id: str) -> None:
    """Draw how far a run is, and the whole page anew when it has ended."""
    row = state.workspace().run(run_id)
    if not row.active:
        st.rerun()
    st.progress(row.share, text=escape_md(f"{row.label}: {layout.stage(row)}", limit=120))


def describe_chance(chance: float) -> str:
    """Say how likely a truth is wrong."""
    return f"About {percent(chance, 0)} likely wrong."
