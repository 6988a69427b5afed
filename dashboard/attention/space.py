"""The learnt space: workers or items as points, near each other where a method finds them alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from crowdcore.wording import count, percent, percent_of
from dashboard import cache, layout, plane, state, widgets
from dashboard.charts.palette import plain, verdict_words
from dashboard.charts.space import class_groups, space_scatter, verdict_groups
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.artefacts.embedding import Embedding
    from crowdcore.data import Floats
    from crowdcore.projection import Kind
    from crowdcore.workspace import RunRow

Side = Literal["workers", "items"]

KINDS: tuple[Kind, ...] = ("pca", "umap")
NOUNS: dict[Side, str] = {"workers": "worker", "items": "item"}
"""What a point is, and the name under which the URL selects it."""


def draw(run: RunRow, embedding: Embedding) -> None:
    """Show where a run's method places workers or items."""
    side, kind, colour = _controls()
    data = cache.result(run.id).data
    labels = data.labels_per_worker if side == "workers" else data.labels_per_item
    labelled = np.flatnonzero(labels)
    rows = plane.sample(labelled)
    points = embedding.workers if side == "workers" else embedding.items
    positions = plane.positions(run.id, side, kind, points[rows])
    if positions is None:
        return
    _draw_scatter(run, side, kind=kind, colour=colour, rows=rows, positions=positions)
    notes = ["The axes have no meaning of their own: what lies near is alike to the method."]
    if len(rows) < len(labelled):
        drawn = f"{count(len(rows))} of {count(len(labelled))} {side}"
        notes.append(f"{drawn} drawn, chosen at random, always the same.")
    if n_unlabelled := len(labels) - len(labelled):
        notes.append(f"{count(n_unlabelled, NOUNS[side])} without labels left out.")
    st.caption(" ".join(notes) + " Click a point to select it.")
    _draw_selected(run, side)


def _controls() -> tuple[Side, Kind, str]:
    row = st.container(horizontal=True, vertical_alignment="bottom")
    linked = state.selection("item") is not None and state.selection("worker") is None
    side = row.segmented_control(
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
        format_func=plane.KINDS.__getitem__,
        key="space_kind",
        help="PCA keeps large distances true and is there at once. UMAP keeps neighbours together "
        "and shows groups more clearly, but distances between groups then mean little.",
    )
    colour: str | None = None
    if side != "items":
        colour = row.segmented_control(
            "Colour",
            ["verdict", "accuracy"],
            default="verdict",
            format_func=str.capitalize,
            key="space_colour",
        )
    return "items" if side == "items" else "workers", kind or "pca", colour or "verdict"


def _draw_scatter(
    run: RunRow, side: Side, *, kind: Kind, colour: str, rows: NDArray[np.intp], positions: Floats
) -> None:
    result, theme = cache.result(run.id), layout.theme()
    key = f"space_{run.id}_{side}_{kind}"
    widgets.follow_click(key, NOUNS[side])
    shares = None
    if side == "workers":
        workers = cache.workers(run.id).iloc[rows]
        groups = verdict_groups(workers["verdict"].to_numpy(object), theme)
        names = workers["worker"].to_numpy(object)
        texts = np.array(_worker_texts(workers), dtype=object)
        if colour == "accuracy":
            shares = workers["accuracy"].to_numpy(float)
    else:
        groups = class_groups(result.truth[rows], result.data.classes, theme)
        names = np.array([result.data.items[row] for row in rows], dtype=object)
        texts = np.array(_item_texts(run, rows), dtype=object)
    widgets.chart(
        space_scatter(
            positions,
            names,
            texts,
            groups,
            theme=theme,
            selected=state.selection(NOUNS[side]),
            shares=shares,
        ),
        key=key,
        alt=f"The {side} where the method places them",
        select="points",
    )


def _worker_texts(workers: object) -> list[str]:
    return [
        f"<b>{plain(row.worker, 40)}</b><br>{plain(row.verdict)}<br>right "
        f"{percent_of(row.accuracy, row.n_compared, 1)}"
        for row in workers.itertuples(index=False)  # type: ignore[attr-defined]
    ]


def _item_texts(run: RunRow, rows: NDArray[np.intp]) -> list[str]:
    result = cache.result(run.id)
    classes = (*(plain(name, 40) for name in result.data.classes), "undecided")
    truth, sure = result.truth[rows], result.confidence[rows]
    return [
        f"<b>{plain(result.data.items[row], 40)}</b><br>{classes[code]}, {percent(share)} sure"
        for row, code, share in zip(rows, truth, sure.tolist(), strict=True)
    ]


def _draw_selected(run: RunRow, side: Side) -> None:
    """Say who or what is selected, and lead to where more is shown."""
    name = state.selection(NOUNS[side])
    if name is None:
        return
    if side == "items":
        code = cache.item_codes(run.id).get(name)
        facts = None if code is None else _item_facts(run, code)
    else:
        facts = _worker_facts(run, name)
    if facts is None:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{escape_md(name, limit=60)}** · {facts}")
        if side == "items":
            widgets.open_item(name, key="space_open_item")
        else:
            widgets.open_worker(name, key="space_open_worker")


def _item_facts(run: RunRow, code: int) -> str:
    result = cache.result(run.id)
    truth = (*result.data.classes, "undecided")[result.truth[code]]
    return f"{escape_md(truth, limit=40)}, {percent(float(result.confidence[code]))} sure"


def _worker_facts(run: RunRow, name: str) -> str | None:
    workers = cache.workers(run.id)
    matches = workers[workers["worker"] == name]
    if matches.empty:
        return None
    worker = matches.iloc[0]
    accuracy = percent_of(worker["accuracy"], worker["n_compared"], 1)
    return f"{escape_md(verdict_words(worker['verdict']))} · right {accuracy}"
