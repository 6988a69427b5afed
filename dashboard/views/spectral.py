"""Spectral space: workers as blends of experts, and the oracle in their midst."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from crowdcore.artefacts.spectral import SpectralSpace
from crowdcore.wording import count
from dashboard import cache, layout, missing, widgets
from dashboard.spectral import centres, workers
from dashboard.spectral import space as spectral_space
from dashboard.text import escape_md

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow

MEANING = (
    "Two workers are near where the method gives them nearly the same blend of experts: it "
    "expects them to answer alike, also on items that only one of them saw. That proves neither "
    "that they copy nor that they are right: who labelled little stays near where training began, "
    "careless workers can crowd together too, and a plane keeps only part of the distances."
)
ORIGINS = {
    "features": "**Items were known by their features**, so likeness here rests on what workers "
    "answer to items of the same kind.",
    "labels": "**Items were known only by their labels**: the data bring no features. So the space "
    "retells what the labels say and is no second witness.",
}


def draw() -> None:
    run = layout.open_results("spectral")
    space = cache.result(run.id).artefact(SpectralSpace)
    if space is None:
        why = (
            f"{escape_md(run.title)} does not describe workers by experts. A mixture of experts "
            "does: it learns what each worker would say of any item, and asks the worker in their "
            "midst for the truths."
        )
        missing.draw(run, "spectral", "This run has no spectral space", why)
        return
    st.info(f"{ORIGINS[space.origin]} {MEANING}", icon=":material/lightbulb:")
    centre = centres.chosen(space)
    _draw_metrics(run, space, centre)
    left_column, right_column = layout.side_by_side(6, 5)
    with left_column:
        spectral_space.draw(run, space, centre)
    with right_column:
        centres.draw(run, space, centre)
    if codes := spectral_space.chosen(run):
        workers.draw(run, space, centre, codes)


def _draw_metrics(run: RunRow, space: SpectralSpace, centre: str) -> None:
    placed = int(np.count_nonzero(cache.result(run.id).data.labels_per_worker))
    row = st.container(horizontal=True)
    widgets.metric(row, "Workers", count(placed))
    widgets.metric(
        row,
        "Experts",
        count(space.workers.shape[1]),
        help="Of all models together, where several were trained and averaged.",
    )
    centres.draw_metrics(row, run, space, centre)


draw()
