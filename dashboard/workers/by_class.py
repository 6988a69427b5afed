"""Workers by class: how often each is right about it, as estimated and as gold shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from crowdcore.audit.expertise import MIN_GOLD_ITEMS
from crowdcore.wording import count
from dashboard import cache, layout, state, widgets
from dashboard.charts.expertise import (
    MAX_CLASSES,
    MAX_ROWS,
    expertise_map,
    expertise_plane,
)

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow


def draw(run: RunRow, workers: pd.DataFrame, key: str) -> None:
    """Draw some workers by how often they are right about each class, as a chart under `key`."""
    expertise = cache.expertise(run.id)
    rows = workers.index.to_numpy()
    rows = rows[expertise.n_labels[rows] > 0]
    if not len(rows):
        st.info("None of these workers has a label in this run.")
        return
    two_classes = len(expertise.classes) == 2  # noqa: PLR2004  (a plane has two axes)
    figure = expertise_plane if two_classes else expertise_map
    widgets.chart(
        figure(expertise, rows, theme=layout.theme(), selected=state.selection("worker")),
        key=key,
        alt="How often workers are right about each class",
        select="points",
    )
    notes = [
        "Larger points gave more labels; on the dotted line answers do not depend on the truth."
        if two_classes
        else "How often a worker (row) is right about a class (column)."
    ]
    if not np.isnan(expertise.gold[rows]).all():
        mark = "Diamonds" if two_classes else "Dots"
        notes.append(
            f"{mark}: counted on gold, with at least {MIN_GOLD_ITEMS} gold items of the class."
        )
    if not two_classes and len(rows) > MAX_ROWS:
        notes.append(f"The first {MAX_ROWS} of {count(len(rows))} workers in the table's order.")
    if not two_classes and len(expertise.classes) > MAX_CLASSES:
        notes.append(f"The {MAX_CLASSES} classes in which workers differ most.")
    st.caption(" ".join(notes))
