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

    from crowdcore.artefacts.communities import Community
    from crowdcore.audit.agreements.panel import AgreementPanel
    from crowdcore.audit.agreements.worker_pairs import WorkerPairs
    from crowdcore.audit.comparison import Comparison
    from crowdcore.audit.expertise import Expertise
    from crowdcore.audit.judging.worker_evidence import WorkerEvidence
    from crowdcore.audit.roc import RocCurves
    from crowdcore.confidence.accuracy import ExpectedAccuracy
    from crowdcore.data import CrowdData, Kind
    from crowdcore.export.columns import TableColumn
    from crowdcore.results.result import Result
    from crowdcore.review.guideline import GuidelineProblems
    from crowdcore.review.worklist import Worklist
    from crowdcore.spending.plan import SpendPlan
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
    """Return one row per item: its truth, beside what counting of labels and gold say."""
    import pandas as pd

    from crowdcore.audit.kinds import audit_of

    truths, fitted = state.workspace().truths(run_id, probabilities=False), result(run_id)
    compared = audit_of(fitted.data.kind).compare_items(fitted)
    return pd.concat([truths, compared], axis=1)


def workers(run_id: str) -> pd.DataFrame:
    """Return one row per worker, with verdict and evidence, by the requirement that holds now."""
    workspace = state.workspace()
    requirement = workspace.standing(workspace.run(run_id).project_id).required_accuracy
    return _workers(run_id, requirement)


@st.cache_resource(max_entries=8, show_spinner=False)
def _workers(run_id: str, requirement: float | None) -> pd.DataFrame:
    del requirement  # the workspace judges by it; here it tells tables apart
    return state.workspace().workers(run_id)


@st.cache_resource(max_entries=8, show_spinner=False)
def evidence(run_id: str) -> WorkerEvidence | None:
    """Return what verdicts rest on; None of a run of an earlier version."""
    return state.workspace().evidence(run_id)


@st.cache_resource(max_entries=8, show_spinner=False)
def confusion(run_id: str) -> NDArray[Any]:
    """Return the workers' confusion matrices [W, true, given]."""
    return state.workspace().confusion(run_id)


@st.cache_resource(max_entries=8, show_spinner=False)
def rating_evidence(run_id: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return what workers who rate are judged by: the truths without them, and variances."""
    return state.workspace().rating_evidence(run_id)


@st.cache_resource(max_entries=8, show_spinner=False)
def provenance(run_id: str) -> dict[str, Any]:
    """Return how a run came about."""
    return state.workspace().provenance(run_id)


@st.cache_resource(max_entries=8, show_spinner=False)
def reliability(run_id: str) -> pd.DataFrame | None:
    """Return confidence against accuracy on gold, in bins; None without gold to compare."""
    from crowdcore.audit.reliability import reliability

    return reliability(result(run_id))


@st.cache_resource(max_entries=8, show_spinner=False)
def expected_accuracy(run_id: str) -> ExpectedAccuracy | None:
    """Return how many truths are probably right, with an interval; None where nothing tells."""
    from crowdcore.confidence.accuracy import expected_accuracy
    from crowdcore.workspace.answers import drawing_chances

    asked = drawing_chances(state.workspace().run(run_id).decisions)
    return expected_accuracy(result(run_id), asked)


@st.cache_resource(max_entries=8, show_spinner=False)
def roc(run_id: str) -> tuple[RocCurves, RocCurves | None] | None:
    """Return the ROC curves of the truths, and of the classifier alone; None without fresh gold."""
    from crowdcore.artefacts.feature_posterior import FeaturePosterior
    from crowdcore.audit.roc import roc_curves

    fitted = result(run_id)
    truths, classifier = roc_curves(fitted), fitted.artefact(FeaturePosterior)
    if truths is None:
        return None
    return truths, None if classifier is None else roc_curves(fitted, classifier.probabilities)


@st.cache_resource(max_entries=8, show_spinner=False)
def expertise(run_id: str) -> Expertise:
    """Return how often workers are right about each class."""
    from crowdcore.audit.expertise import expertise

    return expertise(result(run_id))


@st.cache_resource(max_entries=8, show_spinner=False)
def communities(run_id: str) -> list[Community]:
    """Return the communities of workers that the method found, if it looks for any."""
    from crowdcore.artefacts.communities import Communities

    communities = result(run_id).artefact(Communities)
    return [] if communities is None else communities.with_members(result(run_id))


@st.cache_resource(max_entries=16, show_spinner=False)
def agreement(run_id: str) -> Any:
    """Return how far the workers that a run did not leave out agree, measured by their kind."""
    from crowdcore.audit.kinds import audit_of

    data = result(run_id).data
    return audit_of(data.kind).agreement(data)


@st.cache_resource(max_entries=8, show_spinner="Measuring the agreement …")
def agreement_panel(run_id: str) -> AgreementPanel:
    """Return every measure of agreement of the labels that a run used."""
    from crowdcore.audit.agreements.panel import measure_agreement

    return measure_agreement(result(run_id).data)


@st.cache_resource(max_entries=8, show_spinner="Measuring the agreement …")
def data_agreement(dataset_id: str) -> AgreementPanel:
    """Return every measure of agreement of the labels of a data set."""
    from crowdcore.audit.agreements.panel import measure_agreement

    return measure_agreement(data(dataset_id))


@st.cache_resource(max_entries=16, show_spinner=False)
def worker_pairs(run_id: str, workers: tuple[str, ...]) -> WorkerPairs:
    """Return how far every two of some workers agree, on all labels of a run's data."""
    from crowdcore.audit.agreements.worker_pairs import compare_workers

    return compare_workers(with_all_labels(state.workspace().run(run_id)).data, list(workers))


@st.cache_resource(max_entries=16, show_spinner=False)
def data_pairs(dataset_id: str, workers: tuple[str, ...]) -> WorkerPairs:
    """Return how far every two of some workers agree, on all labels of a data set."""
    from crowdcore.audit.agreements.worker_pairs import compare_workers

    return compare_workers(data(dataset_id), list(workers))


@st.cache_resource(max_entries=4, show_spinner="Reading the labels …")
def label_table(run_id: str) -> pd.DataFrame:
    """Return one row per label of a run, beside the truths."""
    from crowdcore.export.tables import labels

    return labels(result(run_id))


def label_columns(run_id: str) -> tuple[TableColumn[Any], ...]:
    """Return the definitions of the columns of `label_table`."""
    from crowdcore.audit.kinds import audit_of

    return audit_of(result(run_id).data.kind).label_columns


@st.cache_resource(max_entries=4, show_spinner="Reading the labels …")
def data(dataset_id: str) -> CrowdData:
    """Return a data set with all of its labels."""
    return state.workspace().load_data(dataset_id)


@st.cache_resource(max_entries=8, show_spinner="Comparing the runs …")
def comparison(before_id: str, after_id: str, n_decisions: int = 0) -> Comparison:
    """Return what differs between two runs; decisions made since count as gold."""
    del n_decisions  # tells the cache that the ledger has grown
    return state.workspace().compare(before_id, after_id)


@st.cache_resource(max_entries=4, show_spinner="Ranking the items …")
def worklist(run_id: str, n_decisions: int, weight_column: str | None) -> Worklist:
    """Return the items of a run by what a look is worth, after so many entries of the ledger."""
    del n_decisions  # tells the cache that the ledger has grown
    return state.workspace().worklist(run_id, weight_column=weight_column, result=result(run_id))


@st.cache_resource(max_entries=4, show_spinner="Comparing good workers …")
def guideline_problems(run_id: str, n_decisions: int) -> GuidelineProblems:
    """Return what good workers differ on, by the decisions on workers so far."""
    del n_decisions  # tells the cache that the ledger has grown
    return state.workspace().guideline_problems(run_id, result=result(run_id))


@st.cache_resource(max_entries=4, show_spinner="Planning …")
def spend_plan(
    run_id: str, n_decisions: int, budget: float, price: float, *, ask_all: bool, most: int | None
) -> SpendPlan:
    """Return what to buy next, by the decisions so far."""
    del n_decisions  # tells the cache that the ledger has grown
    return state.workspace().plan_spending(
        run_id,
        budget=budget,
        price=price,
        labels_per_worker=most,
        ask_all=ask_all,
        result=result(run_id),
    )


@st.cache_resource(max_entries=4, show_spinner="Reading the labels …")
def all_labels(run_id: str) -> CrowdData:
    """Return the data of a run with the labels of workers that it leaves out."""
    return state.workspace().applied(run_id, all_workers=True).data


def kind(run: RunRow) -> Kind:
    """Return what the labels are that a run is about."""
    return state.workspace().dataset(run.dataset_id).kind


def with_all_labels(run: RunRow) -> Result:
    """Return a run's result over every label of the data, those of excluded workers too."""
    return replace(result(run.id), data=all_labels(run.id)) if run.excluded else result(run.id)


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
    """Return each item's code by its name."""
    return {name: code for code, name in enumerate(result(run_id).data.items)}


def active_workers(run: RunRow) -> int:
    """Count the workers whose labels took part."""
    return int(np.count_nonzero(result(run.id).data.labels_per_worker))


def _is_picture(values: tuple[str, ...]) -> bool:
    # All of them: a browser would fetch a single address among pictures.
    return any(values) and all(value.startswith(PICTURE) for value in values if value)
