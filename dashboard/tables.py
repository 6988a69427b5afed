"""Long tables a page at a time, so that a browser never gets more than it can hold."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from crowdcore.wording import count

PAGE_ROWS = 5_000


def page_of(
    rows: NDArray[np.intp],
    *,
    key: str,
    noun: str,
    page_rows: int = PAGE_ROWS,
    sorts: str = "Column heads sort this page only, **Order** sorts all.",
) -> NDArray[np.intp]:
    """Return the rows of the page in view; says so, and offers the others, where there are more."""
    if len(rows) <= page_rows:
        return rows
    pages = math.ceil(len(rows) / page_rows)
    with st.container(horizontal=True, vertical_alignment="center"):
        page = st.number_input(
            "Page", 1, pages, 1, key=key, width=140, label_visibility="collapsed"
        )
        first = (int(page) - 1) * page_rows
        last = min(len(rows), first + page_rows)
        st.caption(
            f"Page {page} of {pages}: {noun} {count(first + 1)} to {count(last)} of "
            f"{count(len(rows))}. {sorts}",
            width=330,
        )
    return rows[first:last]
