"""Projects, settings, deletion, and the folder itself."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from crowdcore.atomic import atomic
from crowdcore.data import DataError
from crowdcore.jobs import lock
from crowdcore.run import Progress
from crowdcore.workspace import CatalogueError, Workspace, folders, run_states
from crowdcore.workspace.catalogue import SCHEMA
from crowdcore.workspace.rebuild import Rebuilt, rebuild
from tests.workspace.samples import made_result, rich_data, small_data


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


def make_older(root: Path, schema: int) -> None:
    """Turn a workspace into one of an older version."""
    with sqlite3.connect(root / "catalogue.sqlite") as db:
        added_since = {5: ("name", "preview"), 4: ("headline",), 3: ("decisions",)}
        for since, columns in added_since.items():
            for column in columns if schema <= since else ():
                db.execute(f"ALTER TABLE run DROP COLUMN {column}")
        if schema <= 2:
            for column in ("version", "made_from", "added"):
                db.execute(f"ALTER TABLE dataset DROP COLUMN {column}")
        if schema == 1:
            db.execute("ALTER TABLE run DROP COLUMN completion")
        db.execute(f"PRAGMA user_version = {schema}")
    db.execute("PRAGMA journal_mode = WAL")
    db.close()
    for path in [*root.glob("*/*/record.json"), *root.glob("data/*/checksums.json")]:
        path.unlink()
    shutil.rmtree(root / "projects")
    for path in root.rglob("*.parquet"):
        path.chmod(0o644)


@pytest.mark.parametrize("schema", [1, 2, 3, 4, 5])
def test_an_older_workspace_is_brought_up_to_date(tmp_path: Path, schema: int) -> None:
    workspace = Workspace(tmp_path)
    project = workspace.create_project("old")
    dataset = workspace.add_data(project.id, small_data(), name="labels")
    row = workspace.queue(dataset.id, "mv")
    workspace.save_result(row.id, made_result(small_data()))
    make_older(tmp_path, schema)

    again = Workspace(tmp_path)

    assert again.projects() == [project]
    assert again.dataset(dataset.id) == dataset
    assert again.load_data(dataset.id).n_labels == 5
    assert again.queue(dataset.id, "mv").completion is None
    assert len(list(tmp_path.glob("*/*/record.json"))) == 4
    assert not list(tmp_path.glob("catalogue.sqlite-*"))
    assert all(path.stat().st_mode & 0o077 == 0 for path in tmp_path.glob("*/**/*"))


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
    with pytest.raises(CatalogueError, match=r"catalogue is damaged.*workspace rebuild"):
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


def test_leftovers_are_swept_but_not_from_under_a_living_writer_whatever_the_clock_says(
    tmp_path: Path,
) -> None:
    workspace, held = Workspace(tmp_path), []
    for folder in (tmp_path, tmp_path / "data", tmp_path / "runs", tmp_path / "trash"):
        (folder / ".tmp-dead").mkdir()
        (folder / ".tmp-dead" / "half").touch()
        (folder / ".tmp-dead-too.json").touch()
    with folders.new_folder(tmp_path / "data") as scratch:
        (scratch / "half").touch()
        with atomic(tmp_path / "x.json") as temporary:
            held = [scratch, temporary]
            for path in held:
                os.utime(path, (0, 0))  # as if the clock had jumped

            Workspace(tmp_path)

            assert (scratch / "half").exists()
            assert temporary.exists()
            assert sorted(tmp_path.rglob(".tmp-*")) == sorted(held)
    assert not list(tmp_path.rglob(".tmp-*"))
    assert workspace.projects() == []


def test_a_folder_without_a_row_goes_to_the_trash_unless_somebody_is_making_it(
    tmp_path: Path,
) -> None:
    Workspace(tmp_path)
    left, made = tmp_path / "runs" / ("0" * 16), tmp_path / "runs" / ("1" * 16)
    left.mkdir()
    with folders.new_folder(tmp_path / "runs") as scratch:
        folders.publish(scratch, made)
        os.utime(made, (0, 0))
        Workspace(tmp_path)
        assert made.exists()
        assert not left.exists()
    assert [path.name for path in (tmp_path / "trash").glob("*/runs/*")] == ["0" * 16]


def test_data_and_results_that_the_catalogue_does_not_list_stay_and_can_be_listed(
    tmp_path: Path,
) -> None:
    workspace = Workspace(tmp_path)
    old_copy = workspace.catalogue.path.read_bytes()
    project = workspace.create_project("Birds")
    dataset = workspace.add_data(project.id, small_data(), name="labels.csv")
    row = workspace.queue(dataset.id, "mv")
    workspace.save_result(row.id, made_result(small_data()))
    workspace.catalogue.path.write_bytes(old_copy)  # from a backup of yesterday's

    again = Workspace(tmp_path)

    assert again.projects() == []
    assert again.stray_bytes() == 0
    assert again.unlisted() == [f"projects/{project.id}", f"data/{dataset.id}", f"runs/{row.id}"]
    assert rebuild(tmp_path) == Rebuilt(projects=1, datasets=1, runs=1, unknown=())
    assert again.unlisted() == []
    assert again.project(project.id) == project
    assert again.load_result(row.id).data.n_labels == 5


def private(root: Path) -> None:
    for path in root.rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_files_are_0600_and_folders_0700_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        workspace = Workspace(tmp_path / "home")
        project = workspace.create_project("Birds")
        workspace.rename_project(project.id, "Owls")
        dataset = workspace.add_data(project.id, rich_data(), name="labels.csv")
        row = workspace.queue(dataset.id, "mv")
        progress = Progress(stage="EM", step=1, total=2, speed=1.0)
        run_states.append_progress(workspace.run_folder(row.id), progress)
        workspace.save_result(row.id, made_result(rich_data()))
        handle = lock.take(workspace.root)
        assert handle is not None
        os.close(handle)
        private(workspace.root)
        workspace.delete_run(row.id)
        private(workspace.root)
        workspace.restore(workspace.thrown_away()[0].name)
        private(workspace.root)
    finally:
        os.umask(before)
