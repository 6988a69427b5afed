"""Reading a file in a process of its own, with its time on the page and a button to stop it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

import streamlit as st

from crowdcore.wording import duration
from dashboard.text import escape_md

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Request = TypeVar("Request")
Answer = TypeVar("Answer")

QUICK_SECONDS = 0.7
"""What is ready by then needs no word."""

REFRESH_SECONDS = 0.5


def read_stoppably(
    function: Callable[[Request], Answer],
    request: Request,
    folder: Path,
    *,
    title: str,
    on_stop: Callable[[], None],
) -> Answer:
    """Run a function of `crowdcore.jobs.drafts` in a process of its own.

    Whatever the user does meanwhile, a click on Stop or on anything else, ends the process:
    Streamlit then begins the page anew, and interrupts this at the next word on the page.
    """
    from crowdcore.jobs.reading_process import ReadingProcess

    began = time.monotonic()
    process = ReadingProcess(function, request, folder)
    box = st.empty()
    try:
        if not process.wait(QUICK_SECONDS):
            with box.container(border=True, horizontal=True, vertical_alignment="center"):
                line = st.empty()
                st.button(
                    "Stop",
                    icon=":material/stop_circle:",
                    on_click=on_stop,
                    key=f"stop_read:{title}",
                )
            while True:
                passed = duration(time.monotonic() - began)
                line.markdown(f":material/hourglass_top: {escape_md(title)} · {passed}")
                if process.wait(REFRESH_SECONDS):
                    break
        return process.answer()
    finally:
        process.stop()
        box.empty()
