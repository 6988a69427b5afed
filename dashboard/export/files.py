"""Files of a run for whoever gave the labels, and for other tools."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from crowdcore.wording import count
from dashboard import layout, state, widgets
from dashboard.server import downloads
from dashboard.text import escape_md, list_names

if TYPE_CHECKING:
    import pandas as pd

    from crowdcore.export.finished import FinishedRun
    from crowdcore.export.targets import Target
    from crowdcore.workspace import RunRow

PREVIEW_ROWS = 20
MAX_PREVIEW_BYTES = 20_000_000
"""Above this a file is not parsed once more to show its first rows."""


def draw(run: RunRow) -> None:
    """Choose where the results go, see what is written, and download it."""
    from crowdcore.export.targets import targets

    finished = _finished(run.id)
    obstacles = _obstacles(run.id)
    possible = [target for target in targets().values() if not obstacles[target.id]]
    left_column, right_column = layout.side_by_side(2, 3)
    with left_column:
        target = st.radio(
            "Where to",
            possible,
            format_func=lambda target: target.title,
            key="export_target",
        )
    with right_column:
        st.subheader(escape_md(target.title), anchor=False)
        st.markdown(target.contents)
        _draw_effects(finished, target)
        for_spreadsheets = target.guards_formulas and st.toggle(
            "Mark formulas for spreadsheets",
            value=True,
            key="export_guard",
            help="Puts an apostrophe before added text that a spreadsheet would run as a formula "
            "(it begins with = + - @). Cells of your own file stay as they are. Turn it off for "
            "files that programs read.",
        )
        _draw_download(run, finished, target, for_spreadsheets)
        if target.id == "same":
            _draw_preview(finished)
        _draw_impossible(obstacles)


@st.cache_resource(max_entries=2, show_spinner="Preparing the files…")
def _finished(run_id: str) -> FinishedRun:
    return state.workspace().finished(run_id)


@st.cache_resource(max_entries=16, show_spinner=False)
def _obstacles(run_id: str) -> dict[str, str]:
    """Say why a run cannot be written for a tool, "" where it can; some look at every label."""
    from crowdcore.export.targets import find_obstacle, targets

    finished = _finished(run_id)
    return {target.id: find_obstacle(target, finished) for target in targets().values()}


def _draw_effects(finished: FinishedRun, target: Target) -> None:
    """Say what the files do to people, before anybody uploads them."""
    excluded = list(finished.excluded)
    if target.rejects and excluded:
        st.warning(
            f"The work of {count(len(excluded), 'worker')} is rejected, because this run leaves "
            f"them out: {list_names(excluded, max_names=8, limit=40)}. Each gets the reason and "
            "the evidence.",
            icon=":material/block:",
        )
    elif target.rejects:
        st.info(
            "Nobody's work is rejected: this run leaves nobody out. Exclude workers on the Workers "
            "page to reject their work.",
            icon=":material/info:",
        )
    n_undecided = int((finished.truth == "").sum())
    if n_undecided:
        st.caption(f"{count(n_undecided, 'item')} without a truth: their cells stay empty.")


def _draw_download(
    run: RunRow, finished: FinishedRun, target: Target, for_spreadsheets: bool
) -> None:
    from crowdcore.export.targets import checked_files, download_name

    files = checked_files(target, finished)
    name = download_name(files, f"{finished.name}-{target.id}")
    if downloads.available():
        st.link_button(
            "Download",
            downloads.target_url(run.id, target.id, for_spreadsheets=for_spreadsheets),
            type="primary",
            icon=":material/download:",
        )
    else:
        st.download_button(
            "Download",
            data=partial(
                downloads.target_bytes, state.workspace(), run.id, target.id, for_spreadsheets
            ),
            file_name=name,
            type="primary",
            icon=":material/download:",
            key=f"export_files_{target.id}",
            on_click="ignore",
        )
    inside = ", ".join(escape_md(file.name) for file in files)
    st.caption(escape_md(name) if len(files) == 1 else f"{escape_md(name)} with {inside}")
    st.code(
        f"crowdcore export {run.id[:12]} --as {target.id}"
        + (" --for-spreadsheets" if for_spreadsheets else ""),
        language="bash",
        wrap_lines=True,
    )


def _draw_preview(finished: FinishedRun) -> None:
    original = finished.original
    if original is None or original.n_bytes > MAX_PREVIEW_BYTES:
        return
    frame, added = _preview(finished)
    st.caption(
        f"The first {count(len(frame), 'row')}. What is added is marked; it stands first here, and "
        "last in the file."
    )
    widgets.table(
        frame.style.set_properties(subset=list(added), **_ADDED_STYLE),
        alt="The first rows of your file with the added columns",
        height="content",
    )


_ADDED_STYLE = {"background-color": "rgba(0, 158, 115, 0.18)"}


def _preview(finished: FinishedRun) -> tuple[pd.DataFrame, tuple[str, ...]]:
    import pandas as pd

    from crowdcore.export.originals import spelled
    from crowdcore.export.targets.same import added_columns

    columns = finished.table.columns
    added = added_columns(finished, columns)
    frame = pd.DataFrame(finished.table.preview(PREVIEW_ROWS), columns=list(columns), dtype="str")
    for at, name in enumerate(added.names):
        frame[name] = [spelled(cell) for cell in added.column(at)[: len(frame)]]
    order = [*added.names, *columns]  # what is new is seen without scrolling
    return frame[order], added.names


def _draw_impossible(obstacles: dict[str, str]) -> None:
    from crowdcore.export.targets import targets

    reasons = {name: why for name, why in obstacles.items() if why}
    if not reasons:
        return
    with st.expander(f"Not possible for these data ({len(reasons)})", icon=":material/block:"):
        for name, why in reasons.items():
            st.markdown(f"**{escape_md(targets()[name].title)}**: {escape_md(why)}")
