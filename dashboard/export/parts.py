"""Parts of an export that do not depend on what is exported: the format, and how it was made."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard import cache, state
from dashboard.server import downloads
from dashboard.text import escape_md

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crowdcore.workspace import RunRow

FORMATS: dict[downloads.Format, str] = {
    "csv": "CSV for spreadsheets",
    "csv-exact": "CSV, exact",
    "parquet": "Parquet",
    "jsonl": "JSON lines",
}
NOTES: dict[downloads.Format, str] = {
    "csv": "Text that a spreadsheet would run as a formula (it begins with = + - @) gets a "
    "leading apostrophe; plain numbers stay as they are.",
    "csv-exact": "Every cell exactly as in the data, for programs. Do not open it in a "
    "spreadsheet if you do not trust the labels: a cell may be a formula.",
    "parquet": "Exact values and types, small and quick to read for programs.",
    "jsonl": "One JSON object per line, exact values.",
}


def choose_format(formats: Sequence[downloads.Format], *, key: str) -> downloads.Format:
    """Choose among formats, and say what the chosen one is for."""
    fmt: downloads.Format = st.selectbox(
        "Format", formats, format_func=FORMATS.__getitem__, key=key
    )
    st.caption(NOTES[fmt])
    return fmt


def draw_download(
    run: RunRow,
    kind: downloads.Kind | downloads.Completed,
    fmt: downloads.Format,
    *,
    make: Callable[[], bytes],
    is_big: bool,
    size: str,
) -> None:
    """Offer a file; a big one is streamed from disk where the server can, not held in memory."""
    if is_big and downloads.available():
        st.link_button(
            "Download",
            downloads.export_url(run.id, kind, fmt),
            type="primary",
            icon=":material/download:",
        )
        st.caption(f"{size}. A file of this size is streamed from disk; it may take a moment.")
        return
    name = downloads.file_name(state.workspace(), run.id, kind, fmt)
    st.download_button(
        "Download",
        data=make,
        file_name=name,
        mime=downloads.media_type(fmt),
        type="primary",
        icon=":material/download:",
        key=f"export_download_{kind}_{fmt}",
        on_click="ignore",
    )
    st.caption(f"{escape_md(name)}: {size}.")


def draw_provenance(
    run: RunRow, kind: downloads.Kind | downloads.Completed, fmt: downloads.Format, n_rows: int
) -> None:
    """Offer what is needed to make a file again, and show it."""
    facts = _provenance_of(run, kind, fmt, n_rows)
    stem = downloads.file_name(state.workspace(), run.id, kind, fmt).rsplit(".", 1)[0]
    st.download_button(
        "How it was made (JSON)",
        data=json.dumps(facts, indent=2, ensure_ascii=False),
        file_name=f"{stem}.provenance.json",
        mime="application/json",
        icon=":material/fingerprint:",
        key=f"export_provenance_{kind}_{fmt}",
        on_click="ignore",
        help="Keep it beside the file: with the same data, these settings make the same truths.",
    )
    with st.expander("What the JSON says"):
        st.json(facts, expanded=2)


def _provenance_of(
    run: RunRow, kind: downloads.Kind | downloads.Completed, fmt: downloads.Format, n_rows: int
) -> dict[str, Any]:
    """Return all that is needed to make the file again, and to trust it."""
    dataset = state.workspace().dataset(run.dataset_id)
    return {
        "export": {"table": kind, "format": fmt, "rows": n_rows},
        "project": state.workspace().project(run.project_id).name,
        "data": {"name": dataset.name, "fingerprint": dataset.fingerprint},
        "run": {"id": run.id, "number": run.number, **cache.provenance(run.id)},
    }
