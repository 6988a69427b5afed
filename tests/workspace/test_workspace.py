"""Projects, settings, deletion, and the folder itself."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path

import pytest

from crowdcore.data import DataError
from crowdcore.workspace import Workspace
from crowdcore.workspace.catalogue import SCHEMA
from tests.workspace.samples import made_result, small_data, start_python


def test_projects_are_still_there_when_the_workspace_is_opened_again(tmp_path: Path) -> None:
    first = Workspace(tmp_path).create_project("  Birds \n 2026 ", sample="birds")
    second = Workspace(tmp_path).create_project("Cats")
    assert Workspace(tmp_path).projects() == [second, first]
    assert (first.name, first.sample) == ("Birds 2026", "birds")
    assert Workspace(tmp_path).project(first.id) == first


def test_a_project_name_that_is_taken_gets_a_number(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    names = [workspace.create_project("Birds").name for _ in range(3)]
    assert names == ["Birds", "Birds (2)", "Birds (3)"]


def test_a_project_is_renamed_but_not_to_the_name_of_another(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    birds, cats = workspace.create_project("Birds"), workspace.create_project("Cats")
    assert workspace.rename_project(birds.id, "Owls").name == "Owls"
    with pytest.raises(DataError, match="already a project called 'Owls'"):
        workspace.rename_project(cats.id, "Owls")
    assert workspace.project(cats.id).name == "Cats"


@pytest.mark.parametrize("name", ["", " \n", "x" * 201, "a\x00b"])
def test_a_project_name_is_short_and_printable(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="name"):
        Workspace(tmp_path).create_project(name)


@pytest.mark.parametrize(
    "bad", ["../../etc/passwd", "", "ABCDEF0123456789", "0" * 17, "0" * 16 + "\n"]
)
def test_what_is_not_an_id_of_ours_never_becomes_a_path(tmp_path: Path, bad: str) -> None:
    workspace = Workspace(tmp_path)
    for look_up in (
        workspace.project,
        workspace.delete_project,
        workspace.datasets,
        workspace.load_data,
        workspace.label_table,
        workspace.runs,
        workspace.run,
        workspace.run_folder,
        workspace.cancel,
        workspace.truths,
        workspace.history,
        workspace.log,
        workspace.delete_run,
    ):
        with pytest.raises(DataError, match="is not the id of a"):
            look_up(bad)


def test_an_unknown_id_is_told_in_a_sentence(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    with pytest.raises(DataError, match="There is no project '0000000000000000'"):
        workspace.project("0" * 16)
    with pytest.raises(DataError, match="There is no run"):
        workspace.truths("0" * 16)


def test_settings_keep_any_json(tmp_path: Path) -> None:
    Workspace(tmp_path).set_setting("view", {"page": 3, "names": ["a", None]})
    workspace = Workspace(tmp_path)
    assert workspace.setting("view") == {"page": 3, "names": ["a", None]}
    assert workspace.setting("other", 5) == 5
    workspace.set_setting("view", False)
    assert workspace.setting("view", True) is False


def test_the_environment_names_the_default_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CROWDCORE_HOME", str(tmp_path / "deep" / "home"))
    workspace = Workspace()
    assert workspace.root == (tmp_path / "deep" / "home").resolve()
    assert workspace.root.stat().st_mode & 0o777 == 0o700


def test_nobody_else_can_read_what_is_in_the_workspace(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    (shared / "somebody's file").touch()
    workspace = Workspace(shared)
    assert shared.stat().st_mode & 0o777 == 0o755, "another's folder is not ours to close"
    for path in workspace.root.iterdir():
        if path.name != "somebody's file":
            assert path.stat().st_mode & 0o077 == 0, path


def test_a_folder_that_cannot_be_used_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="workspace folder cannot be used"):
        Workspace(tmp_path / "file" / "workspace")


def test_a_catalogue_of_the_first_schema_is_brought_up_to_date(tmp_path: Path) -> None:
    Workspace(tmp_path).create_project("old")
    with sqlite3.connect(tmp_path / "catalogue.sqlite") as db:
        db.execute("ALTER TABLE run DROP COLUMN completion")
        db.execute("PRAGMA user_version = 1")
    again = Workspace(tmp_path)
    (project,) = again.projects()
    data = again.add_data(project.id, small_data(), name="labels")
    assert again.queue(data.id, "mv").completion is None


def test_a_newer_schema_is_refused_with_advice(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    with sqlite3.connect(tmp_path / "catalogue.sqlite") as db:
        db.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    db.close()
    with pytest.raises(DataError, match=r"newer crowdcore.*Update crowdcore"):
        Workspace(tmp_path)
    with pytest.raises(DataError, match="newer crowdcore"):
        workspace.projects()


def test_a_catalogue_that_is_no_database_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "catalogue.sqlite").write_bytes(b"not a database at all" * 100)
    with pytest.raises(DataError, match="catalogue cannot be used"):
        Workspace(tmp_path)


def test_a_removed_workspace_does_not_come_back_empty(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.create_project("Birds")
    workspace.catalogue.path.unlink()
    with pytest.raises(DataError, match="is gone"):
        workspace.projects()
    assert not workspace.catalogue.path.exists()


def test_a_deleted_project_moves_to_the_trash_with_its_data_and_runs(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    project, other = workspace.create_project("Birds"), workspace.create_project("Cats")
    dataset = workspace.add_data(project.id, small_data(), name="labels.csv")
    kept = workspace.add_data(other.id, small_data(), name="labels.csv")
    row = workspace.queue(dataset.id, "mv")
    with pytest.raises(DataError, match="Stop it first"):
        workspace.delete_project(project.id)
    workspace.save_result(row.id, made_result(small_data()))

    workspace.delete_project(project.id)

    assert workspace.projects() == [other]
    assert workspace.datasets(project.id) == []
    assert workspace.runs(project.id) == []
    assert workspace.load_data(kept.id).n_labels == 5
    names = {path.name for path in (tmp_path / "trash").rglob("*")}
    assert {"rows.json", dataset.id, row.id, "truths.parquet", "labels.parquet"} <= names
    workspace.empty_trash()
    assert not list((tmp_path / "trash").iterdir())


def test_a_run_is_deleted_once_it_has_ended_and_its_number_is_not_used_again(
    tmp_path: Path,
) -> None:
    workspace = Workspace(tmp_path)
    project = workspace.create_project("Birds")
    dataset = workspace.add_data(project.id, small_data(), name="labels.csv")
    row = workspace.queue(dataset.id, "mv")
    with pytest.raises(DataError, match="Stop it first"):
        workspace.delete_run(row.id)
    workspace.cancel(row.id)
    workspace.delete_run(row.id)
    assert workspace.runs(project.id) == []
    assert workspace.queue(dataset.id, "mv").label == "#2 Majority vote"


def test_leftovers_are_swept_but_not_from_under_a_living_writer(tmp_path: Path) -> None:
    Workspace(tmp_path)
    data, long_ago = tmp_path / "data", time.time() - 2 * 3600
    with start_python("") as ended:
        ended.wait(timeout=60)
    dead = data / f".tmp-{ended.pid}-00"
    living = data / f".tmp-{os.getpid()}-00"
    old = tmp_path / ".tmp-export-xyz"
    fresh = tmp_path / ".tmp-export-abc"
    for path in (dead, living):
        path.mkdir()
        (path / "half").touch()
    for path in (old, fresh):
        path.touch()
    os.utime(old, (long_ago, long_ago))

    Workspace(tmp_path)

    assert not dead.exists()
    assert not old.exists()
    assert (living / "half").exists()
    assert fresh.exists()


def test_a_folder_without_a_row_goes_to_the_trash_once_it_is_old(tmp_path: Path) -> None:
    Workspace(tmp_path)
    old, fresh = tmp_path / "runs" / ("0" * 16), tmp_path / "data" / ("1" * 16)
    for path in (old, fresh):
        path.mkdir()
    os.utime(old, (0, 0))
    Workspace(tmp_path)
    assert not old.exists()
    assert fresh.exists()
    assert [path.name for path in (tmp_path / "trash").glob("*/runs/*")] == ["0" * 16]
