"""Results of a run on a prepared folder, read by column and a few rows at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from crowdcore.prepared.results import ResultsFolder
from crowdcore.wording import count, duration, percent
from dashboard import widgets
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
            f"{provenance['title']} · seed {provenance['seed']} · {provenance['created']} · took "
            f"{duration(provenance['seconds'])} in {count(record['parts'], 'part')}"
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
    shown = frame.nlargest(MAX_WORKERS_SHOWN, "n_labels")
    columns = {name: st.column_config.NumberColumn(format="percent") for name in _shares(shown)}
    widgets.table(shown, alt="Workers with their verdicts", columns=columns, height=380)


def _draw_truths(folder: ResultsFolder) -> None:
    st.subheader("Truths", anchor=False)
    if not folder.n_pages:
        return
    page = st.number_input("Page", 1, folder.n_pages, 1, key="scale_page", width=140)
    frame = _truths(str(folder.path), _version(folder), int(page) - 1)
    st.caption(
        f"Page {page} of {count(folder.n_pages)}, {count(len(frame), 'item')}. Pages are pieces of "
        "buckets, so each is a random sample of the items."
    )
    columns = {name: st.column_config.NumberColumn(format="percent") for name in _shares(frame)}
    widgets.table(frame, alt="Truths of some items", columns=columns, height=380)


def _shares(frame: Any) -> list[str]:
    """Columns that hold shares between 0 and 1."""
    known = ("accuracy", "accuracy_low", "accuracy_high", "probability", "confidence")
    return [name for name in frame.columns if name in known or name.startswith("p:")]


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
def _truths(path: str, version: str, page: int) -> Any:
    del version
    return ResultsFolder(Path(path)).truths(page)
