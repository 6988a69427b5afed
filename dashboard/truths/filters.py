"""Filters and orders of the items, where truths are classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from crowdcore.audit.items import LOW_CONFIDENCE, MIN_DISPUTED_SHARE
from dashboard import cache

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from crowdcore.workspace import RunRow

PRESETS = {
    "all": "All",
    "disputed": "Disputed",
    "changed": "Changed vs. majority",
    "unsure": "Low confidence",
    "split": "Methods differ",
    "by_features": "Changed by features",
    "by_answers": "Changed by answers",
    "tied": "Tied",
    "wrong": "Wrong vs. gold",
}
ORDERS: dict[str, tuple[str | None, bool]] = {
    "Least sure first": ("confidence", True),
    "Most disputed first": ("disagreement", False),
    "Hardest first": ("score:difficulty", False),
    "Most labels first": ("n_labels", False),
    "Surest first": ("confidence", False),
    "As in the data": (None, True),
}


def masks(items: pd.DataFrame) -> dict[str, NDArray[np.bool_]]:
    """Tell which items pass each quick filter; filters that do not apply are left out."""
    labelled = items["n_labels"].to_numpy() > 0
    passing = {
        "all": np.ones(len(items), bool),
        "disputed": items["disagreement"].to_numpy() >= MIN_DISPUTED_SHARE,
        "changed": items["changed"].to_numpy(bool),
        "unsure": (items["confidence"].to_numpy() < LOW_CONFIDENCE) & labelled,
        "tied": items["tied"].to_numpy(bool),
    }
    if "score:members_against" in items:
        passing["split"] = items["score:members_against"].to_numpy() > 0
    for cause in ("features", "answers"):
        if f"score:changed_by_{cause}" in items:
            passing[f"by_{cause}"] = items[f"score:changed_by_{cause}"].to_numpy() > 0
    if (items["right"] >= 0).any():
        passing["wrong"] = items["right"].to_numpy() == 0
    return passing


def narrow(row: DeltaGenerator, run: RunRow, items: pd.DataFrame) -> NDArray[np.bool_]:
    """Draw the choice of a class, and tell which items have that truth."""
    wanted = row.selectbox(
        "Truth",
        list(cache.result(run.id).data.classes),
        index=None,
        key=f"truths_class_{run.id}",
        placeholder="Any class",
        width=200,
    )
    if wanted is None:
        return np.ones(len(items), bool)
    return (items["truth"] == wanted).to_numpy()
