"""Guideline problems on the Items page: what good workers differ on, and what merging would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from crowdcore.data import DataError
from crowdcore.review.guideline import CANNOT
from crowdcore.wording import count, file_stem
from dashboard import cache, state, widgets
from dashboard.decisions import person
from dashboard.server import startup
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.review.guideline import GuidelineProblems
    from crowdcore.workspace import RunRow

MAX_PIXELS = 360


def draw(run: RunRow) -> None:
    """Draw what good workers of a run differ on.

    Parameters
    ----------
    run
        The run that is open.
    """
    st.write(
        "Bad workers differ from everybody. Where good workers differ from each other, more than "
        "their usual errors explain, the instructions are unclear or the classes cannot be told "
        "apart."
    )
    kind = cache.kind(run)
    if kind in CANNOT:
        st.info(CANNOT[kind], icon=":material/info:")
        return
    n_entries = len(state.workspace().decisions(run.project_id))
    try:
        problems = cache.guideline_problems(run.id, n_entries)
    except DataError as error:
        st.info(escape_md(error), icon=":material/info:")
        return
    st.write(escape_md(problems.describe()))
    _draw_pairs(problems)
    _draw_merge(run, problems)
    _draw_items(run, problems)


def _draw_pairs(problems: GuidelineProblems) -> None:
    st.subheader("Classes", anchor=False)
    frame = problems.pairs.copy()
    for name in ("differ", "by_noise", "of_good"):
        frame[name] *= 100
    frame["is_problem"] = ["unclear" if each else "" for each in frame["is_problem"]]
    column = st.column_config
    widgets.table(
        frame,
        key="guideline_pairs",
        alt="Pairs of classes by how often good workers differ on them",
        height=MAX_PIXELS,
        columns={
            "first": column.TextColumn("Class", width=140),
            "second": column.TextColumn("Other class", width=140),
            "differ": column.NumberColumn(
                "Differ",
                format="%.1f%%",
                help="How often two good labels of an item of either class name one each.",
            ),
            "by_noise": column.NumberColumn(
                "By error",
                format="%.1f%%",
                help="How often they would if errors fell on classes as often as these are given.",
            ),
            "n_differ": column.NumberColumn("Pairs of labels", format="localized"),
            "of_good": column.NumberColumn(
                "Between good",
                format="%.0f%%",
                help="The part of all such differences that is between good workers; the rest "
                "involves others.",
            ),
            "is_problem": column.TextColumn("", width=80),
        },
    )


def _draw_merge(run: RunRow, problems: GuidelineProblems) -> None:
    """Say what merging two classes would change, and let it be decided."""
    classes = problems.result.data.classes
    if len(classes) <= 2:  # noqa: PLR2004  (merged, they would leave nothing to tell apart)
        st.caption(
            "There are only two classes: merged, they would leave nothing to tell apart. Clearer "
            "instructions can help; the items below show what is unclear."
        )
        return
    goes, stays = _rarer_first(problems)
    st.subheader("Count one class as another", anchor=False)
    columns = st.columns(2)
    first = columns[0].selectbox(
        "Class that goes", classes, index=classes.index(goes), key="merge_from"
    )
    others = [name for name in classes if name != first]
    second = columns[1].selectbox(
        "Class that it counts as",
        others,
        index=others.index(stays) if stays in others else 0,
        key="merge_into",
    )
    st.write(escape_md(problems.merge_effect(first, second).describe(first, second)))
    columns = st.columns(2)
    with columns[0]:
        by = person.ask("merge_by")
    reason = columns[1].text_input("Reason", key="merge_reason", placeholder="Optional")
    if st.button(
        f"Count {escape_md(first, limit=30)} as {escape_md(second, limit=30)}, and run",
        key="merge_decide",
        icon=":material/merge:",
        disabled=not by,
        help=None if by else "Give your name first.",
    ):
        workspace = state.workspace()
        try:
            workspace.decide(
                run.project_id, "merge", [first], by=by, value=second, reason=reason, run_id=run.id
            )
            queued = workspace.run_decided(run.id)
        except DataError as error:
            st.error(escape_md(error), icon=":material/error:")
            return
        startup.wake_jobs(workspace)
        state.goto("truths", run=queued.id)
    st.caption("Kept with the decisions, where it can be taken back. This run stays as it is.")


def _rarer_first(problems: GuidelineProblems) -> tuple[str, str]:
    """The two classes that good workers differ on most; the rarer one would go."""
    data = problems.result.data
    if problems.pairs.empty:
        return data.classes[0], data.classes[1]
    worst = problems.pairs.iloc[0]
    totals = data.votes.sum(0)
    first, second = sorted(
        (str(worst["first"]), str(worst["second"])),
        key=lambda name: int(totals[data.classes.index(name)]),
    )
    return first, second


def _draw_items(run: RunRow, problems: GuidelineProblems) -> None:
    st.subheader("Items that split good workers", anchor=False)
    if problems.items.empty:
        st.caption("None, with at least two good workers on either side.")
        return
    frame = problems.items.assign(by_chance=100 * problems.items["by_chance"])
    column = st.column_config
    name = widgets.table(
        frame,
        key="guideline_items",
        alt="Items that good workers are split over",
        select="item",
        height=MAX_PIXELS,
        columns={
            "item": column.TextColumn("Item", width=120),
            "truth": column.TextColumn("Truth", width=120),
            "said": column.TextColumn("Good workers say", width=320),
            "n_good": column.NumberColumn("Good labels", width=90),
            "by_chance": column.NumberColumn(
                "By chance", format="%.1f%%", help="How often errors alone would split so many."
            ),
        },
    )
    widgets.open_item(name, key="guideline_open")
    widgets.download_csv(
        problems.items,
        f"{file_stem(run.label)}-guideline.csv",
        key="guideline_download",
        label=f"Download {count(len(problems.items), 'item')}",
    )
