"""Results of a run on a prepared folder, read by column and a few rows at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from crowdcore.audit.kinds import audit_of
from crowdcore.export.columns import TableColumn
from crowdcore.prepared.results import ResultsFolder
from crowdcore.wording import count, duration, percent, when
from dashboard import listed, widgets
from dashboard.text import escape_md

WORKER_COLUMNS = [  # those that verdicts on every kind of labels come with
    "worker", "verdict", "accuracy", "accuracy_low", "accuracy_high", "n_labels", "n_compared",
    "probability", "advice", "evidence",
]  # fmt: skip
MAX_WORKERS_SHOWN = 5_000


def draw(path: Path) -> None:
    """Show what a run came to, its workers, and a page of its truths."""
    folder = ResultsFolder(path)
    record = folder.record
    provenance, data, summary = record["provenance"], record["data"], record["summary"]
    st.caption(
        escape_md(
            f"{provenance['title']} · seed {provenance['seed']} · {when(provenance['created'])} · "
            f"took {duration(provenance['seconds'])} in {count(record['parts'], 'part')}"
        )
    )
    for note in provenance["notes"]:
        st.caption(f":material/info: {escape_md(note)}")
    row = st.container(horizontal=True)
    widgets.metric(row, "Labels", count(data["labels"]))
    widgets.metric(row, "Items", count(data["items"]))
    widgets.metric(row, "Workers", count(data["workers"]))
    if summary:
        widgets.metric(row, "Mean confidence", percent(summary["mean_confidence"]))
        widgets.metric(row, "Tied", count(summary["tied"]))
    if record["score"] is not None and "accuracy" in record["score"]:
        score = record["score"]
        note = f"{count(score['correct'])} of {count(score['n'])}"
        widgets.metric(row, "Right against gold", percent(score["accuracy"]), note=note)
    _draw_workers(folder)
    _draw_truths(folder)


def _draw_workers(folder: ResultsFolder) -> None:
    st.subheader("Workers", anchor=False)
    verdicts = _verdicts(str(folder.path), _version(folder))
    wanted = st.pills(
        "Verdict",
        list(verdicts),
        format_func=lambda name: f"{name} ({count(verdicts[name])})",
        key="scale_verdict",
        label_visibility="collapsed",
    )
    frame = _workers(str(folder.path), _version(folder))
    frame = frame if wanted is None else frame[frame["verdict"] == wanted]
    if len(frame) > MAX_WORKERS_SHOWN:
        st.caption(
            f"The {count(MAX_WORKERS_SHOWN)} with the most labels of {count(len(frame))}; "
            "workers.parquet in the folder has all."
        )
    _table(frame.nlargest(MAX_WORKERS_SHOWN, "n_labels"), _audit(folder).worker_columns, "Workers")


def _draw_truths(folder: ResultsFolder) -> None:
    st.subheader("Truths", anchor=False)
    if not folder.n_pages:
        return
    page = st.number_input("Page", 1, folder.n_pages, 1, key="scale_page", width=140)
    plain = [column.name for column in _audit(folder).truth_columns if not column.is_family]
    frame = _truths(str(folder.path), _version(folder), int(page) - 1, tuple(plain))
    st.caption(
        f"Page {page} of {count(folder.n_pages)}, {count(len(frame), 'item')}. Pages are pieces of "
        "buckets, so each is a random sample of the items; the files there have probabilities too."
    )
    _table(frame, _audit(folder).truth_columns, "Truths of some items")


def _audit(folder: ResultsFolder) -> Any:
    return audit_of(folder.record["data"]["kind"])


def _table(frame: Any, columns: Sequence[TableColumn[Any]], alt: str) -> None:
    """Draw the columns that are defined for such a table, with their titles and help."""
    shown = listed.cells(frame, columns)
    widgets.table(shown, alt=alt, columns=listed.settings(columns), height=380)


def _version(folder: ResultsFolder) -> str:
    """Changes when the results do."""
    return str(folder.record["provenance"]["created"])


@st.cache_data(max_entries=4, show_spinner=False)
def _workers(path: str, version: str) -> Any:
    del version
    return ResultsFolder(Path(path)).workers(WORKER_COLUMNS)


@st.cache_data(max_entries=4, show_spinner=False)
def _verdicts(path: str, version: str) -> dict[str, int]:
    counts = _workers(path, version)["verdict"].value_counts()
    return {str(name): int(number) for name, number in counts.items()}


@st.cache_data(max_entries=4, show_spinner=False)
def _truths(path: str, version: str, page: int, columns: tuple[str, ...]) -> Any:
    del version
    return ResultsFolder(Path(path)).truths(page, list(columns))
