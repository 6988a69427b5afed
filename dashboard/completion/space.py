"""One worker's labels where the filler places them, with transfer from the crowd and without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import streamlit as st

from crowdcore.artefacts.label_embeddings import LabelEmbeddings
from crowdcore.audit.completion import same_class_neighbours
from crowdcore.data import UNKNOWN, Codes
from crowdcore.projection import project
from crowdcore.wording import count, percent
from dashboard import cache, layout, plane, state, widgets
from dashboard.charts.palette import plain
from dashboard.charts.space import class_groups, space_scatter
from dashboard.text import escape_md

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crowdcore.results.result import Result
    from crowdcore.workspace import RunRow

Colour = Literal["gold", "truth", "label"]
Transfer = Literal["with", "without"]

COLOURS: dict[Colour, str] = {"gold": "Gold", "truth": "Inferred truth", "label": "Worker's label"}
TRANSFERS: dict[Transfer, str] = {"with": "With transfer", "without": "Without transfer"}
PLANE = 2
WIDTH = 300

ENOUGH_GOLD = 0.5
"""The share of a worker's items with gold from which gold is shown first."""


def embeddings(result: Result) -> dict[Transfer, NDArray[Any]]:
    """Return where a filler places labels [L, d], with and without transfer, as far as it does."""
    points = result.artefact(LabelEmbeddings)
    if points is None:
        return {}
    arrays: dict[Transfer, Any] = {"with": points.with_transfer, "without": points.without_transfer}
    return {
        name: array
        for name, array in arrays.items()
        if array is not None and len(array) == result.data.n_labels
    }


def draw(run: RunRow, points: dict[Transfer, NDArray[Any]]) -> None:
    """Show one worker's labelled items both ways, and how well classes lie apart."""
    data = cache.result(run.id).data
    row = st.container(horizontal=True, vertical_alignment="bottom")
    with row.container(width=WIDTH):
        labels = np.flatnonzero(data.worker == _choose_worker(run))
    with row:
        colour = _choose_colour(run, labels)
    codes = _codes(run, colour)
    is_placed = [np.isfinite(coordinates[labels]).all(1) for coordinates in points.values()]
    labels = labels[np.logical_and.reduce(is_placed)]
    coloured = labels[codes[labels] != UNKNOWN]
    rows = plane.sample(coloured)
    codes = codes[rows]
    st.caption(
        "Each point is an item that the worker labelled, placed by the model that fills in their "
        "missing labels. Transfer means that the model first learnt from the whole crowd's clear "
        "items, then from this worker. Where classes lie apart, it can tell what the worker would "
        "say. The two planes have nothing in common but the points."
    )
    if len(coloured) < len(labels):
        which = "with gold" if colour == "gold" else "with a decided truth"
        st.caption(f"{count(len(coloured))} of {count(len(labels), 'label')}: those {which}.")
    if len(rows) < len(coloured):
        st.caption(f"{count(len(rows))} of them are drawn, chosen at random, always the same.")
    columns = layout.side_by_side(1, 1)
    for column, (transfer, title) in zip(columns, TRANSFERS.items(), strict=True):
        with column:
            st.markdown(f"**{title}**")
            if transfer not in points:
                st.caption("This run did not try it; a setting of the filler does.")
            elif not len(rows):
                st.caption("The filler placed none of this worker's labels.")
            else:
                _draw_plane(run, transfer, points[transfer][rows], rows, codes)
                _draw_separation(points[transfer][rows], codes, colour)


def _choose_worker(run: RunRow) -> int:
    """Choose a worker, those with the most labels first; the URL remembers who."""
    data = cache.result(run.id).data
    order = np.argsort(-data.labels_per_worker, kind="stable")
    names = {
        data.workers[code]: f"{data.workers[code]} ({count(data.labels_per_worker[code], 'label')})"
        for code in order
        if data.labels_per_worker[code]
    }
    linked = state.selection("worker") or ""
    current = linked if linked in names else next(iter(names))
    state.choose(
        "Worker", names, current=current, on_pick=lambda name: state.select("worker", name)
    )
    return data.workers.index(current)


def _choose_colour(run: RunRow, labels: NDArray[np.intp]) -> Colour:
    """Choose what colours mean; gold comes first where most of the worker's items have it."""
    data = cache.result(run.id).data
    has_gold = data.has_gold[data.item[labels]]
    colours: list[Colour] = ["truth", "label"]
    if has_gold.any():
        colours.insert(0 if has_gold.mean() >= ENOUGH_GOLD else 2, "gold")
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
    result = cache.result(run.id)
    data = result.data
    codes: Codes = data.label
    if colour == "truth":
        codes = result.truth[data.item]
    elif colour == "gold" and data.gold is not None:
        codes = data.gold[data.item]
    return codes


def _draw_plane(
    run: RunRow, transfer: Transfer, points: NDArray[Any], rows: NDArray[np.intp], codes: Codes
) -> None:
    result = cache.result(run.id)
    data = result.data
    items = data.item[rows]
    positions = points if points.shape[1] == PLANE else project(points)
    names = [*(plain(name, 40) for name in data.classes), "unknown"]
    texts = [
        f"<b>{plain(data.items[item], 40)}</b><br>they said {names[label]}<br>"
        f"truth {names[result.truth[item]]}"
        for item, label in zip(items, data.label[rows], strict=True)
    ]
    figure = space_scatter(
        np.asarray(positions, np.float64),
        np.array([data.items[item] for item in items], dtype=object),
        np.array(texts, dtype=object),
        class_groups(codes, data.classes, layout.theme()),
        theme=layout.theme(),
    )
    figure.update_layout(height=420, clickmode="none")
    widgets.chart(
        figure,
        key=f"completion_space_{transfer}",
        alt=f"The worker's labelled items as the filler places them, {TRANSFERS[transfer].lower()}",
    )
    if points.shape[1] > PLANE:
        st.caption(f"Two of {points.shape[1]} dimensions: those with the largest spread (PCA).")


def _draw_separation(points: NDArray[Any], codes: Codes, colour: Colour) -> None:
    """Say how well the classes lie apart."""
    share, chance = same_class_neighbours(points, codes)
    if np.isnan(share):
        st.caption("Too few points with a known class to say how well they lie apart.")
        return
    st.markdown(
        f"Nearest neighbour of the same {escape_md(COLOURS[colour].lower())}: "
        f"**{percent(share, 0)}**, by chance {percent(chance, 0)}."
    )
