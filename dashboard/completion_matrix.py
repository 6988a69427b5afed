"""The completed matrix: a piece of it in colour, what was filled in, and how surely."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dashboard import completion_reads, opening, reads, state
from dashboard.charts.completion import (
    MOST_BARS,
    class_bars,
    coloured,
    label_matrix,
    sureness_histogram,
    sureness_matrix,
)
from dashboard.completion_reads import Order, Pick
from dashboard.text import count, escape_md

if TYPE_CHECKING:
    from crowdcore.audit.completion import Places
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
ZOOM = "Hover for names; drag to zoom in, double-click to zoom out."


def draw(run: RunRow) -> None:
    """Show a piece of the matrix, and below it all filled labels by class and by sureness."""
    _matrix(run)
    left, right = opening.side_by_side(1, 1)
    with left:
        _classes(run)
    with right:
        _sureness(run)


def _matrix(run: RunRow) -> None:
    data = reads.result(run.id).data
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
    m, n = SIZES[size]
    everyone, everything = _people(run, who, name), _things(run, pick, wanted)
    workers, items = _cut(everyone, m, who == "drawn"), _cut(everything, n, pick == "drawn")
    if not len(workers) or not len(items):
        what = "worker" if not len(workers) else "item"
        st.info(f"No {what} passes these filters.", icon=":material/filter_alt_off:")
        return
    if who != "labels":
        workers = workers[np.argsort(-data.labels_per_worker[workers], kind="stable")]
    shown = completion_reads.piece(run.id, tuple(workers.tolist()), tuple(items.tolist()), order)
    _chart(run, shown, sureness=colour == "Sureness")
    signs = "" if colour == "Sureness" else "Strong colours were given, faint ones filled in. "
    st.caption(_counts(shown, (len(everyone), len(everything))) + signs + ZOOM)


def _people(run: RunRow, who: str, name: str) -> Places:
    """Return the workers that pass, those to be shown first."""
    data = reads.result(run.id).data
    keep = completion_reads.labelled(run.id)
    if name:
        wanted = name.casefold()
        keep = keep & np.array([wanted in worker.casefold() for worker in data.workers], bool)
    rows = np.flatnonzero(keep)
    if who == "drawn":
        return rows
    score = data.labels_per_worker.astype(np.float64)
    if who == "changed":
        frame = completion_reads.quality(run.id, completion_reads.against(run))
        sure = frame["own_n"].to_numpy() >= completion_reads.FEWEST
        score = np.where(sure, np.nan_to_num(frame["change"].abs().to_numpy()), -1.0)
    return rows[np.argsort(-score[rows], kind="stable")]


def _things(run: RunRow, pick: Pick, wanted: str | None) -> Places:
    """Return the items that pass, those to be shown first."""
    result = reads.result(run.id)
    if pick == "changed":
        rows = np.concatenate(list(completion_reads.changed(run).values()))
    elif pick == "unsure":
        rows = np.argsort(result.confidence, kind="stable")
    else:
        rows = np.arange(result.data.n_items)
    if wanted is not None:
        rows = rows[result.truth[rows] == result.data.classes.index(wanted)]
    return rows


def _cut(rows: Places, most: int, drawn: bool) -> Places:
    """Return at most so many: the first, or others with each draw, always the same for one."""
    if len(rows) <= most:
        return rows
    turn = int(state.kept("completion_drawn") or 0)
    if not drawn:
        return rows[:most]
    return np.random.default_rng(turn).choice(rows, most, replace=False)


def _chart(run: RunRow, shown: completion_reads.Piece, *, sureness: bool) -> None:
    result = reads.result(run.id)
    data = result.data
    names, truth = [data.workers[code] for code in shown.workers], result.truth[shown.items]
    theme, classes = opening.theme(), data.classes
    if sureness:
        figure = sureness_matrix(shown.cells, shown.texts, names, truth, classes, theme=theme)
    else:
        counts = completion_reads.summary(run.id)
        codes = coloured(counts.observed + counts.filled)
        figure = label_matrix(
            shown.cells, shown.texts, names, truth, classes, shown=codes, theme=theme
        )
    st.plotly_chart(
        figure,
        key=f"completion_matrix_{run.id}",
        config={"displayModeBar": False},
        alt="Workers by items: labels that were given, and fainter those filled in",
    )


def _counts(shown: completion_reads.Piece, of: tuple[int, int]) -> str:
    """Say what is shown of how much, and what is in it."""
    workers, items = len(shown.workers), len(shown.items)
    given, empty = shown.cells.observed.sum(), (shown.cells.label < 0).sum()
    filled = shown.cells.label.size - given - empty
    words = f"{count(workers)} of {count(of[0], 'worker')} by {count(items)} of "
    words += f"{count(of[1], 'item')}"
    if (workers, items) == of:
        words = f"All {count(workers, 'worker')} by all {count(items, 'item')} that pass"
    return f"{words}: {count(given)} cells given, {count(filled)} filled in, {count(empty)} empty. "


def _classes(run: RunRow) -> None:
    found, classes = completion_reads.summary(run.id), reads.result(run.id).data.classes
    st.subheader("What was filled in", anchor=False)
    st.plotly_chart(
        class_bars(found.observed, found.filled, classes, theme=opening.theme()),
        key="completion_classes",
        config={"displayModeBar": False},
        alt="Share of each class among labels given and labels filled in",
    )
    words = _balance(found.observed, found.filled, classes)
    if len(classes) > MOST_BARS:
        words += f" The {MOST_BARS} commonest of {count(len(classes))} classes."
    st.caption(words)


def _balance(
    observed: NDArray[np.int64], filled: NDArray[np.int64], classes: tuple[str, ...]
) -> str:
    """Say which class gained most, if any did."""
    if not filled.sum():
        return "Nothing was filled in."
    gap = filled / filled.sum() - observed / observed.sum()
    most = int(np.abs(gap).argmax())
    if abs(gap[most]) < 0.02:  # noqa: PLR2004  (two points are no news)
        return "Filled labels fall on the classes much as the given ones do."
    way = "more" if gap[most] > 0 else "less"
    return (
        f"{escape_md(classes[most], limit=40)} is {abs(100 * gap[most]):.0f} points {way} common "
        "among filled labels than among given ones: a filler that leans to a class moves truths "
        "there too."
    )


def _sureness(run: RunRow) -> None:
    st.subheader("How sure the filler was", anchor=False)
    st.plotly_chart(
        sureness_histogram(completion_reads.summary(run.id).sureness, theme=opening.theme()),
        key="completion_sureness",
        config={"displayModeBar": False},
        alt="Filled labels by how sure the filler was of them",
    )
    st.caption(
        "The filler's own probability. In what follows every filled label counts as much as one "
        "that was given, however unsure."
    )
