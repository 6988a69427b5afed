"""The completed matrix: a piece of it in colour, what was filled in, and how surely."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from crowdcore.wording import count
from dashboard import cache, layout, state, widgets
from dashboard.charts.completion import (
    MAX_BARS,
    class_bars,
    coloured,
    label_matrix,
    sureness_histogram,
    sureness_matrix,
)
from dashboard.completion import reads
from dashboard.completion.reads import Order, Pick
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.audit.completion import Indices
    from crowdcore.workspace import RunRow

SIZES = {"20 × 100": (20, 100), "40 × 150": (40, 150), "80 × 250": (80, 250)}
"""Workers by items that are drawn: names fit, and a browser holds the largest."""

PICKS: dict[Pick, str] = {
    "drawn": "Drawn at random",
    "unsure": "Least sure truths",
    "changed": "Changed truths",
}
WORKERS = {"labels": "Most labels", "drawn": "Drawn at random", "changed": "Changed most"}
ORDERS: dict[Order, str] = {"alike": "By likeness", "labels": "By number of labels"}
WORTH_SAYING = 0.02
"""How far the shares of a class must differ for the page to say so."""

ZOOM = "Hover for names; drag to zoom in, double-click to zoom out."


def draw(run: RunRow) -> None:
    """Show a piece of the matrix, and below it all filled labels by class and by sureness."""
    _draw_matrix(run)
    left_column, right_column = layout.side_by_side(1, 1)
    with left_column:
        _draw_classes(run)
    with right_column:
        _draw_sureness(run)


def _draw_matrix(run: RunRow) -> None:
    data = cache.result(run.id).data
    row = st.container(horizontal=True, vertical_alignment="bottom")
    who = row.selectbox(
        "Workers", list(WORKERS), format_func=WORKERS.__getitem__, key="completion_who", width=180
    )
    name = row.text_input(
        "Named like",
        key="completion_name",
        placeholder="Any worker",
        icon=":material/search:",
        width=170,
    )
    order: Order = row.selectbox(
        "Order",
        list(get_args(Order)),
        format_func=ORDERS.__getitem__,
        key="completion_order",
        width=190,
    )
    size = row.selectbox("Workers × items", list(SIZES), index=1, key="completion_size", width=150)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    pick: Pick = row.selectbox(
        "Items", list(PICKS), format_func=PICKS.__getitem__, key="completion_pick", width=180
    )
    wanted = row.selectbox(
        "Truth",
        list(data.classes),
        index=None,
        key=f"completion_class_{run.id}",
        placeholder="Any class",
        width=170,
    )
    colour = row.segmented_control(
        "Colour", ["Class", "Sureness"], default="Class", key="completion_colour"
    )
    if row.button(
        "Draw others",
        icon=":material/shuffle:",
        key="completion_draw",
        disabled="drawn" not in {who, pick},
        help="Draws other items or workers, where they are drawn at random.",
    ):
        state.keep("completion_drawn", (state.kept("completion_drawn") or 0) + 1)
    n_workers, n_items = SIZES[size]
    all_workers, all_items = _filtered_workers(run, who, name), _filtered_items(run, pick, wanted)
    workers = _cut(all_workers, n_workers, who == "drawn")
    items = _cut(all_items, n_items, pick == "drawn")
    if not len(workers) or not len(items):
        noun = "worker" if not len(workers) else "item"
        st.info(f"No {noun} passes these filters.", icon=":material/filter_alt_off:")
        return
    if who != "labels":
        workers = workers[np.argsort(-data.labels_per_worker[workers], kind="stable")]
    piece = reads.matrix_piece(run.id, tuple(workers.tolist()), tuple(items.tolist()), order)
    _draw_piece(run, piece, sureness=colour == "Sureness")
    legend = "" if colour == "Sureness" else "Strong colours were given, faint ones filled in. "
    st.caption(_counts(piece, (len(all_workers), len(all_items))) + legend + ZOOM)


def _filtered_workers(run: RunRow, who: str, name: str) -> Indices:
    """Return the workers that pass, those to be shown first."""
    data = cache.result(run.id).data
    passes = reads.labelled(run.id)
    if name:
        text = name.casefold()
        passes = passes & np.array([text in worker.casefold() for worker in data.workers], bool)
    rows = np.flatnonzero(passes)
    if who == "drawn":
        return rows
    score = data.labels_per_worker.astype(np.float64)
    if who == "changed":
        frame = reads.quality(run.id, reads.against(run))
        is_enough = frame["own_n"].to_numpy() >= reads.MIN_LABELS
        score = np.where(is_enough, np.nan_to_num(frame["change"].abs().to_numpy()), -1.0)
    return rows[np.argsort(-score[rows], kind="stable")]


def _filtered_items(run: RunRow, pick: Pick, wanted: str | None) -> Indices:
    """Return the items that pass, those to be shown first."""
    result = cache.result(run.id)
    if pick == "changed":
        rows = np.concatenate(list(reads.changed(run).values()))
    elif pick == "unsure":
        rows = np.argsort(result.confidence, kind="stable")
    else:
        rows = np.arange(result.data.n_items)
    if wanted is not None:
        rows = rows[result.truth[rows] == result.data.classes.index(wanted)]
    return rows


def _cut(rows: Indices, max_rows: int, drawn: bool) -> Indices:
    """Return at most so many: the first, or others with each draw, always the same for one."""
    if len(rows) <= max_rows:
        return rows
    if not drawn:
        return rows[:max_rows]
    seed = int(state.kept("completion_drawn") or 0)
    return np.random.default_rng(seed).choice(rows, max_rows, replace=False)


def _draw_piece(run: RunRow, piece: reads.Piece, *, sureness: bool) -> None:
    result = cache.result(run.id)
    data = result.data
    names, truth = [data.workers[code] for code in piece.workers], result.truth[piece.items]
    theme, classes = layout.theme(), data.classes
    if sureness:
        figure = sureness_matrix(piece.cells, piece.texts, names, truth, classes, theme=theme)
    else:
        counts = reads.summary(run.id)
        codes = coloured(counts.observed + counts.filled)
        figure = label_matrix(
            piece.cells, piece.texts, names, truth, classes, shown=codes, theme=theme
        )
    widgets.chart(
        figure,
        key=f"completion_matrix_{run.id}",
        alt="Workers by items: labels that were given, and fainter those filled in",
    )


def _counts(piece: reads.Piece, totals: tuple[int, int]) -> str:
    """Say what is shown of how much, and what is in it."""
    workers, items = len(piece.workers), len(piece.items)
    given, empty = piece.cells.observed.sum(), (piece.cells.label < 0).sum()
    filled = piece.cells.label.size - given - empty
    if (workers, items) == totals:
        shown = f"All {count(workers, 'worker')} by all {count(items, 'item')} that pass"
    else:
        shown = (
            f"{count(workers)} of {count(totals[0], 'worker')} by {count(items)} of "
            f"{count(totals[1], 'item')}"
        )
    return f"{shown}: {count(given)} cells given, {count(filled)} filled in, {count(empty)} empty. "


def _draw_classes(run: RunRow) -> None:
    summary, classes = reads.summary(run.id), cache.result(run.id).data.classes
    st.subheader("What was filled in", anchor=False)
    widgets.chart(
        class_bars(summary.observed, summary.filled, classes, theme=layout.theme()),
        key="completion_classes",
        alt="Share of each class among labels given and labels filled in",
    )
    note = _balance(summary.observed, summary.filled, classes)
    if len(classes) > MAX_BARS:
        note += f" The {MAX_BARS} commonest of {count(len(classes))} classes."
    st.caption(note)


def _balance(
    observed: NDArray[np.int64], filled: NDArray[np.int64], classes: tuple[str, ...]
) -> str:
    """Say which class gained most, if any did."""
    if not filled.sum():
        return "Nothing was filled in."
    gap = filled / filled.sum() - observed / observed.sum()
    widest = int(np.abs(gap).argmax())
    if abs(gap[widest]) < WORTH_SAYING:
        return "Filled labels fall on the classes much as the given ones do."
    direction = "more" if gap[widest] > 0 else "less"
    points = f"{abs(100 * gap[widest]):.0f} points {direction}"
    return (
        f"{escape_md(classes[widest], limit=40)} is {points} common "
        "among filled labels than among given ones: a filler that leans to a class moves truths "
        "there too."
    )


def _draw_sureness(run: RunRow) -> None:
    st.subheader("How sure the filler was", anchor=False)
    widgets.chart(
        sureness_histogram(reads.summary(run.id).probability_counts, theme=layout.theme()),
        key="completion_sureness",
        alt="Filled labels by how sure the filler was of them",
    )
    st.caption(
        "The filler's own probability. In what follows every filled label counts as much as one "
        "that was given, however unsure."
    )
