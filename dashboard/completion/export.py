"""The completed matrix as a file: one row per label with its origin, or one row per item."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
import streamlit as st

from crowdcore.audit.completion import matrix_piece
from crowdcore.wording import count
from dashboard import layout, state, widgets
from dashboard.export import parts
from dashboard.server import downloads

if TYPE_CHECKING:
    from crowdcore.artefacts.completion import Completion
    from crowdcore.workspace import RunRow

Form = Literal["long", "wide"]

MAX_ROWS = 20
MAX_COLUMNS = 12
MAX_LABELS = 500_000
"""A file with more labels is written to disk and streamed from there, not held in memory."""

FORMS: dict[Form, str] = {"long": "One row per label", "wide": "One row per item"}
NOTES: dict[Form, str] = {
    "long": "item, worker, label, origin (observed or filled), probability of what was filled in.",
    "wide": "One column per worker; origin has a letter for each of them: o observed, f filled, a "
    "dot where there is no label.",
}


def draw(run: RunRow, completion: Completion) -> None:
    """Offer the matrix, with its first rows beside it."""
    left_column, right_column = layout.side_by_side(2, 3)
    with left_column:
        form = draw_choices(run, completion)
    with right_column:
        draw_preview(completion, form)


def draw_choices(run: RunRow, completion: Completion) -> Form:
    """Choose a form and a format, and download."""
    form: Form = st.radio(
        "Form",
        list(FORMS),
        format_func=FORMS.__getitem__,
        captions=list(NOTES.values()),
        key="completion_form",
    )
    fmt = parts.choose_format(downloads.completed_formats(), key="completion_format")
    kind: downloads.Completed = "completed-wide" if form == "wide" else "completed-long"
    n_labels = completion.data.n_labels + completion.n_filled
    n_rows = completion.data.n_items if form == "wide" else n_labels
    parts.draw_download(
        run,
        kind,
        fmt,
        make=partial(downloads.completed_bytes, state.workspace(), run.id, kind, fmt),
        is_big=n_labels > MAX_LABELS,
        size=count(n_rows, "row") + (f", {count(n_labels, 'label')}" if form == "wide" else ""),
    )
    parts.draw_provenance(run, kind, fmt, n_rows)
    return form


def draw_preview(completion: Completion, form: Form) -> None:
    """Show the first rows of the file."""
    st.subheader("Preview", anchor=False)
    frame = _wide(completion) if form == "wide" else _long(completion)
    widgets.table(
        frame,
        alt="The first rows of the file",
        columns={"probability": st.column_config.NumberColumn(format="%.3f")},
        height="content",
    )
    note = f"The first {count(len(frame), 'row')}"
    if form == "wide" and completion.data.n_workers > MAX_COLUMNS:
        note += f", with the first {MAX_COLUMNS} of {count(completion.data.n_workers)} workers"
    st.caption(f"{note}.")


def _long(completion: Completion) -> pd.DataFrame:
    data = completion.data
    items = np.arange(min(data.n_items, MAX_ROWS))
    piece = matrix_piece(completion, np.arange(data.n_workers), items)
    item, worker = (codes[:MAX_ROWS] for codes in np.nonzero(piece.label.T >= 0))
    is_observed = piece.observed[worker, item]
    return pd.DataFrame(
        {
            "item": [data.items[code] for code in item],
            "worker": [data.workers[code] for code in worker],
            "label": [data.classes[code] for code in piece.label[worker, item]],
            "origin": np.where(is_observed, "observed", "filled"),
            "probability": np.where(is_observed, np.nan, piece.probability[worker, item]),
        }
    )


def _wide(completion: Completion) -> pd.DataFrame:
    data = completion.data
    items = np.arange(min(data.n_items, MAX_ROWS))
    workers = np.arange(min(data.n_workers, MAX_COLUMNS))
    piece = matrix_piece(completion, workers, items)
    names = np.array([*data.classes, ""], dtype=object)
    frame = pd.DataFrame(names[piece.label.T], columns=[data.workers[code] for code in workers])
    origin = np.where(piece.observed, "o", np.where(piece.label >= 0, "f", ".")).T
    frame.insert(0, "origin", ["".join(row) for row in origin], allow_duplicates=True)
    frame.insert(0, "item", [data.items[code] for code in items], allow_duplicates=True)
    return frame
