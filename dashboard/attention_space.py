"""The learnt space: workers or items as points, near each other where a method finds them alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dashboard import attention_pair, opening, placing, reads, state
from dashboard.charts.palette import plain, verdict_words
from dashboard.charts.space import class_groups, space_scatter, verdict_groups
from dashboard.paging import chosen_point
from dashboard.text import count, escape_md, percent

if TYPE_CHECKING:
    from crowdcore.artefacts.embedding import Embedding
    from crowdcore.data import Floats
    from crowdcore.projection import Kind
    from crowdcore.workspace import RunRow

What = Literal["workers", "items"]

KINDS: tuple[Kind, ...] = ("pca", "umap")
NAMES = {"workers": "worker", "items": "item"}
"""What is selected in the URL when a point is clicked."""


def draw(run: RunRow, embedding: Embedding) -> None:
    """Show where a run's method places workers or items."""
    what, kind, colour = _controls()
    data = reads.result(run.id).data
    labels = data.labels_per_worker if what == "workers" else data.labels_per_item
    labelled = np.flatnonzero(labels)
    rows = placing.sample(labelled)
    points = embedding.workers if what == "workers" else embedding.items
    found = placing.places(run.id, what, kind, points[rows])
    if found is None:
        return
    _scatter(run, what, kind=kind, colour=colour, rows=rows, places=found)
    words = ["The axes have no meaning of their own: what lies near is alike to the method."]
    if len(rows) < len(labelled):
        drawn = f"{count(len(rows))} of {count(len(labelled))} {what}"
        words.append(f"{drawn} drawn, chosen at random, always the same.")
    if silent := len(labels) - len(labelled):
        words.append(f"{count(silent, NAMES[what])} without labels left out.")
    st.caption(" ".join(words) + " Click a point to select it.")
    _selected(run, what)


def _controls() -> tuple[What, Kind, str]:
    row = st.container(horizontal=True, vertical_alignment="bottom")
    linked = state.selection("item") is not None and state.selection("worker") is None
    what = row.segmented_control(
        "Points",
        ["workers", "items"],
        default="items" if linked else "workers",
        format_func=str.capitalize,
        key="space_what",
    )
    kind = row.segmented_control(
        "Placed by",
        list(KINDS),
        default="pca",
        format_func=placing.KINDS.__getitem__,
        key="space_kind",
        help="PCA keeps large distances true and is there at once. UMAP keeps neighbours together "
        "and shows groups more clearly, but distances between groups then mean little.",
    )
    colour: str | None = None
    if what != "items":
        colour = row.segmented_control(
            "Colour",
            ["verdict", "accuracy"],
            default="verdict",
            format_func=str.capitalize,
            key="space_colour",
        )
    return "items" if what == "items" else "workers", kind or "pca", colour or "verdict"


def _scatter(
    run: RunRow, what: What, *, kind: Kind, colour: str, rows: NDArray[np.intp], places: Floats
) -> None:
    result, theme = reads.result(run.id), opening.theme()
    key = f"space_{run.id}_{what}_{kind}"
    point = chosen_point(st.session_state.get(key))
    state.follow(NAMES[what], key, None if point is None else str(point[0]), clears=False)
    shares = None
    if what == "workers":
        workers = reads.workers(run.id).iloc[rows]
        groups = verdict_groups(workers["verdict"].to_numpy(object), theme)
        names = workers["worker"].to_numpy(object)
        texts = np.array(_worker_texts(workers), dtype=object)
        if colour == "accuracy":
            shares = workers["accuracy"].to_numpy(float)
    else:
        groups = class_groups(result.truth[rows], result.data.classes, theme)
        names = np.array([result.data.items[row] for row in rows], dtype=object)
        texts = np.array(_item_texts(run, rows), dtype=object)
    st.plotly_chart(
        space_scatter(
            places,
            names,
            texts,
            groups,
            theme=theme,
            selected=state.selection(NAMES[what]),
            shares=shares,
        ),
        key=key,
        on_select="rerun",
        selection_mode="points",
        config={"displayModeBar": False},
        alt=f"The {what} where the method places them",
    )


def _worker_texts(workers: object) -> list[str]:
    return [
        f"<b>{plain(row.worker, 40)}</b><br>{plain(row.verdict)}<br>right {percent(row.accuracy)} "
        f"of {count(row.n_compared)}"
        for row in workers.itertuples(index=False)  # type: ignore[attr-defined]
    ]


def _item_texts(run: RunRow, rows: NDArray[np.intp]) -> list[str]:
    result = reads.result(run.id)
    classes = (*(plain(name, 40) for name in result.data.classes), "undecided")
    truth, sure = result.truth[rows], result.confidence[rows]
    return [
        f"<b>{plain(result.data.items[row], 40)}</b><br>{classes[code]}, {percent(share)} sure"
        for row, code, share in zip(rows, truth, sure.tolist(), strict=True)
    ]


def _selected(run: RunRow, what: What) -> None:
    """Say who or what is selected, and lead to where more is told."""
    name = state.selection(NAMES[what])
    if name is None:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        if what == "items":
            if (code := reads.item_codes(run.id).get(name)) is None:
                return
            result = reads.result(run.id)
            truth = (*result.data.classes, "undecided")[result.truth[code]]
            sure = percent(float(result.confidence[code]))
            st.markdown(
                f"**{escape_md(name, limit=60)}** · {escape_md(truth, limit=40)}, {sure} sure"
            )
            attention_pair.open_item(name, "space_open_item")
            return
        found = reads.workers(run.id)
        found = found[found["worker"] == name]
        if found.empty:
            return
        row = found.iloc[0]
        st.markdown(
            f"**{escape_md(name, limit=60)}** · {escape_md(verdict_words(row['verdict']))} · "
            f"right {percent(row['accuracy'])} of {count(row['n_compared'])}"
        )
        if st.button("Open worker", icon=":material/arrow_forward:", key="space_open_worker"):
            state.goto("workers", worker=name)
