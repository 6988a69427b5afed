"""Drafts: uploaded files of a tab that are not yet saved, and what each of them is.

The bytes go to a folder on disk at once, and the uploader is emptied. Files are parsed and read
in a process of their own (`dashboard.data.reading`); what this process gets is small.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import streamlit as st

from crowdcore import DataError
from crowdcore.wording import count
from dashboard import state
from dashboard.data import files
from dashboard.data.reading import read_stoppably
from dashboard.text import escape_md

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crowdcore.jobs.drafts import Extra, UploadedFile
    from crowdcore.jobs.opening import OpenedDraft, OpenRequest
    from crowdcore.workspace.folders import ScratchFolder

EXTRAS: dict[Extra, tuple[str, str]] = {
    "gold": (
        "Gold answers",
        "A file of items and their correct answers, for the items where you know them.",
    ),
    "features": (
        "Item features",
        "What is known about the items, for methods that learn from it: a table of items with "
        "numbers, categories or texts, an NPZ with an embedding, or a zip of pictures named by "
        "item.",
    ),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Draft:
    """Files that were uploaded and not yet saved."""

    number: int  # makes widget keys new for a new file
    folder: ScratchFolder
    files: tuple[UploadedFile, ...]
    labels: UploadedFile
    opened: OpenedDraft
    extras: Mapping[Extra, UploadedFile] = field(default_factory=dict)


def current_draft() -> Draft | None:
    """Return the uploaded files of this tab."""
    return cast("Draft | None", state.kept("draft"))


def upload() -> None:
    """Take files, see what each of them is, parse the labels once, and let the bytes go."""
    number = state.kept("uploads") or 0
    uploads = st.file_uploader(
        "Labels file, with gold answers, features or pictures if you have them",
        key=f"labels:{number}",
        accept_multiple_files=True,
        help="Labels: a table with one row per label (item, worker, label), or one column per "
        "worker. Drop other files with it: each is recognised. They stay on this computer.",
    )
    if note := state.kept("stopped"):
        st.info(escape_md(note), icon=":material/block:")
    if not uploads:
        return
    state.keep("stopped", None)
    from crowdcore.jobs.opening import OpenRequest as Request

    try:
        folder = state.workspace().new_draft()
        stored = tuple(
            files.store(folder, f"upload-{number}-{at}", file) for at, file in enumerate(uploads)
        )
        opened = _open(folder, Request(files=stored))
    except DataError as error:
        st.error(escape_md(error), icon=":material/error:")
        return
    state.keep("uploads", number + 1)
    kinds = [file.kind for file in opened.recognised]
    extras = {
        kind: file
        for kind, file in zip(kinds, stored, strict=True)
        if kind in EXTRAS and kinds.count(kind) == 1
    }
    draft = Draft(
        number=number + 1,
        folder=folder,
        files=stored,
        labels=stored[opened.labels],
        opened=opened,
        extras=cast("Mapping[Extra, UploadedFile]", extras),
    )
    state.keep("draft", draft)
    st.rerun()


def _open(folder: ScratchFolder, request: OpenRequest) -> OpenedDraft:
    from crowdcore.jobs.opening import open_draft

    names = [file.name for file in request.files]
    title = f"Reading {names[0]}" if len(names) == 1 else f"Reading {count(len(names), 'file')}"
    return read_stoppably(open_draft, request, folder.path, title=title, on_stop=forget_upload)


def sort_out(current: Draft) -> None:
    """Show what the files are; another choice opens the draft anew."""
    if len(current.files) == 1:
        return
    kinds, problem = files.sort_out(current.opened.recognised, key=str(current.number))
    if problem:
        st.error(problem, icon=":material/error:")
        st.stop()
    from crowdcore.jobs.opening import OpenRequest as Request

    labels = current.files[kinds.index("labels")]
    extras = {
        kind: file
        for kind, file in zip(kinds, current.files, strict=True)
        if kind in ("gold", "features")
    }
    before = {kind: file for kind, file in current.extras.items() if file in current.files}
    if labels == current.labels and extras == before:
        return
    others = {kind: file for kind, file in current.extras.items() if file not in current.files}
    try:
        opened = current.opened
        if labels != current.labels:
            request = Request(files=current.files, labels=kinds.index("labels"))
            opened = replace(_open(current.folder, request), recognised=current.opened.recognised)
    except DataError as error:
        st.error(escape_md(error), icon=":material/error:")
        st.stop()
    changed = replace(
        current, labels=labels, opened=opened, extras=cast("Any", {**extras, **others})
    )
    state.keep("draft", changed)
    st.rerun()


def forget_upload() -> None:
    """Empty the uploader, and forget the draft: its reading was stopped."""
    state.keep("uploads", (state.kept("uploads") or 0) + 1)
    state.keep("stopped", "Reading was stopped. Nothing was saved.")
    forget_draft()


def forget_draft() -> None:
    """Let the uploaded files of this tab go."""
    state.keep("draft", None)
    state.keep("readings", None)
