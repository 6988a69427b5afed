"""Attention: who looks at whom inside a method, and what the labels say about it."""

from __future__ import annotations

import streamlit as st

from dashboard import layout, missing
from dashboard.attention import items, reads, space, workers
from dashboard.text import escape_md

VIEWS = {"workers": "Between workers", "items": "Between items", "space": "Learnt space"}

MEANING = """
**What it shows.** While it learns, the method builds a picture of every worker and every item, and
each of them may look at the others. Attention is how much it takes from whom. **1×** is an even
share: what everyone would get if the method made no difference between them.

**What it does not show.** A heavy link is not evidence of copying, and a light one does not clear
anybody. Often everyone looks at the same few workers because these are typical, not because
anything is wrong. Another seed can give other weights.

**What is evidence.** How often two workers gave the same label on items that both labelled,
against how often two workers just as good would, each working alone. The same *wrong* label
counts most: there are many ways to be wrong. Three cautions: hard items make honest workers err
alike; copiers who outvote the rest look right; a handful of shared items says nothing.
"""


def draw() -> None:
    run = layout.open_results("attention")
    attention, embedding = reads.attention(run.id), reads.embedding(run.id)
    views = [
        name
        for name in VIEWS
        if (embedding is not None if name == "space" else attention is not None)
    ]
    if not views:
        why = (
            f"{escape_md(run.title)} does not let workers or items look at each other. Graph "
            "networks do, while they learn which workers and items belong together."
        )
        missing.draw(run, "attention", "This run has no attention", why)
        return
    with st.expander("What attention shows, and what it does not", icon=":material/lightbulb:"):
        st.markdown(MEANING)
    view = layout.choose_view({name: VIEWS[name] for name in views}, key="attention_view")
    if view == "space" and embedding is not None:
        space.draw(run, embedding)
    elif view == "items" and attention is not None:
        items.draw(run, attention)
    elif attention is not None:
        workers.draw(run, attention)


draw()
