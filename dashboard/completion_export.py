"""The completed matrix as a file: a row a label with its origin, or a row an item."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
import streamlit as st

from crowdcore.audit.completion import cells
from dashboard import export_parts, exports, opening, state
from dashboard.text import count

if TYPE_CHECKING:
    from crowdcore.artefacts.completion import Completion
    from crowdcore.workspace import RunRow

Form = Literal["long", "wide"]

MOST_ROWS = 20
MOST_COLUMNS = 12
MOST_LABELS = 500_000
"""A file with more labels is written to disk and streamed from there, not held in memory."""

FORMS: dict[Form, str] = {"long": "A row a label", "wide": "A row an item"}
NOTES: dict[Form, str] = {
    "long": "item, worker, label, origin (observed or filled), probability of what was filled in.",
    "wide": "A column a worker; origin has a letter for each of them: o observed, f filled, a dot "
    "where there is no label.",
}


def draw(run: RunRow, completion: Completion) -> None:
    """Offer the matrix, with its first rows beside it."""
    left, right = opening.side_by_side(2, 3)
    with left:
        form = draw_choices(run, completion)
    with right:
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
    fmt = export_parts.choose_format(exports.completed_formats(), key="completion_format")
    kind: exports.Completed = "completed-wide" if form == "wide" else "completed-long"
    labels = completion.data.n_labels + completion.n_filled
    rows = completion.data.n_items if form == "wide" else labels
    export_parts.draw_download(
        run,
        kind,
        fmt,
        make=partial(exports.completed_bytes, state.workspace(), run.id, kind, fmt),
        is_big=labels > MOST_LABELS,
        words=count(rows, "row") + (f", {count(labels, 'label')}" if form == "wide" else ""),
    )
    export_parts.draw_provenance(run, kind, fmt, rows)
    return form


def draw_preview(completion: Completion, form: Form) -> None:
    """Show the first rows of the file."""
    st.subheader("Preview", anchor=False)
    frame = _wide(completion) if form == "wide" else _long(completion)
    st.dataframe(
        frame,
        hide_index=True,
        height="content",
        column_config={"probability": st.column_config.NumberColumn(format="%.3f")},
        placeholder="",
        alt="The first rows of the file",
    )
    words = f"The first {count(len(frame), 'row')}"
    if form == "wide" and completion.data.n_workers > MOST_COLUMNS:
        words += f", with the first {MOST_COLUMNS} of {count(completion.data.n_workers)} workers"
    st.caption(f"{words}.")


def _long(completion: Completion) -> pd.DataFrame:
    data = completion.data
    items = np.arange(min(data.n_items, MOST_ROWS))
    cut = cells(completion, np.arange(data.n_workers), items)
    item, worker = (codes[:MOST_ROWS] for codes in np.nonzero(cut.label.T >= 0))
    seen = cut.observed[worker, item]
    return pd.DataFrame(
        {
            "item": [data.items[code] for code in item],
            "worker": [data.workers[code] for code in worker],
            "label": [data.classes[code] for code in cut.label[worker, item]],
            "origin": np.where(seen, "observed", "filled"),
            "probability": np.where(seen, np.nan, cut.probability[worker, item]),
        }
    )


def _wide(completion: Completion) -> pd.DataFrame:
    data = completion.data
    items = np.arange(min(data.n_items, MOST_ROWS))
    workers = np.arange(min(data.n_workers, MOST_COLUMNS))
    cut = cells(completion, workers, items)
    names = np.array([*data.classes, ""], dtype=object)
    frame = pd.DataFrame(names[cut.label.T], columns=[data.workers[code] for code in workers])
    origin = np.where(cut.observed, "o", np.where(cut.label >= 0, "f", ".")).T
    frame.insert(0, "origin", ["".join(row) for row in origin], allow_duplicates=True)
    frame.insert(0, "item", [data.items[code] for code in items], allow_duplicates=True)
    return frame
