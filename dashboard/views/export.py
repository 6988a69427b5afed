"""Export: back to the given file or to a tool, or tables, with how they came about."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, get_args

import streamlit as st

from crowdcore.wording import count
from dashboard import cache, layout, state, widgets
from dashboard.completion import export, reads
from dashboard.export import files, parts, report
from dashboard.kinds import views_of
from dashboard.server import downloads
from dashboard.text import escape_md

if TYPE_CHECKING:
    import pandas as pd

    from crowdcore.workspace import RunRow

PREVIEW_ROWS = 20
SAMPLE_ROWS = 500
MAX_BYTES = 50_000_000
"""A file above this is written to disk and streamed from there, not held in memory."""

COMPLETED = "Completed matrix"
COMPLETED_NOTE = "Every worker's labels, given and filled in, with where each comes from."


VIEWS = {"files": "Back to your file or tool", "tables": "Tables", "report": "Report"}


def draw() -> None:
    run = layout.open_results("export")
    view = layout.choose_view(VIEWS, key="export_view")
    if view != "tables":
        (files if view == "files" else report).draw(run)
        return
    left_column, right_column = layout.side_by_side(2, 3)
    with left_column:
        table = _choose_table(run)
        completion = reads.completion(run.id) if table == COMPLETED else None
    if completion is not None:
        with left_column:
            form = export.draw_choices(run, completion)
            _draw_classifier(run)
        with right_column:
            export.draw_preview(completion, form)
        return
    with left_column:
        kind, fmt = _choose_kind(run, table)
        frame = _frame(run.id, kind)
        _draw_download(run, kind, fmt, frame)
        parts.draw_provenance(run, kind, fmt, len(frame))
        _draw_classifier(run)
    with right_column:
        _draw_preview(frame)


def _choose_table(run: RunRow) -> str:
    tables = dict(views_of(cache.kind(run)).exports)
    if run.completion is not None:
        tables[COMPLETED] = COMPLETED_NOTE
    return st.radio("What", list(tables), captions=list(tables.values()), key="export_what")


def _choose_kind(run: RunRow, table: str) -> tuple[downloads.Kind, downloads.Format]:
    kind: downloads.Kind = "truths"
    if table == "Truths":
        with_posterior = views_of(cache.kind(run)).has_probabilities and st.toggle(
            "With the probability of every class",
            key="export_soft",
            help="Adds a column p:<class> for each class, for training with soft labels.",
        )
        kind = "posteriors" if with_posterior else "truths"
    elif table == "Workers":
        kind = "workers"
    else:
        kind = "labels"
        if run.excluded:
            excluded = count(len(run.excluded), "excluded worker")
            st.caption(f"The labels of {excluded} are left out.")
        else:
            st.caption("No worker was excluded from this run, so every label is in it.")
    return kind, parts.choose_format(list(get_args(downloads.Format)), key="export_format")


@st.cache_resource(max_entries=4, show_spinner="Preparing the table …")
def _frame(run_id: str, kind: downloads.Kind) -> pd.DataFrame:
    return downloads.export_frame(state.workspace(), run_id, kind)


@st.cache_data(max_entries=64, show_spinner=False)
def _bytes_expected(run_id: str, kind: downloads.Kind, fmt: downloads.Format) -> int:
    """Guess a file's size from some rows."""
    from crowdcore.export.writers import frame_bytes

    frame = _frame(run_id, kind)
    sample = frame.iloc[:: max(1, len(frame) // SAMPLE_ROWS)].head(SAMPLE_ROWS)
    names = sample.select_dtypes("category").columns  # all categories would count, also unused
    sample = sample.astype(dict.fromkeys(names, "str"))
    return math.ceil(len(frame_bytes(sample, fmt)) / max(1, len(sample)) * len(frame))


def _draw_download(
    run: RunRow, kind: downloads.Kind, fmt: downloads.Format, frame: pd.DataFrame
) -> None:
    from crowdcore.export.writers import frame_bytes

    size = _bytes_expected(run.id, kind, fmt)
    parts.draw_download(
        run,
        kind,
        fmt,
        make=partial(frame_bytes, frame, fmt),
        is_big=size > MAX_BYTES,
        size=f"{count(len(frame), 'row')}, about {_megabytes(size)}",
    )


def _draw_classifier(run: RunRow) -> None:
    """Offer what a run has learnt about features, for items that nobody labelled."""
    path = downloads.classifier_path(state.workspace(), run.id)
    if path is None:
        return
    name = downloads.file_name(state.workspace(), run.id, "classifier", "zip")
    size = path.stat().st_size
    st.subheader("Classifier", anchor=False)
    wording = views_of(cache.kind(run)).classifier
    st.caption(f"This run has trained a classifier. {wording.does}")
    if size > MAX_BYTES and downloads.available():
        url = downloads.export_url(run.id, "classifier", "zip")
        st.link_button("Download the classifier", url, icon=":material/neurology:")
    else:
        st.download_button(
            "Download the classifier",
            data=path.read_bytes,
            file_name=name,
            mime=downloads.ZIP,
            icon=":material/neurology:",
            key="export_classifier",
            on_click="ignore",
        )
    st.caption(f"{escape_md(name)}: {_megabytes(size)}. {wording.takes}")
    command = f"crowdcore predict {name} {wording.file} --out {wording.out}"
    st.code(command, language="bash", wrap_lines=True)


def _draw_preview(frame: pd.DataFrame) -> None:
    st.subheader("Preview", anchor=False)
    shown = frame.head(PREVIEW_ROWS)
    numbers = shown.select_dtypes("float").columns
    widgets.table(
        shown,
        alt="The first rows of the file",
        columns={str(name): st.column_config.NumberColumn(format="%.4f") for name in numbers},
        height="content",
    )
    note = "Numbers are shortened here; the file has them in full."
    if len(frame) > len(shown):
        note = f"The first {len(shown)} of {count(len(frame), 'row')}. {note}"
    st.caption(note)


def _megabytes(size: int) -> str:
    if size < 1_000_000:  # noqa: PLR2004  (a megabyte)
        return f"{max(1, round(size / 1000)):,} kB"
    return f"{size / 1_000_000:,.1f} MB"


draw()
