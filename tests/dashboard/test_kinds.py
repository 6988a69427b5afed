"""The pages of runs whose answers are sets of classes, or comparisons."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from crowdcore.data import CrowdData
from crowdcore.registry import fit
from crowdcore.simulation.comparisons import simulate_arena
from crowdcore.simulation.sets import simulate_sets
from crowdcore.workspace import Workspace
from tests.dashboard.results import charts, everything_said, open_view

CROWDS = {
    "sets": (simulate_sets(items=60, workers=12, seed=1).data, "mv", "i0001", "w01"),
    "comparisons": (
        simulate_arena(items=12, workers=10, comparisons=900, seed=1).data,
        "bayesian_bt",
        "m01",
        "w01",
    ),
}


@pytest.fixture(params=list(CROWDS))
def run(request: pytest.FixtureRequest, home: Workspace) -> tuple[str, str, str, str]:
    data, method, item, worker = CROWDS[request.param]
    assert isinstance(data, CrowdData)
    project = home.create_project("project")
    dataset = home.add_data(project.id, data, name="data.csv")
    row = home.queue(dataset.id, method)
    home.save_result(row.id, fit(data, method))
    return request.param, row.id, item, worker


def opened(view: str, **query: str) -> AppTest:
    page = open_view(view, **query)
    assert not page.exception, page.exception
    return page


def test_truths_are_listed_with_how_sure_they_are(run: tuple[str, str, str, str]) -> None:
    kind, run_id, item, _ = run
    page = opened("truths", run=run_id)
    assert item in [str(name) for name in page.dataframe[0].value["item"]]
    labels = [metric.label for metric in page.metric]
    assert ("Classes per item" if kind == "sets" else "Comparisons") in labels
    views = {"sets": "sets_view", "comparisons": "ranking_view"}[kind]
    for view in page.button_group(key=views).options:
        changed = page.button_group(key=views).set_value(view).run()
        assert not changed.exception, changed.exception


def test_one_item_up_close(run: tuple[str, str, str, str]) -> None:
    _, run_id, item, _ = run
    page = opened("truths", run=run_id, item=item)
    assert len(page.dataframe) == 2


def test_workers_have_verdicts_and_evidence(run: tuple[str, str, str, str]) -> None:
    _, run_id, _, worker = run
    page = opened("workers", run=run_id)
    assert worker in [str(name) for name in page.dataframe[0].value["worker"]]
    assert charts(page)
    closer = opened("workers", run=run_id, worker=worker)
    assert f"Worker {worker}" in everything_said(closer)


def test_export_and_run_pages_open(run: tuple[str, str, str, str]) -> None:
    _, run_id, _, _ = run
    opened("export", run=run_id)
    opened("run")
    opened("data")
