"""Crowds of a few labels, among them the oddest."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from crowdcore.data import OUTCOMES, CrowdData


@st.composite
def tiny_crowds(draw: st.DrawFn) -> CrowdData:
    n_items, n_workers = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    n_classes = draw(st.integers(1, 3))
    cell = st.tuples(
        st.integers(0, n_items - 1), st.integers(0, n_workers - 1), st.integers(0, n_classes - 1)
    )
    triples = np.array(draw(st.lists(cell, min_size=1, max_size=10)))
    return CrowdData(
        item=triples[:, 0],
        worker=triples[:, 1],
        label=triples[:, 2],
        items=tuple(f"i{i}" for i in range(n_items)),
        workers=tuple(f"w{w}" for w in range(n_workers)),
        classes=tuple("abc"[:n_classes]),
    )


@st.composite
def tiny_ratings(draw: st.DrawFn) -> CrowdData:
    n_items, n_workers = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    value = st.sampled_from([0.0, 1.0, 2.5, 4.0, -3.0, 1e6])
    cell = st.tuples(st.integers(0, n_items - 1), st.integers(0, n_workers - 1), value)
    triples = draw(st.lists(cell, min_size=1, max_size=10))
    gold = draw(st.sampled_from([None, np.array([1.0, np.nan, 2.0, 0.5])[:n_items]]))
    return CrowdData(
        item=np.array([triple[0] for triple in triples]),
        worker=np.array([triple[1] for triple in triples]),
        label=np.array([triple[2] for triple in triples]),
        items=tuple(f"i{i}" for i in range(n_items)),
        workers=tuple(f"w{w}" for w in range(n_workers)),
        kind="ratings",
        gold=gold,
    )


@st.composite
def tiny_arenas(draw: st.DrawFn) -> CrowdData:
    n_items, n_workers = draw(st.integers(2, 5)), draw(st.integers(1, 4))
    row = st.tuples(
        st.integers(0, n_items - 1),
        st.integers(1, n_items - 1),
        st.integers(0, n_workers - 1),
        st.integers(0, 2),
    )
    rows = np.array(draw(st.lists(row, min_size=1, max_size=10)))
    return CrowdData(
        item=rows[:, 0],
        other=(rows[:, 0] + rows[:, 1]) % n_items,
        worker=rows[:, 2],
        label=rows[:, 3],
        items=tuple(f"i{i}" for i in range(n_items)),
        workers=tuple(f"w{w}" for w in range(n_workers)),
        classes=OUTCOMES,
        kind="comparisons",
    )


@st.composite
def tiny_texts(draw: st.DrawFn) -> CrowdData:
    """Texts of a few tokens, of which workers may have seen a part, with any tags at all."""
    lengths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    n_items, n_workers = sum(lengths), draw(st.integers(1, 3))
    tags = ("O", "B-a", "I-a", "B-b", "I-b")[: draw(st.sampled_from([1, 3, 5]))]
    cells = draw(
        st.lists(
            st.tuples(st.integers(0, n_items - 1), st.integers(0, n_workers - 1)),
            min_size=1,
            max_size=12,
            unique=True,
        )
    )
    given = draw(st.lists(st.integers(0, len(tags) - 1), min_size=len(cells), max_size=len(cells)))
    return CrowdData(
        item=np.array([item for item, _ in cells]),
        worker=np.array([worker for _, worker in cells]),
        label=np.array(given),
        items=tuple(f"t{i}" for i in range(n_items)),
        workers=tuple(f"w{w}" for w in range(n_workers)),
        classes=tags,
        kind="sequences",
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        details={"token": tuple(f"word{i % 3}" for i in range(n_items))},
    )
