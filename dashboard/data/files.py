"""Files that were dropped together: what each of them is, and a way to say otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard import state
from dashboard.text import escape_md

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crowdcore.jobs.drafts import UploadedFile
    from crowdcore.reading.companions import FileKind, RecognisedFile
    from crowdcore.workspace.folders import ScratchFolder

KINDS: dict[FileKind, tuple[str, str]] = {
    "labels": (":material/label:", "Labels"),
    "gold": (":material/verified:", "Gold answers"),
    "features": (":material/dataset:", "Item features"),
    "other": (":material/block:", "Not used"),
}
"""What a file can be, with its sign."""

KIND_WIDTH = 180


def store(folder: ScratchFolder, stem: str, file: Any) -> UploadedFile:
    """Write an upload to its draft's folder, so that its bytes do not stay in memory."""
    from crowdcore.jobs.drafts import UploadedFile
    from crowdcore.workspace.disk import SMALL_WRITE_BYTES, writing

    path = folder.path / stem
    with (
        writing(state.workspace().root, "The upload", needed=file.size + SMALL_WRITE_BYTES),
        path.open("xb") as target,
    ):
        target.write(file.getbuffer())
    return UploadedFile(name=last_part(file.name), path=path)


def last_part(name: str) -> str:
    """Keep the last part of a file name; an upload may be called ../../etc/passwd.csv."""
    return name.replace("\\", "/").rsplit("/", 1)[-1] or "upload"


def sort_out(files: Sequence[RecognisedFile], *, key: str) -> tuple[list[FileKind], str]:
    """List the files with what each seems to be, open to change.

    Returns what each is to be, and why that cannot be; "" where it can.
    """
    kinds: list[FileKind] = []
    with st.container(border=True):
        st.markdown("**What the files are**")
        for number, file in enumerate(files):
            icon = KINDS[file.kind][0]
            with st.container(horizontal=True, vertical_alignment="center"):
                with st.container():
                    st.markdown(
                        f"{icon} **{escape_md(file.name)}**  \n:small[{escape_md(file.why)}]"
                    )
                with st.container(width=KIND_WIDTH):
                    kind: FileKind = st.selectbox(
                        f"What {escape_md(file.name)} is",
                        list(KINDS),
                        index=list(KINDS).index(file.kind),
                        format_func=lambda name: KINDS[name][1],
                        key=f"kind:{key}:{number}",
                        label_visibility="collapsed",
                    )
                kinds.append(kind)
    return kinds, _problem(kinds)


def _problem(kinds: Sequence[FileKind]) -> str:
    if "labels" not in kinds:
        return "None of the files is said to hold the labels. Choose one."
    for kind in ("labels", "gold", "features"):
        if kinds.count(kind) > 1:
            title = KINDS[kind][1].lower()
            return f"Two files are said to hold the {title}. Choose one; add the other later."
    return ""
