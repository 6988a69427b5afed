"""Answer a few: questions about the items that tell most which method to trust."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from crowdcore.artefacts.candidates import Candidates
from crowdcore.asking import Round
from crowdcore.data import DataError
from crowdcore.questions import MIN_GOLD_TO_CHOOSE
from crowdcore.wording import count, interval, percent
from crowdcore.workspace.answers import POOL
from dashboard import cache, layout, state, widgets
from dashboard.decisions import person
from dashboard.server import startup
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.questions import Question
    from crowdcore.workspace import RunRow

MAX_BUTTONS = 12
"""Up to so many classes there is a button for each."""

UNSURE = "Unsure"


def draw() -> None:
    run = layout.open_results("answers")
    st.write(
        "Labels alone hardly tell which method to trust. A few answers do, if they are asked for "
        "where methods disagree. Each answer is kept at once, with your name, and acts as gold in "
        "later runs."
    )
    result = cache.result(run.id)
    if result.artefact(Candidates) is None:
        _offer_to_prepare(run)
        return
    standing = Round.from_result(result, state.workspace().asked(run.id))
    _draw_numbers(run, standing)
    left_column, right_column = layout.side_by_side(6, 5)
    with left_column:
        _draw_question(run, standing)
    with right_column:
        _draw_weights(standing)
        _offer_run(run, standing)


def _offer_to_prepare(run: RunRow) -> None:
    """Queue a run with further methods, where this one has none to choose among."""
    if run.method != POOL:
        layout.empty_state(
            "Questions are about runs of auto",
            f"{escape_md(run.title)} is a single method: there is nothing to choose among. Run "
            "auto on the same data.",
            "Run auto",
            "run",
        )
        return
    st.info(
        "Before the first question further methods are fitted, so that there is something to "
        "choose among. On a few thousand labels that takes seconds.",
        icon=":material/quiz:",
    )
    if st.button("Prepare the questions", type="primary", key="answers_prepare"):
        _queue(run, prepare=True)


def _queue(run: RunRow, *, prepare: bool) -> None:
    workspace = state.workspace()
    try:
        queued = workspace.run_answered(run.id, prepare=prepare)
    except DataError as error:
        st.error(escape_md(error), icon=":material/error:")
        return
    startup.wake_jobs(workspace)
    state.goto("answers", run=queued.id)


def _draw_numbers(run: RunRow, standing: Round) -> None:
    row = st.container(horizontal=True)
    note = f"{count(standing.n_unsure)} unsure" if standing.n_unsure else None
    widgets.metric(row, "Answers", count(standing.n_answered), note=note)
    widgets.metric(
        row,
        "Choice matters on",
        percent(standing.open_share),
        help="On so many items a method drawn by weight differs from the decision by all weights. "
        "Answers can still bring at most about that.",
    )
    widgets.metric(
        row,
        "Truths that would change",
        count(standing.changed()),
        help="Items without a known answer on which the weights so far choose another class than "
        "the pool.",
    )
    expected = cache.expected_accuracy(run.id)
    if expected is not None:
        widgets.metric(
            row,
            "Expected accuracy",
            percent(expected.estimate, 0),
            help=expected.describe(),
            note=f"{interval(expected.low, expected.high)}, of this run",
        )
    st.write(escape_md(standing.describe()))


def _draw_question(run: RunRow, standing: Round) -> None:
    question = standing.next_question()
    if question is None:
        st.success("Every item was asked about.", icon=":material/done_all:")
        return
    data = standing.result.data
    name = data.items[question.item]
    st.subheader(f"What is {escape_md(name, limit=60)}?", anchor=False)
    why = "where methods disagree" if question.drawn == "disagreement" else "at random"
    st.caption(f"Question {standing.n_answered + standing.n_unsure + 1}, drawn {why}.")
    details = cache.details(run.id)
    if details.picture and details.picture[question.item].startswith(cache.PICTURE):
        st.image(details.picture[question.item], width=320, alt="The item's picture")
    for title, values in details.texts.items():
        if values[question.item]:
            shown = escape_md(values[question.item], limit=1500)
            st.markdown(f":gray[{escape_md(title)}] {shown}")
    votes = data.votes[question.item]
    given = [
        f"{escape_md(data.classes[code], limit=40)} × {number}"
        for code, number in enumerate(votes)
        if number
    ]
    st.markdown(f":gray[Labels] {', '.join(given)}")
    by = person.ask("answers_by")
    _draw_choices(run, name, question, data.classes, by)


def _draw_choices(
    run: RunRow, name: str, question: Question, classes: tuple[str, ...], by: str
) -> None:
    """Let the person choose a class, or say that they are unsure."""
    help_text = None if by else "Give your name first."
    with st.container(horizontal=True):
        if len(classes) <= MAX_BUTTONS:
            for number, label in enumerate(classes):
                st.button(
                    escape_md(label, limit=40),
                    key=f"answer_{number}",
                    disabled=not by,
                    help=help_text,
                    on_click=_keep,
                    args=(run, name, label, question, by),
                )
        else:
            chosen = st.selectbox("Class", classes, index=None, key=f"answer_of_{question.item}")
            st.button(
                "Answer",
                key="answer_chosen",
                disabled=not by or chosen is None,
                help=help_text,
                on_click=_keep,
                args=(run, name, chosen, question, by),
            )
        st.button(
            UNSURE,
            key="answer_unsure",
            type="tertiary",
            disabled=not by,
            help=help_text,
            on_click=_keep,
            args=(run, name, None, question, by),
        )


def _keep(run: RunRow, name: str, label: str | None, question: Question, by: str) -> None:
    try:
        state.workspace().answer(run.id, name, label, by=by, question=question)
    except DataError as error:
        st.error(escape_md(error), icon=":material/error:")


def _draw_weights(standing: Round) -> None:
    frame = pd.DataFrame(
        {
            "method": list(standing.candidates.titles),
            "weight": 100 * standing.weights,
            "start": 100 * standing.start_weights,
        }
    ).sort_values("weight", ascending=False, kind="stable")
    column = st.column_config
    st.subheader("Which method to trust", anchor=False)
    widgets.table(
        frame,
        key="answers_weights",
        alt="The weight of each method",
        columns={
            "method": column.TextColumn("Method", width=170),
            "weight": widgets.percent_bar("Weight now", width=110),
            "start": column.NumberColumn("At the start", format="%.0f%%", width=90),
        },
    )


def _offer_run(run: RunRow, standing: Round) -> None:
    n_known = int((standing.answers >= 0).sum())
    is_enough = n_known >= MIN_GOLD_TO_CHOOSE
    if st.button(
        "Make a run of the answers",
        type="primary" if standing.is_settled else "secondary",
        icon=":material/play_arrow:",
        key="answers_run",
        disabled=not is_enough,
        help=None if is_enough else f"{MIN_GOLD_TO_CHOOSE} known answers are needed.",
    ):
        _queue(run, prepare=False)
    st.caption(
        "Pools the methods by their weights; the items that you answered keep your answer. This "
        "run stays as it is."
    )


draw()
