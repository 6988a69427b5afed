"""Adding gold answers, item features or more labels to a saved data set, as its next version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from crowdcore import DataError
from crowdcore.wording import count
from dashboard import state
from dashboard.data import health
from dashboard.data.draft import EXTRAS
from dashboard.data.files import last_part, store
from dashboard.data.reading import read_stoppably
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.jobs.drafts import Addition, ExtendedDraft
    from crowdcore.workspace import Dataset
    from crowdcore.workspace.folders import ScratchFolder

LABELS = (
    "More labels",
    "A file of further labels, of the same or of new items and workers. Labels that are there "
    "already count once; where a worker changed a label, the later one counts.",
)
KINDS: dict[Addition, tuple[str, str]] = {
    "gold": EXTRAS["gold"],
    "features": EXTRAS["features"],
    "labels": LABELS,
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Added:
    """A file that was read to be added: what came of it, or the sentence that says why not."""

    key: tuple[str, str, str]
    folder: ScratchFolder | None = None
    read: ExtendedDraft | None = None
    problem: str = ""


def draw(dataset: Dataset) -> None:
    """Take a file, say what is new in it, and save it on request."""
    with st.expander(
        "Add gold answers, item features or more labels", icon=":material/library_add:"
    ):
        what: Addition = (
            st.segmented_control(
                "What to add",
                list(KINDS),
                default="gold",
                format_func=lambda kind: KINDS[kind][0],
                key=f"add:{dataset.id}",
            )
            or "gold"
        )
        number = state.kept("additions") or 0
        title, text = KINDS[what]
        file = st.file_uploader(title, key=f"add:{what}:{dataset.id}:{number}", help=text)
        if file is None:
            return
        added = _read(dataset, what, file)
        if added.read is None:
            st.error(escape_md(added.problem), icon=":material/error:")
            return
        _offer(dataset, added.read)


def _read(dataset: Dataset, what: Addition, file: Any) -> Added:
    """Read a file once; what came of it stays with the tab."""
    from crowdcore.jobs.drafts import ExtendRequest, extend_draft

    key = (dataset.id, what, str(file.file_id))
    kept: Added | None = state.kept("added")
    if kept is not None and kept.key == key:
        return kept
    workspace = state.workspace()
    try:
        folder = workspace.new_draft()
        request = ExtendRequest(
            base=workspace.data_folder(dataset.id),
            what=what,
            file=store(folder, what, file),
            target=folder.path / "data",
        )
        read = read_stoppably(
            extend_draft,
            request,
            folder.path,
            title=f"Reading {last_part(file.name)}",
            on_stop=_forget,
        )
        added = Added(key=key, folder=folder, read=read)
    except DataError as error:
        added = Added(key=key, problem=str(error))
    state.keep("added", added)
    return added


def _offer(dataset: Dataset, read: ExtendedDraft) -> None:
    news = ", ".join(count(number, noun) for noun, number in read.added.items()) or "no label"
    st.markdown(f"**New: {escape_md(news)}**")
    health.draw(read.findings)
    st.caption(
        f"This makes a new version of {escape_md(dataset.name)}. Earlier versions stay, and so do "
        "their runs."
    )
    if not st.button("Save as a new version", type="primary", icon=":material/save:", key="extend"):
        return
    try:
        with st.spinner("Saving…"):
            saved = state.workspace().adopt_version(dataset.id, read.folder, read.facts, read.added)
    except DataError as error:
        st.error(escape_md(error), icon=":material/error:")
        return
    _forget()
    state.select("data", saved.id)
    st.rerun()


def _forget() -> None:
    """Empty the uploader, and let what was read go."""
    state.keep("additions", (state.kept("additions") or 0) + 1)
    state.keep("added", None)
