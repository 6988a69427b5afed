"""Which column says what: the guess, its reasons, and a way to say otherwise."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard import state
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.io import Guess, Roles, Table

PREVIEW_ROWS = 5
ROLE_WIDTH = 180

ROLE_WORDS = {
    "item": "What was labelled: a task, an image, a sentence.",
    "worker": "Who labelled it.",
    "label": "What the worker said of the item.",
    "gold": "The correct answer, where you know it. It only scores results, unless a method "
    "says that it learns from gold.",
    "time": "When the label was given.",
}
LAYOUTS = {
    "long": "One row a label",
    "wide": "One row an item",
    "transposed": "One row a worker",
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


def choose_roles(table: Table, guess: Guess, *, key: str) -> Roles:
    """Show the guessed roles, each with its reason and open to change, over a few rows."""
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
    chosen: dict[str, Any] = dict.fromkeys(ROLE_WORDS)
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
        details=tuple(one for one in guess.roles.details if one not in taken),
        **chosen,
    )
    preview(table, roles)
    return roles


def preview(table: Table, roles: Roles) -> None:
    """Show the first rows, with each column's role over its name."""
    import pandas as pd

    words = {getattr(roles, role): role for role in ROLE_WORDS if getattr(roles, role)}
    words |= dict.fromkeys(roles.worker_columns, "item" if roles.transposed else "worker")
    words |= dict.fromkeys(roles.details, "detail")
    frame = pd.DataFrame(table.head(PREVIEW_ROWS), columns=list(table.columns), dtype="str")
    st.dataframe(
        frame,
        hide_index=True,
        column_config={
            column: st.column_config.TextColumn(f"{column} → {words[column]}")
            for column in table.columns
            if column in words and words[column] != column
        },
    )
    unused = [column for column in table.columns if column not in words]
    if unused:
        names = ", ".join(escape_md(column, limit=40) for column in unused[:8])
        more = f" and {len(unused) - 8} more" if len(unused) > 8 else ""  # noqa: PLR2004
        st.caption(f"Not used: {names}{more}.")


def _role(table: Table, guess: Guess, layout: str, role: str, key: str) -> str | None:
    columns = list(table.columns)
    guessed = getattr(guess.roles, role)
    name = f"role:{key}:{layout}:{role}"
    state.preset(name, guessed)
    chosen = st.selectbox(
        role.capitalize(),
        columns,
        index=None,
        placeholder="Choose a column" if role in REQUIRED[layout] else "None",
        help=ROLE_WORDS[role],
        key=name,
    )
    if chosen == guessed:
        _because(guess, role)
    else:
        st.caption("Chosen by you." if chosen else "Left out by you.")
    return chosen


def _many_columns(
    table: Table, guess: Guess, layout: str, taken: set[str | None], key: str
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
