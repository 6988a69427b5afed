"""Attention: who looks at whom inside a method, and what the labels say about it."""

from __future__ import annotations

import streamlit as st

from dashboard import (
    attention_items,
    attention_reads,
    attention_space,
    attention_workers,
    lacking,
    opening,
)
from dashboard.text import escape_md

ATTENDING = "hgnn"  # to offer where a run's method does not attend

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
    run = opening.open_results("Attention")
    attention, embedding = attention_reads.attention(run.id), attention_reads.embedding(run.id)
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
        lacking.draw(run, "attention", ATTENDING, "This run has no attention", why)
        return
    with st.expander("What attention shows, and what it does not", icon=":material/lightbulb:"):
        st.markdown(MEANING)
    view = opening.choose_view({name: VIEWS[name] for name in views}, key="attention_view")
    if view == "space" and embedding is not None:
        attention_space.draw(run, embedding)
    elif view == "items" and attention is not None:
        attention_items.draw(run, attention)
    elif attention is not None:
        attention_workers.draw(run, attention)


draw()
