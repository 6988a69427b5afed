"""Workers by class: how often each is right about it, as estimated and as gold shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from crowdcore.audit.expertise import FEWEST_GOLD
from dashboard import opening, reads, state
from dashboard.charts.expertise import (
    MOST_CLASSES,
    MOST_ROWS,
    expertise_map,
    expertise_plane,
)
from dashboard.text import count

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow


def draw(run: RunRow, part: pd.DataFrame, key: str) -> None:
    """Draw some workers by how often they are right about each class, as a chart under `key`."""
    found = reads.expertise(run.id)
    rows = part.index.to_numpy()
    rows = rows[found.n_labels[rows] > 0]
    if not len(rows):
        st.info("None of these workers has a label in this run.")
        return
    two = len(found.classes) == 2  # noqa: PLR2004  (a plane has two axes)
    picture = expertise_plane if two else expertise_map
    st.plotly_chart(
        picture(found, rows, theme=opening.theme(), selected=state.selection("worker")),
        key=key,
        on_select="rerun",
        selection_mode="points",
        config={"displayModeBar": False},
        alt="How often workers are right about each class",
    )
    notes = [
        "Larger points gave more labels; on the dotted line answers do not depend on the truth."
        if two
        else "How often a worker (row) is right about a class (column)."
    ]
    if not np.isnan(found.gold[rows]).all():
        mark = "Diamonds" if two else "Dots"
        notes.append(f"{mark}: counted on gold, with at least {FEWEST_GOLD} gold items of a class.")
    if not two and len(rows) > MOST_ROWS:
        notes.append(f"The first {MOST_ROWS} of {count(len(rows))} workers in the table's order.")
    if not two and len(found.classes) > MOST_CLASSES:
        notes.append(f"The {MOST_CLASSES} classes in which workers differ most.")
    st.caption(" ".join(notes))
