"""Which reading of a file is meant, and which of its questions: asked only where it is in doubt."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from crowdcore.wording import count
from dashboard import layout, state
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.jobs.opening import OpenedDraft, QuestionChoice, ReadingChoice


def choose_reading(opened: OpenedDraft, *, key: str) -> ReadingChoice | None:
    """Take the clear winner, or let a person choose between two readings side by side.

    Returns None until it is chosen.
    """
    if opened.refusal:
        st.warning(
            f"There seems to be nothing to audit. {escape_md(opened.refusal)}",
            icon=":material/block:",
        )
        st.caption("If that is not so, choose below what the columns mean.")
    if opened.settled:
        return opened.choices[0]
    name = f"reading:{key}"
    chosen: int | None = state.kept(name)
    if chosen is None:
        st.info(
            "This file can be read in two ways that are about as good. Choose the one that is "
            "meant: the counts and the first labels of each are below. If it is neither, choose "
            "one and change its columns in the next step.",
            icon=":material/help:",
        )
        for number, column in enumerate(layout.side_by_side(1, 1)):
            with column:
                _draw_reading(opened.choices[number], number, name)
        return None
    reading = opened.choices[chosen]
    with st.container(horizontal=True, vertical_alignment="center"):
        layout.write_beside(f"Read as: {escape_md(reading.title)}. :small[Chosen by you.]")
        if st.button("Choose another reading", icon=":material/undo:", type="tertiary"):
            state.keep(name, None)
            st.rerun()
    return reading


def _draw_reading(reading: ReadingChoice, number: int, name: str) -> None:
    import pandas as pd

    with st.container(border=True):
        st.markdown(f"**{'AB'[number]}. {escape_md(_capitalised(reading.title))}**")
        st.markdown(escape_md(reading.counts))
        st.dataframe(pd.DataFrame(reading.labels, dtype="str"), hide_index=True)
        with st.expander("What speaks for it"):
            st.markdown("\n".join(f"- {escape_md(why)}" for why in reading.why))
        if st.button("Read it like this", key=f"{name}:{number}", icon=":material/check:"):
            state.keep(name, number)
            st.rerun()


def choose_questions(reading: ReadingChoice, *, key: str) -> list[QuestionChoice]:
    """Choose the questions that become data sets; the first is the one in view.

    Returns [] where the file has a single question.
    """
    readable = [question for question in reading.questions if question.guess is not None]
    if len(reading.questions) < 2 or not readable:  # noqa: PLR2004  (several)
        return []
    names = {question.name: question for question in readable}
    st.subheader("Questions", anchor=False)
    st.caption(
        f"The file holds {count(len(reading.questions), 'question')}. Each that you choose becomes "
        "a data set of its own, over the same items and workers."
    )
    chosen = st.multiselect(
        "Questions to load",
        list(names),
        default=[readable[0].name],
        format_func=lambda name: names[name].description,
        key=f"questions:{key}",
    )
    st.button(
        f"Take all {len(readable)}",
        key=f"all_questions:{key}",
        on_click=_take_all,
        args=(f"questions:{key}", list(names)),
    )
    declined = [question for question in reading.questions if question.guess is None]
    if declined:
        texts = "; ".join(escape_md(question.description) for question in declined)
        st.caption(f"Not read: {texts}.")
    return [names[name] for name in chosen] or [readable[0]]


def _take_all(key: str, names: list[str]) -> None:
    st.session_state[key] = names


def for_question(reading: ReadingChoice, question: QuestionChoice) -> ReadingChoice:
    """Return the reading of one of its questions."""
    return reading if question.guess is None else replace(reading, guess=question.guess)


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
