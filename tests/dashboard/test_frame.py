from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from crowdcore.registry import fit
from crowdcore.workspace import Dataset, RunRow, Workspace
from crowdcore.workspace.run_states import claim
from dashboard.pages import PAGES
from dashboard.server import startup

OpenPage = Callable[..., AppTest]
ROOT = Path(__file__).parents[2]


def done_run(home: Workspace, dataset: Dataset, method: str) -> RunRow:
    row = home.queue(dataset.id, method)
    claim(home.catalogue)
    home.save_result(row.id, fit(home.load_data(dataset.id), method))
    return row


def test_a_link_opens_its_project_and_run(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    first, _ = done_run(home, dataset, "mv"), done_run(home, dataset, "ds")
    home.create_project("Newer")
    page = open_page("truths", project=dataset.project_id, run=first.id)
    assert page.selectbox(key="choose:Project").value == dataset.project_id
    assert page.selectbox(key="choose:Run").value == first.id


def test_a_link_to_a_run_alone_finds_its_project(home: Workspace, dataset: Dataset) -> None:
    row = done_run(home, dataset, "mv")
    home.create_project("Newer")
    fresh = AppTest.from_file(str(ROOT / "dashboard" / "app.py"), default_timeout=30)
    fresh.query_params["run"] = row.id
    fresh.run()
    assert fresh.query_params["project"] == dataset.project_id
    assert fresh.query_params["run"] == row.id
    assert not fresh.toast


def test_a_link_to_nothing_says_so_and_shows_something_else(
    dataset: Dataset, open_page: OpenPage
) -> None:
    page = open_page("data", project="0" * 16)
    assert "not in this workspace" in page.toast[0].value
    assert page.query_params["project"] == dataset.project_id


def test_a_link_to_a_deleted_run_says_so_once(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    done_run(home, dataset, "mv")
    page = open_page("run", project=dataset.project_id, run="0" * 16)
    assert "no longer here" in page.toast[0].value
    assert "run" not in page.query_params
    assert not page.run().toast


def test_no_link_no_warning(open_page: OpenPage) -> None:
    assert not open_page().toast


def test_two_tabs_look_at_different_projects(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    other = home.create_project("Other")
    one, two = open_page(), open_page()
    one.selectbox(key="choose:Project").select(dataset.project_id).run()
    two.selectbox(key="choose:Project").select(other.id).run()
    one.switch_page("views/run.py").run()
    two.switch_page("views/run.py").run()
    assert one.query_params["project"] == dataset.project_id
    assert two.query_params["project"] == other.id


def test_the_chosen_run_stays_when_the_page_changes(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    first, newest = done_run(home, dataset, "mv"), done_run(home, dataset, "ds")
    page = open_page("truths")
    assert page.query_params["run"] == newest.id
    page.selectbox(key="choose:Run").select(first.id).run()
    page.query_params.clear()
    page.switch_page("views/workers.py").run()
    assert page.query_params["run"] == first.id
    assert not page.exception


def test_a_run_that_nobody_chose_is_not_pinned_before_its_results_are_seen(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    done_run(home, dataset, "mv")
    page = open_page("run")
    assert "run" not in page.query_params
    newer = done_run(home, dataset, "ds")
    page.switch_page("views/truths.py").run()
    assert page.query_params["run"] == newer.id


def test_another_project_takes_the_run_and_the_selections_away(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    done_run(home, dataset, "mv")
    other = home.create_project("Other")
    page = open_page("truths", project=dataset.project_id, item="i1")
    page.selectbox(key="choose:Project").select(other.id).run()
    assert page.query_params["project"] == other.id
    assert "run" not in page.query_params
    assert "item" not in page.query_params


def test_what_runs_is_said_beside_every_page_and_leads_to_run(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    home.queue(dataset.id, "mv")
    home.queue(dataset.id, "ds")
    claim(home.catalogue)
    links = [link.proto for link in open_page().sidebar.get("page_link")]
    (link,) = [link for link in links if "1 running" in link.label]
    assert link.page == "run"


def test_a_daemon_that_does_not_start_is_told(
    home: Workspace, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_workspace: Workspace) -> None:
        raise subprocess.CalledProcessError(1, "daemon")

    monkeypatch.setattr("crowdcore.jobs.ensure_daemon", fail)
    page = open_page()
    assert "could not be started" in page.error[0].value


def test_an_empty_workspace_gets_its_sample_once(home: Workspace) -> None:
    startup.make_first_project(home)
    (project,) = home.projects()
    assert project.sample == startup.FIRST_SAMPLE
    runs = home.runs(project.id)
    assert len(runs) == 2
    for run in runs:
        home.cancel(run.id)
    home.delete_project(project.id)
    startup.make_first_project(home)
    assert not home.projects()


def test_a_workspace_in_use_gets_no_sample(home: Workspace, dataset: Dataset) -> None:
    startup.make_first_project(home)
    assert [project.id for project in home.projects()] == [dataset.project_id]


def test_no_page_loads_torch(home: Workspace, dataset: Dataset) -> None:
    done_run(home, dataset, "ds")
    names = [page.name for page in PAGES]
    probe = f"""
import json, sys, threading
from streamlit.testing.v1 import AppTest
from crowdcore import jobs
from dashboard.server import startup
jobs.ensure_daemon = lambda workspace: None
startup.begin = lambda root: threading.Thread()
page = AppTest.from_file("dashboard/app.py", default_timeout=60).run()
seen = {{}}
for name in {names}:
    page.switch_page(f"views/{{name}}.py").run()
    seen[name] = [error.message for error in page.exception]
heavy = [name for name in ("torch", "umap", "dgl", "sklearn") if name in sys.modules]
sys.stdout.write(json.dumps([seen, heavy]))
"""
    done = subprocess.run(
        [sys.executable, "-c", probe],
        cwd=ROOT,
        env={"CROWDCORE_HOME": str(home.root), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    seen, heavy = json.loads(done.stdout.splitlines()[-1])
    assert seen == {name: [] for name in names}
    assert heavy == []
