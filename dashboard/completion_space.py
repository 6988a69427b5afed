"""One worker's labels where the filler places them, with transfer from the crowd and without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import streamlit as st

from crowdcore.audit.completion import neighbours_alike
from crowdcore.data import UNKNOWN, Codes
from crowdcore.projection import project
from dashboard import opening, placing, reads, state
from dashboard.charts.palette import plain
from dashboard.charts.space import class_groups, space_scatter
from dashboard.text import count, escape_md, percent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crowdcore.artefacts.completion import Completion
    from crowdcore.workspace import RunRow

Colour = Literal["gold", "truth", "label"]
Way = Literal["with", "without"]

COLOURS: dict[Colour, str] = {"gold": "Gold", "truth": "Inferred truth", "label": "Worker's label"}
WAYS: dict[Way, str] = {"with": "With transfer", "without": "Without transfer"}
PLANE = 2
WIDTH = 300

ENOUGH_GOLD = 0.5
"""The share of a worker's items with gold from which gold is shown first."""


def embeddings(completion: Completion) -> dict[Way, NDArray[Any]]:
    """Return where a filler places labels [L, d], each way; empty if it keeps no such places."""
    found, n = completion.artefacts.get("embeddings", {}), completion.data.n_labels
    return {way: found[way] for way in WAYS if len(found.get(way, ())) == n}


def draw(run: RunRow, points: dict[Way, NDArray[Any]]) -> None:
    """Show one worker's labelled items both ways, and how well classes lie apart."""
    data = reads.result(run.id).data
    row = st.container(horizontal=True, vertical_alignment="bottom")
    with row.container(width=WIDTH):
        own = np.flatnonzero(data.worker == _choose_worker(run))
    with row:
        colour = _choose_colour(run, own)
    codes = _codes(run, colour)
    placed = np.logical_and.reduce([np.isfinite(one[own]).all(1) for one in points.values()])
    own = own[placed]
    known = own[codes[own] != UNKNOWN]
    rows = placing.sample(known)
    codes = codes[rows]
    st.caption(
        "Each point is an item that the worker labelled, placed by the model that fills in their "
        "missing labels. Transfer means that the model first learnt from the whole crowd's clear "
        "items, then from this worker. Where classes lie apart, it can tell what the worker would "
        "say. The two planes have nothing in common but the points."
    )
    if len(known) < len(own):
        words = "with gold" if colour == "gold" else "with a decided truth"
        st.caption(f"{count(len(known))} of {count(len(own), 'label')}: those {words}.")
    if len(rows) < len(known):
        st.caption(f"{count(len(rows))} of them are drawn, chosen at random, always the same.")
    columns = opening.side_by_side(1, 1)
    for column, (way, title) in zip(columns, WAYS.items(), strict=True):
        with column:
            st.markdown(f"**{title}**")
            if way not in points:
                st.caption("This run did not try it; a setting of the filler does.")
            elif not len(rows):
                st.caption("The filler placed none of this worker's labels.")
            else:
                _plane(run, way, points[way][rows], rows, codes)
                _alike(points[way][rows], codes, colour)


def _choose_worker(run: RunRow) -> int:
    """Choose a worker, those with the most labels first; the URL remembers who."""
    data = reads.result(run.id).data
    order = np.argsort(-data.labels_per_worker, kind="stable")
    names = {
        data.workers[code]: f"{data.workers[code]} ({count(data.labels_per_worker[code], 'label')})"
        for code in order
        if data.labels_per_worker[code]
    }
    wish = state.selection("worker") or ""
    current = wish if wish in names else next(iter(names))
    state.choose("Worker", names, current=current, on_pick=lambda one: state.select("worker", one))
    return data.workers.index(current)


def _choose_colour(run: RunRow, own: NDArray[np.intp]) -> Colour:
    """Choose what colours mean; gold comes first where most of the worker's items have it."""
    data = reads.result(run.id).data
    known = data.has_gold[data.item[own]]
    colours: list[Colour] = ["truth", "label"]
    if known.any():
        colours.insert(0 if known.mean() >= ENOUGH_GOLD else 2, "gold")
    colour = st.segmented_control(
        "Colour by",
        colours,
        default=colours[0],
        format_func=COLOURS.__getitem__,
        key=f"completion_space_colour_{len(colours)}_{colours[0]}",
    )
    return colour or colours[0]


def _codes(run: RunRow, colour: Colour) -> Codes:
    """Return the class of each label [L] by what is shown; UNKNOWN where there is none."""
    result = reads.result(run.id)
    data = result.data
    codes: Codes = data.label
    if colour == "truth":
        codes = result.truth[data.item]
    elif colour == "gold" and data.gold is not None:
        codes = data.gold[data.item]
    return codes


def _plane(
    run: RunRow, way: Way, points: NDArray[Any], rows: NDArray[np.intp], codes: Codes
) -> None:
    result = reads.result(run.id)
    data = result.data
    items = data.item[rows]
    places = points if points.shape[1] == PLANE else project(points)
    said = [*(plain(name, 40) for name in data.classes), "unknown"]
    texts = [
        f"<b>{plain(data.items[item], 40)}</b><br>they said {said[label]}<br>"
        f"truth {said[result.truth[item]]}"
        for item, label in zip(items, data.label[rows], strict=True)
    ]
    figure = space_scatter(
        np.asarray(places, np.float64),
        np.array([data.items[item] for item in items], dtype=object),
        np.array(texts, dtype=object),
        class_groups(codes, data.classes, opening.theme()),
        theme=opening.theme(),
    )
    figure.update_layout(height=420, clickmode="none")
    st.plotly_chart(
        figure,
        key=f"completion_space_{way}",
        config={"displayModeBar": False},
        alt=f"The worker's labelled items where the filler places them, {WAYS[way].lower()}",
    )
    if points.shape[1] > PLANE:
        st.caption(f"Two of {points.shape[1]} dimensions: those with the largest spread (PCA).")


def _alike(points: NDArray[Any], codes: Codes, colour: Colour) -> None:
    near, chance = neighbours_alike(points, codes)
    if np.isnan(near):
        st.caption("Too few points with a known class to say how well they lie apart.")
        return
    st.markdown(
        f"Nearest neighbour of the same {escape_md(COLOURS[colour].lower())}: "
        f"**{percent(near, 0)}**, by chance {percent(chance, 0)}."
    )
