"""A workspace in trouble: every page says what is wrong, and offers what helps."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from crowdcore.workspace import StorageError, Workspace
from dashboard import state
from tests.dashboard.conftest import APP
from tests.dashboard.results import pets, save_run

OpenPage = Callable[..., AppTest]


def opened() -> AppTest:
    page = AppTest.from_file(str(APP), default_timeout=30).run()
    assert not page.exception
    return page


def test_a_lost_catalogue_is_told_and_made_again_with_a_button(home: Workspace) -> None:
    run = save_run(home, pets(), "mv")
    home.catalogue.path.write_bytes(b"")
    state._workspace.clear()  # as in a server that is started now

    page = opened()

    assert "its catalogue is missing or empty" in page.error[0].value
    page.button[0].click().run()
    assert not page.error
    assert "Found 1 project, 1 data set and 1 run" in page.toast[0].value
    assert [row.id for row in home.runs(run.project_id)] == [run.id]


def test_a_catalogue_that_goes_while_the_server_runs_is_told(
    home: Workspace, open_page: OpenPage
) -> None:
    save_run(home, pets(), "mv")
    page = open_page("truths")
    home.catalogue.path.unlink()
    page.run()
    assert not page.exception
    assert "catalogue is gone" in page.error[0].value
    assert page.button[0].label == "Make the catalogue again"


@pytest.mark.parametrize("page_name", ["truths", "workers", "export"])
def test_a_damaged_run_says_so_and_can_be_run_again(
    home: Workspace, open_page: OpenPage, page_name: str
) -> None:
    run = save_run(home, pets(), "mv")
    for name in ("posterior.npy", "workers.parquet", "truths.parquet", "provenance.json"):
        path = home.run_folder(run.id) / "result" / name
        path.write_bytes(path.read_bytes()[:-1] + b"!")
    page = open_page(page_name, project=run.project_id, run=run.id)
    assert "Lost or changed since it was saved" in page.error[0].value
    next(button for button in page.button if button.label == "Run it again").click().run()
    newest, damaged = home.runs(run.project_id)
    assert (newest.status, newest.method, damaged.id) == ("queued", "mv", run.id)
    assert not page.exception


def test_a_disk_that_cannot_be_written_does_not_keep_pages_from_being_looked_at(
    home: Workspace, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, other = save_run(home, pets(), "mv"), home.create_project("Other")

    def full(*_: object) -> None:
        raise StorageError("There is no room", file=str(home.root))

    monkeypatch.setattr(Workspace, "set_setting", full)
    monkeypatch.setattr("crowdcore.jobs.ensure_daemon", full)
    page = open_page("truths", project=run.project_id, run=run.id)
    assert "There is no room" in page.error[0].value
    page.selectbox(key="choose:Project").select(other.id).run()
    assert not page.exception
    assert page.query_params["project"] == other.id


def test_a_folder_that_cannot_be_used_is_told_on_the_page(
    tmp_path: Path, home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    del home
    (tmp_path / "file").touch()
    monkeypatch.setenv("CROWDCORE_HOME", os.fspath(tmp_path / "file" / "below"))
    assert "workspace folder cannot be used" in opened().error[0].value
