"""All workers in a chart, where labels are classes: by accuracy, by class, or in communities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from dashboard import cache
from dashboard.workers import by_class, communities, summary

if TYPE_CHECKING:
    from crowdcore.workspace import RunRow

ACCURACY, BY_CLASS, COMMUNITIES = "Accuracy", "By class", "Communities"

CHARTS = ("scatter", "expertise")
"""Charts whose points select a worker."""


def draw(run: RunRow, workers: pd.DataFrame, keys: Mapping[str, str]) -> None:
    """Draw the chosen view of some workers; `keys` are those of the charts."""
    view = _choose_view(run)
    if view == BY_CLASS:
        by_class.draw(run, workers, keys["expertise"])
    elif view == COMMUNITIES:
        communities.draw(run)
    else:
        summary.draw_scatter(run, workers, keys["scatter"])


def _choose_view(run: RunRow) -> str | None:
    """Offer what this run can show beside the table: classes to tell apart, communities."""
    views = [ACCURACY]
    if cache.result(run.id).data.n_classes > 1:
        views.append(BY_CLASS)
    if cache.communities(run.id):
        views.append(COMMUNITIES)
    if len(views) == 1:
        return ACCURACY
    return st.segmented_control(
        "View", views, default=ACCURACY, key="workers_view", label_visibility="collapsed"
    )
