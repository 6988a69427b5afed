"""What was deleted can be listed and brought back, even if a process was killed on the way."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from crowdcore.data import DataError
from crowdcore.workspace import Dataset, RunRow, StorageError, Workspace, folders, trash
from tests.workspace.samples import made_result, small_data


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def with_run(workspace: Workspace, name: str = "Birds") -> tuple[Dataset, RunRow]:
    project = workspace.create_project(name)
    dataset = workspace.add_data(project.id, small_data(), name="labels.csv")
    run = workspace.queue(dataset.id, "mv")
    workspace.save_result(run.id, made_result(small_data()))
    return dataset, workspace.run(run.id)


def test_a_project_comes_back_as_it_was(workspace: Workspace) -> None:
    dataset, run = with_run(workspace)
    before = workspace.project(dataset.project_id)
    workspace.delete_project(before.id)
    (thrown,) = workspace.thrown_away()
    assert (thrown.kind, thrown.title, thrown.project) == ("project", "Birds", "Birds")
    assert thrown.bytes > 0

    assert workspace.restore(thrown.name) == before.id

    assert workspace.project(before.id) == before
    assert workspace.datasets(before.id) == [dataset]
    assert workspace.runs(before.id) == [run]
    assert workspace.load_data(dataset.id).fingerprint == small_data().fingerprint
    assert workspace.load_result(run.id).truth.tolist() == made_result(small_data()).truth.tolist()
    assert workspace.thrown_away() == []
    assert workspace.queue(dataset.id, "mv").number == run.number + 1


def test_a_name_that_was_taken_meanwhile_gets_a_number(workspace: Workspace) -> None:
    project = workspace.create_project("Birds")
    workspace.delete_project(project.id)
    workspace.create_project("Birds")
    workspace.restore(workspace.thrown_away()[0].name)
    assert workspace.project(project.id).name == "Birds (2)"


def test_a_run_comes_back_once_its_project_is_there(workspace: Workspace) -> None:
    dataset, run = with_run(workspace)
    workspace.delete_run(run.id)
    assert workspace.thrown_away()[0].project == "Birds"
    workspace.delete_project(dataset.project_id)
    project, alone = sorted(workspace.thrown_away(), key=lambda one: one.kind)
    assert (alone.title, alone.project) == ("#1 Majority vote", "")
    with pytest.raises(DataError, match="Restore the project first"):
        workspace.restore(alone.name)
    workspace.restore(project.name)
    assert workspace.runs(dataset.project_id) == []
    assert workspace.restore(alone.name) == dataset.project_id
    assert workspace.runs(dataset.project_id) == [run]


def test_what_is_gone_or_back_already_is_told(workspace: Workspace, tmp_path: Path) -> None:
    _, run = with_run(workspace)
    workspace.delete_run(run.id)
    (thrown,) = workspace.thrown_away()
    shutil.copytree(tmp_path / "trash" / thrown.name, tmp_path / "copy")
    workspace.restore(thrown.name)
    for name in (thrown.name, "..", "../data"):
        with pytest.raises(DataError, match="not in the trash any more"):
            workspace.restore(name)
    shutil.copytree(tmp_path / "copy", tmp_path / "trash" / thrown.name)  # of two at the same time
    with pytest.raises(DataError, match="restored already"):
        workspace.restore(thrown.name)
    assert workspace.thrown_away() == []
    assert not (tmp_path / "runs" / run.id / run.id).exists()


def test_a_process_killed_while_deleting_loses_nothing(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset, run = with_run(workspace)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(trash, "_move", killed)
    with pytest.raises(KeyboardInterrupt):  # rows are gone, folders are not
        workspace.delete_project(dataset.project_id)
    monkeypatch.undo()
    again = Workspace(tmp_path)  # which collects the strays
    assert not (tmp_path / "runs" / run.id).exists()
    (thrown,) = again.thrown_away()
    found = sum(path.stat().st_size for path in (tmp_path / "trash").rglob("*") if path.is_file())
    assert (thrown.bytes, again.stray_bytes()) == (found, 0)  # they belong to it, wherever they lie

    again.restore(thrown.name)

    assert again.runs(dataset.project_id) == [run]
    assert again.load_result(run.id).data.n_labels == 5
    assert Workspace(tmp_path).load_data(dataset.id).n_labels == 5  # no strays any more


def test_what_another_has_just_deleted_is_not_deleted_twice(
    workspace: Workspace, tmp_path: Path
) -> None:
    project = workspace.create_project("Birds")
    workspace.delete_project(project.id)
    with pytest.raises(DataError, match="project has been deleted already"):
        trash.delete_project(tmp_path, workspace.catalogue, project.id)
    assert [one.title for one in workspace.thrown_away()] == ["Birds"]


def test_a_trash_that_cannot_be_emptied_says_so(workspace: Workspace, tmp_path: Path) -> None:
    workspace.delete_project(workspace.create_project("Birds").id)
    (tmp_path / "trash" / "a file of somebody's").write_text("mine")
    with pytest.raises(DataError, match="1 of the deleted things could not be removed"):
        workspace.empty_trash()
    assert workspace.thrown_away() == []


def test_what_cannot_be_noted_is_not_deleted(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, run = with_run(workspace)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(trash, "write_private", full)
    with pytest.raises(StorageError, match="deletion was not saved: there is no room"):
        workspace.delete_run(run.id)
    assert list((workspace.root / "trash").iterdir()) == []
    assert workspace.run(run.id) == run
    assert workspace.load_result(run.id).data.n_labels == 5
    assert workspace.thrown_away() == []


@pytest.mark.parametrize(
    "text", ["", '{"run": [{"id"', "[]", "null", '{"run": [{"id": "../x"}]}', "\udcff"]
)
def test_a_torn_or_foreign_list_in_the_trash_stops_nobody(
    workspace: Workspace, tmp_path: Path, text: str
) -> None:
    _, run = with_run(workspace)
    workspace.delete_run(run.id)
    entry = tmp_path / "trash" / "20260101-000000-run-00000000"
    entry.mkdir()
    (entry / "rows.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    (tmp_path / "trash" / "holiday").mkdir()
    (tmp_path / "trash" / "holiday" / "photo.jpg").write_bytes(b"x" * 1000)
    (thrown,) = workspace.thrown_away()
    assert thrown.title == "#1 Majority vote"
    assert workspace.stray_bytes() == 1000 + len((entry / "rows.json").read_bytes())
    Workspace(tmp_path)
    workspace.restore(thrown.name)
    assert workspace.run(run.id) == run
    workspace.empty_trash()
    assert list((tmp_path / "trash").iterdir()) == []


def test_a_renamed_folder_in_the_trash_can_still_be_restored(
    workspace: Workspace, tmp_path: Path
) -> None:
    dataset, run = with_run(workspace)
    workspace.delete_run(run.id)
    (thrown,) = workspace.thrown_away()
    (tmp_path / "trash" / thrown.name).rename(tmp_path / "trash" / "my old run")
    (renamed,) = workspace.thrown_away()
    assert renamed.name == "my old run"
    assert workspace.restore(renamed.name) == dataset.project_id


def test_what_has_lost_its_files_is_not_restored(workspace: Workspace, tmp_path: Path) -> None:
    dataset, _ = with_run(workspace)
    workspace.delete_project(dataset.project_id)
    (thrown,) = workspace.thrown_away()
    shutil.rmtree(tmp_path / "trash" / thrown.name / "data")
    with pytest.raises(DataError, match=r"files of the data set 'labels\.csv' are gone"):
        workspace.restore(thrown.name)
    assert workspace.projects() == []
    assert list((tmp_path / "runs").iterdir()) == [], "nothing was moved"


def test_a_process_killed_while_emptying_leaves_nothing_that_can_be_restored_in_part(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset, _ = with_run(workspace)
    workspace.delete_project(dataset.project_id)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(folders, "_remove", killed)
    with pytest.raises(KeyboardInterrupt):
        workspace.empty_trash()
    monkeypatch.undo()
    assert workspace.thrown_away() == []
    Workspace(tmp_path)
    assert list((tmp_path / "trash").iterdir()) == []


def test_a_run_deleted_twice_is_listed_once(workspace: Workspace, tmp_path: Path) -> None:
    _, run = with_run(workspace)
    workspace.delete_run(run.id)
    (first,) = workspace.thrown_away()
    rows = (tmp_path / "trash" / first.name / "rows.json").read_text()
    workspace.restore(first.name)
    workspace.delete_run(run.id)
    left = tmp_path / "trash" / "20200101-000000-run-00000000"  # of a restore that was killed
    left.mkdir()
    (left / "rows.json").write_text(rows)
    assert len(workspace.thrown_away()) == 1
    assert json.loads(rows)["run"][0]["id"] == run.id
