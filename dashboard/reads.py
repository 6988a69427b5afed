"""What pages read of a run: loaded once, kept by id, and never changed by a page.

Runs and data sets are immutable on disk, so their ids are perfect keys. The frames are shared
by all tabs without a copy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from dashboard import state

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from crowdcore.audit.agreement import Agreement
    from crowdcore.audit.communities import Community
    from crowdcore.audit.expertise import Expertise
    from crowdcore.audit.roc import RocCurves
    from crowdcore.data import CrowdData
    from crowdcore.result import Result
    from crowdcore.workspace import RunRow

PICTURE = "data:image/"
"""How a detail begins that is a picture; addresses are never loaded."""


@dataclass(frozen=True, kw_only=True)
class Details:
    """The item-level columns of a data set: at most one of pictures, the others text."""

    picture: tuple[str, ...] | None
    texts: dict[str, tuple[str, ...]]


@st.cache_resource(max_entries=4, show_spinner="Reading the run …")
def result(run_id: str) -> Result:
    """Return a finished run's result."""
    return state.workspace().load_result(run_id)


@st.cache_resource(max_entries=4, show_spinner="Comparing the truths with the labels …")
def items(run_id: str) -> pd.DataFrame:
    """Return one row an item, as `crowdcore.audit.items.item_table` makes it."""
    from crowdcore.audit.items import item_table

    return item_table(result(run_id))


@st.cache_resource(max_entries=8, show_spinner=False)
def workers(run_id: str) -> pd.DataFrame:
    """Return one row a worker, with verdict and evidence."""
    return state.workspace().workers(run_id)


@st.cache_resource(max_entries=8, show_spinner=False)
def confusion(run_id: str) -> NDArray[Any]:
    """Return the workers' confusion matrices [W, true, given]."""
    return state.workspace().confusion(run_id)


@st.cache_resource(max_entries=8, show_spinner=False)
def provenance(run_id: str) -> dict[str, Any]:
    """Return how a run came about."""
    return state.workspace().provenance(run_id)


@st.cache_resource(max_entries=8, show_spinner=False)
def reliability(run_id: str) -> pd.DataFrame | None:
    """Return confidence against accuracy on gold, in bins; None without gold to compare."""
    from crowdcore.audit.calibration import reliability

    return reliability(result(run_id))


@st.cache_resource(max_entries=8, show_spinner=False)
def roc(run_id: str) -> tuple[RocCurves, RocCurves | None] | None:
    """Return the ROC curves of the truths, and of the classifier alone; None without fresh gold."""
    from crowdcore.artefacts.alone import Alone
    from crowdcore.audit.roc import roc_curves

    shown = result(run_id)
    truths, alone = roc_curves(shown), Alone.of(shown)
    if truths is None:
        return None
    return truths, None if alone is None else roc_curves(shown, alone.probabilities)


@st.cache_resource(max_entries=8, show_spinner=False)
def expertise(run_id: str) -> Expertise:
    """Return how often workers are right about each class."""
    from crowdcore.audit.expertise import expertise

    return expertise(result(run_id))


@st.cache_resource(max_entries=8, show_spinner=False)
def communities(run_id: str) -> list[Community]:
    """Return the communities of workers that the method found, if it looks for any."""
    from crowdcore.audit.communities import communities

    return communities(result(run_id))


@st.cache_resource(max_entries=16, show_spinner=False)
def agreement(run_id: str) -> Agreement:
    """Return how far the workers that a run did not leave out agree."""
    from crowdcore.audit.agreement import agreement

    return agreement(result(run_id).data)


@st.cache_resource(max_entries=4, show_spinner="Reading the labels …")
def data(dataset_id: str) -> CrowdData:
    """Return a data set with all of its labels."""
    return state.workspace().load_data(dataset_id)


def with_all_labels(run: RunRow) -> Result:
    """Return a run's result over every label of the data, those of excluded workers too."""
    return replace(result(run.id), data=data(run.dataset_id)) if run.excluded else result(run.id)


@st.cache_resource(max_entries=16, show_spinner=False)
def labels_of_worker(run_id: str, worker: str) -> pd.DataFrame:
    """Return a worker's labels against the truths of a run, also where it left them out."""
    from crowdcore.audit.evidence import labels_of_worker

    return labels_of_worker(with_all_labels(state.workspace().run(run_id)), worker)


@st.cache_resource(max_entries=8, show_spinner=False)
def details(run_id: str) -> Details:
    """Sort the item-level columns of a run's data into a picture and texts."""
    columns = result(run_id).data.details
    pictures = [name for name, values in columns.items() if _is_picture(values)]
    return Details(
        picture=columns[pictures[0]] if pictures else None,
        texts={name: values for name, values in columns.items() if name not in pictures},
    )


@st.cache_resource(max_entries=2, show_spinner=False)
def item_codes(run_id: str) -> dict[str, int]:
    """Return each item's place among the items."""
    return {name: code for code, name in enumerate(result(run_id).data.items)}


def active_workers(run: RunRow) -> int:
    """Count the workers whose labels took part."""
    return int(np.count_nonzero(result(run.id).data.labels_per_worker))


def _is_picture(values: tuple[str, ...]) -> bool:
    # All of them: a browser would fetch a single address among pictures.
    return any(values) and all(value.startswith(PICTURE) for value in values if value)
