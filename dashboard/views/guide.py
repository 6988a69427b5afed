"""Guide: how to audit labels, chapter by chapter."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import streamlit as st

from dashboard import state
from dashboard.guide import chapters

CONTENTS_PIXELS = 230

_PICTURE = re.compile(r"^!\[(?P<alt>[^\]]*)\]\((?P<path>[^)\s]+)\)$", re.MULTILINE)
_LINK = re.compile(r"\[(?P<words>[^\]]+)\]\((?P<name>[\w-]+)\.md(?P<anchor>#[\w-]+)?\)")


def draw() -> None:
    titles = chapters.titles()
    linked = state.selection("chapter")
    name = linked if linked in titles else chapters.FIRST
    with st.container(horizontal=True, gap="large"):
        with st.container(width=CONTENTS_PIXELS):
            picked = st.radio(
                "Chapters",
                list(titles),
                index=list(titles).index(name),
                format_func=titles.__getitem__,
                key=f"chapter:{name}",
            )
        with st.container():
            st.title(titles[name], anchor=False)
            _draw_text(chapters.text(name))
    if picked != name:
        state.select("chapter", picked)
        st.rerun()


def _draw_text(text: str) -> None:
    at = 0
    for picture in _PICTURE.finditer(text):
        _draw_words(text[at : picture.start()])
        st.image(str(chapters.folder() / picture["path"]), caption=picture["alt"])
        at = picture.end()
    _draw_words(text[at:])


def _draw_words(text: str) -> None:
    """Write Markdown whose links to chapters stay in this tab, which only HTML can do."""
    if text.strip():
        st.markdown(_LINK.sub(_link, text), unsafe_allow_html=True)


def _link(match: re.Match[str]) -> str:
    query = urlencode({**st.query_params, "chapter": match["name"]})
    return f'<a href="?{query}{match["anchor"] or ""}" target="_self">{match["words"]}</a>'


draw()
