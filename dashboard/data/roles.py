"""Which column says what: the guess, its reasons, and a way to say otherwise."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard import state
from dashboard.text import escape_md, list_names

if TYPE_CHECKING:
    from crowdcore.jobs.opening import ReadingChoice
    from crowdcore.reading import Guess, Roles

ROLE_WIDTH = 180

ROLE_HELP = {
    "item": "What was labelled: a task, an image, a sentence.",
    "worker": "Who labelled it.",
    "label": "What the worker said of the item.",
    "gold": "The correct answer, where you know it. It only scores results, unless a method "
    "says that it learns from gold.",
    "time": "When the label was given.",
}
COLOURS = {
    "item": ("blue", "rgba(0, 114, 178, 0.18)"),
    "worker": ("orange", "rgba(230, 159, 0, 0.22)"),
    "label": ("green", "rgba(0, 158, 115, 0.20)"),
    "gold": ("yellow", "rgba(240, 228, 66, 0.30)"),
    "time": ("violet", "rgba(204, 121, 167, 0.22)"),
    "detail": ("gray", "rgba(128, 128, 128, 0.12)"),
}
"""The colour of each role: of its badge, and of its column in light and in dark."""

LAYOUTS = {
    "long": "One row per label",
    "wide": "One row per item",
    "transposed": "One row per worker",
}
ROLES_OF = {
    "long": ("item", "worker", "label", "gold", "time"),
    "wide": ("item", "gold"),
    "transposed": ("worker",),
}
REQUIRED = {"long": {"item", "worker", "label"}, "wide": set[str](), "transposed": {"worker"}}
COLUMNS_OF = {
    "wide": ("Worker columns", "Each of these columns holds the labels of one worker."),
    "transposed": ("Item columns", "Each of these columns holds the labels of one item."),
}


def choose_roles(table: ReadingChoice, *, key: str) -> Roles:
    """Show the guessed roles, each with its reason and open to change, over a few rows."""
    guess = table.guess
    if not guess.certain:
        st.info("Some of these are guesses. Please check them.", icon=":material/help:")
    guessed = "transposed" if guess.roles.transposed else guess.roles.layout
    picked = st.segmented_control(
        "Layout",
        list(LAYOUTS),
        default=guessed,
        format_func=LAYOUTS.__getitem__,
        key=f"layout:{key}",
    )
    layout = picked or guessed  # a second click takes the choice away
    if layout == guessed:
        _because(guess, "layout")
    chosen: dict[str, Any] = dict.fromkeys(ROLE_HELP)
    with st.container(horizontal=True):
        for role in ROLES_OF[layout]:
            with st.container(width=ROLE_WIDTH):
                chosen[role] = _role(table, guess, layout, role, key)
    workers: tuple[str, ...] = ()
    if layout != "long":
        workers = _many_columns(table, guess, layout, set(chosen.values()), key)
    taken = {*workers, *chosen.values()}
    roles = replace(
        guess.roles,
        layout="long" if layout == "long" else "wide",
        worker_columns=workers,
        details=tuple(column for column in guess.roles.details if column not in taken),
        **chosen,
    )
    preview(table, roles)
    return roles


def preview(table: ReadingChoice, roles: Roles) -> None:
    """Show the first rows of the file, each column in the colour of its role."""
    import pandas as pd

    role_of = {getattr(roles, role): role for role in ROLE_HELP if getattr(roles, role)}
    role_of |= dict.fromkeys(roles.worker_columns, "item" if roles.transposed else "worker")
    role_of |= dict.fromkeys(roles.details, "detail")
    frame = pd.DataFrame(table.preview, columns=list(table.columns), dtype="str")
    used = dict.fromkeys(role_of[column] for column in table.columns if column in role_of)
    st.markdown(" ".join(f":{COLOURS[role][0]}-badge[{role}]" for role in used))
    shown = frame.style
    for role in used:
        columns: list[Any] = [name for name in table.columns if role_of.get(name) == role]
        shown = shown.set_properties(subset=columns, **{"background-color": COLOURS[role][1]})
    st.dataframe(
        shown,
        hide_index=True,
        column_config={
            column: st.column_config.TextColumn(f"{column} → {role_of[column]}")
            for column in table.columns
            if column in role_of and role_of[column] != column
        },
    )
    unused = [column for column in table.columns if column not in role_of]
    if unused:
        st.caption(f"Not used: {list_names(unused, max_names=8, limit=40)}.")


def _role(table: ReadingChoice, guess: Guess, layout: str, role: str, key: str) -> str | None:
    columns = list(table.columns)
    guessed = getattr(guess.roles, role)
    name = f"role:{key}:{layout}:{role}"
    state.preset(name, guessed)
    chosen = st.selectbox(
        role.capitalize(),
        columns,
        index=None,
        placeholder="Choose a column" if role in REQUIRED[layout] else "None",
        help=ROLE_HELP[role],
        key=name,
    )
    if chosen == guessed:
        _because(guess, role)
    else:
        st.caption("Chosen by you." if chosen else "Left out by you.")
    return chosen


def _many_columns(
    table: ReadingChoice, guess: Guess, layout: str, taken: set[str | None], key: str
) -> tuple[str, ...]:
    title, text = COLUMNS_OF[layout]
    free = [column for column in table.columns if column not in taken]
    chosen = st.multiselect(
        title,
        free,
        default=[column for column in guess.roles.worker_columns if column in free],
        help=text,
        key=f"columns:{key}:{layout}:{'|'.join(sorted(filter(None, taken)))}",
    )
    if tuple(chosen) == guess.roles.worker_columns:
        _because(guess, "worker_columns")
    return tuple(chosen)


def _because(guess: Guess, role: str) -> None:
    if reason := guess.reasons.get(role):
        st.caption(escape_md(reason))
