"""Projects on the Data page: renamed, deleted, restored."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from crowdcore.workspace import Dataset, Workspace
from tests.dashboard.test_data_page import WIDE, upload

OpenPage = Callable[..., AppTest]


def test_data_that_the_project_has_are_not_added_again_and_the_page_says_so(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    page = open_page()
    page.button_group(key=f"view:{dataset.project_id}").set_value("New data").run()
    upload(page, "answers.csv", WIDE)
    page.button(key="add").click().run()
    page.switch_page("views/data.py").run()
    page.button_group(key=f"view:{dataset.project_id}").set_value("New data").run()
    upload(page, "copy.csv", WIDE, key="labels:1")
    page.button(key="add").click().run()
    assert "Nothing was added" in page.info[-1].value
    assert len(home.datasets(dataset.project_id)) == 2


def test_a_project_can_be_renamed_but_not_to_a_taken_name(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    home.create_project("Taken")
    page = open_page("data", project=dataset.project_id)
    box = f"rename:{dataset.project_id}"
    page.text_input(key=box).set_value("Taken").run()
    page.button(key="rename").click().run()
    assert "already a project" in page.error[0].value
    page.text_input(key=box).set_value("Animals").run()
    page.button(key="rename").click().run()
    assert home.project(dataset.project_id).name == "Animals"


def test_a_deleted_project_goes_to_the_trash_and_another_opens(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    other = home.create_project("Other")
    page = open_page("data", project=dataset.project_id)
    page.button(key="delete_project").click().run()
    assert [project.id for project in home.projects()] == [other.id]
    assert any((home.root / "trash").iterdir())
    assert page.query_params["project"] == other.id
    assert not page.exception


def test_what_was_deleted_is_restored_from_the_trash(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    name = home.project(dataset.project_id).name
    home.delete_project(dataset.project_id)
    page = open_page("data")
    page.button_group(key="view:").set_value("Trash").run()
    (thrown,) = home.thrown_away()
    assert name in page.markdown[-1].value + page.markdown[-2].value
    page.button(key=f"restore:{thrown.name}").click().run()
    assert not page.exception
    assert page.query_params["project"] == dataset.project_id
    assert [one.name for one in home.projects()] == [name]


def test_the_trash_is_emptied_for_good(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    gone = home.queue(dataset.id, "mv")
    home.cancel(gone.id)
    home.delete_run(gone.id)
    page = open_page("data", project=dataset.project_id)
    page.button_group(key=f"view:{dataset.project_id}").set_value("Trash").run()
    assert "Removes 1 run for good" in str([one.value for one in page.markdown])
    page.button(key="empty_trash").click().run()
    assert not page.exception
    assert page.markdown[-1].value == "The trash is empty."
    assert home.thrown_away() == []
    assert not list((home.root / "trash").iterdir())


def test_files_of_nothing_in_the_trash_are_told_of(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    left = home.root / "trash" / "20260101-000000-stray-00000000" / "runs" / "0123456789abcdef"
    left.mkdir(parents=True)
    (left / "posterior.npy").write_bytes(b"x" * 2_000_000)
    page = open_page("data", project=dataset.project_id)
    page.button_group(key=f"view:{dataset.project_id}").set_value("Trash").run()
    assert "2.0 MB are files of no project or run" in page.caption[-1].value
    assert "Removes files of no project or run for good (2.0 MB)" in page.markdown[-1].value
    page.button(key="empty_trash").click().run()
    assert page.markdown[-1].value == "The trash is empty."


def test_a_project_with_a_waiting_run_is_not_deleted_and_says_why(
    home: Workspace, dataset: Dataset, open_page: OpenPage
) -> None:
    home.queue(dataset.id, "mv")
    page = open_page()
    page.button(key="delete_project").click().run()
    assert "Stop it first" in page.error[0].value
    assert home.projects()
