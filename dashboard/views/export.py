"""Export: take the truths, the workers or the cleaned labels along, with how they came about."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, get_args

import streamlit as st

from dashboard import (
    completion_export,
    completion_reads,
    export_parts,
    exports,
    opening,
    state,
)
from dashboard.text import count, escape_md

if TYPE_CHECKING:
    import pandas as pd

    from crowdcore.workspace import RunRow

PREVIEW_ROWS = 20
SAMPLE_ROWS = 500
MOST_BYTES = 50_000_000
"""A file above this is written to disk and streamed from there, not held in memory."""

WHAT = {
    "Truths": "One row an item: truth, confidence, number of labels, whether tied, and what else "
    "the method tells of an item, such as its difficulty.",
    "Workers": "One row a worker: accuracy with its interval, scores, verdict and evidence.",
    "Cleaned labels": "One row a label that took part in the run, beside the truth of its item.",
}
COMPLETED = "Completed matrix"
COMPLETED_NOTE = "Every worker's labels, given and filled in, with where each comes from."


def draw() -> None:
    run = opening.open_results("Export")
    left, right = opening.side_by_side(2, 3)
    with left:
        what = _what(run)
        completion = completion_reads.completion(run.id) if what == COMPLETED else None
    if completion is not None:
        with left:
            form = completion_export.draw_choices(run, completion)
            _classifier(run)
        with right:
            completion_export.draw_preview(completion, form)
        return
    with left:
        kind, fmt = _choices(run, what)
        frame = _frame(run.id, kind)
        _download(run, kind, fmt, frame)
        export_parts.draw_provenance(run, kind, fmt, len(frame))
        _classifier(run)
    with right:
        _preview(frame)


def _what(run: RunRow) -> str:
    what = WHAT if run.completion is None else {**WHAT, COMPLETED: COMPLETED_NOTE}
    return st.radio("What", list(what), captions=list(what.values()), key="export_what")


def _choices(run: RunRow, what: str) -> tuple[exports.Kind, exports.Format]:
    kind: exports.Kind = "truths"
    if what == "Truths":
        soft = st.toggle(
            "With the probability of every class",
            key="export_soft",
            help="Adds a column p:<class> for each class, for training with soft labels.",
        )
        kind = "posteriors" if soft else "truths"
    elif what == "Workers":
        kind = "workers"
    else:
        kind = "labels"
        if run.excluded:
            out = count(len(run.excluded), "excluded worker")
            st.caption(f"The labels of {out} are left out.")
        else:
            st.caption("No worker was excluded from this run, so every label is in it.")
    return kind, export_parts.choose_format(list(get_args(exports.Format)), key="export_format")


@st.cache_resource(max_entries=4, show_spinner="Preparing the table …")
def _frame(run_id: str, kind: exports.Kind) -> pd.DataFrame:
    return exports.export_frame(state.workspace(), run_id, kind)


@st.cache_data(max_entries=64, show_spinner=False)
def _bytes_expected(run_id: str, kind: exports.Kind, fmt: exports.Format) -> int:
    """Guess a file's size from some rows."""
    from crowdcore.io.writers import frame_bytes

    frame = _frame(run_id, kind)
    sample = frame.iloc[:: max(1, len(frame) // SAMPLE_ROWS)].head(SAMPLE_ROWS)
    names = sample.select_dtypes("category").columns  # all categories would count, also unused
    sample = sample.astype(dict.fromkeys(names, "str"))
    return math.ceil(len(frame_bytes(sample, fmt)) / max(1, len(sample)) * len(frame))


def _download(run: RunRow, kind: exports.Kind, fmt: exports.Format, frame: pd.DataFrame) -> None:
    from crowdcore.io.writers import frame_bytes

    size = _bytes_expected(run.id, kind, fmt)
    export_parts.draw_download(
        run,
        kind,
        fmt,
        make=partial(frame_bytes, frame, fmt),
        is_big=size > MOST_BYTES,
        words=f"{count(len(frame), 'row')}, about {_megabytes(size)}",
    )


def _classifier(run: RunRow) -> None:
    """Offer what a run has learnt about features, for items that nobody labelled."""
    path = exports.classifier_path(state.workspace(), run.id)
    if path is None:
        return
    name = exports.file_name(state.workspace(), run.id, "classifier", "zip")
    size = path.stat().st_size
    st.subheader("Classifier", anchor=False)
    st.caption("This run has trained a classifier. It labels new items by their features alone.")
    if size > MOST_BYTES and exports.available():
        url = exports.export_url(run.id, "classifier", "zip")
        st.link_button("Download the classifier", url, icon=":material/neurology:")
    else:
        st.download_button(
            "Download the classifier",
            data=path.read_bytes,
            file_name=name,
            mime=exports.ZIP,
            icon=":material/neurology:",
            key="export_classifier",
            on_click="ignore",
        )
    st.caption(
        f"{escape_md(name)}: {_megabytes(size)}. NEW_ITEMS below is of the same kind as the file "
        "that the features came from: a table with its columns, pictures, or an NPZ."
    )
    command = f"crowdcore predict {name} NEW_ITEMS --out predicted.csv"
    st.code(command, language="bash", wrap_lines=True)


def _preview(frame: pd.DataFrame) -> None:
    st.subheader("Preview", anchor=False)
    shown = frame.head(PREVIEW_ROWS)
    numbers = shown.select_dtypes("float").columns
    st.dataframe(
        shown,
        hide_index=True,
        height="content",
        column_config={str(name): st.column_config.NumberColumn(format="%.4f") for name in numbers},
        alt="The first rows of the file",
    )
    words = "Numbers are shortened here; the file has them in full."
    if len(frame) > len(shown):
        words = f"The first {len(shown)} of {count(len(frame), 'row')}. {words}"
    st.caption(words)


def _megabytes(size: int) -> str:
    if size < 1_000_000:  # noqa: PLR2004  (a megabyte)
        return f"{max(1, round(size / 1000)):,} kB"
    return f"{size / 1_000_000:,.1f} MB"


draw()
