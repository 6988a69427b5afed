"""A workspace without its catalogue is refused, and made again from its folders."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crowdcore.workspace import CatalogueError, StorageError, Workspace
from crowdcore.workspace.catalogue import insert
from crowdcore.workspace.rebuild import NO_RESULT, Rebuilt, rebuild
from tests.workspace.samples import assert_same_data, assert_same_result, made_result, small_data


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Two projects with data; a run that is done, one that waits; something in the trash."""
    workspace = Workspace(tmp_path)
    birds = workspace.create_project("Birds", sample="birds")
    workspace.rename_project(birds.id, "Owls")
    cats = workspace.create_project("Cats")
    for project, salt in ((birds, 0), (cats, 1)):
        data = small_data(salt)
        dataset = workspace.add_data(project.id, data, name="labels.csv")
        row = workspace.queue(dataset.id, "mv", seed=7, excluded=[])
        workspace.save_result(row.id, made_result(data))
    workspace.queue(dataset.id, "ds", params={"max_iter": 9}, excluded=["ann"])
    gone = workspace.queue(dataset.id, "mv")
    workspace.cancel(gone.id)
    workspace.delete_run(gone.id)
    return workspace


def remove(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def garble(path: Path) -> None:
    path.write_bytes(b"not a database at all" * 1000)


def tear(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


@pytest.mark.parametrize("harm", [remove, empty, garble, tear])
def test_a_workspace_without_its_catalogue_is_refused_and_comes_back_from_its_folders(
    workspace: Workspace, tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    before = {project.id: project for project in workspace.projects()}
    datasets = {one.id: one for id_ in before for one in workspace.datasets(id_)}
    runs = {one.id: one for id_ in before for one in workspace.runs(id_)}
    harm(workspace.catalogue.path)

    for _ in range(2):
        with pytest.raises(CatalogueError, match="crowdcore workspace rebuild"):
            Workspace(tmp_path).projects()
    found = sorted(path.name for kind in ("data", "runs") for path in (tmp_path / kind).iterdir())
    assert found == sorted([*datasets, *runs]), "nothing was moved"

    assert rebuild(tmp_path) == Rebuilt(projects=2, datasets=2, runs=3, unknown=())

    again = Workspace(tmp_path)
    assert {one.id: one for one in again.projects()} == before
    assert [one.name for one in again.projects()] == ["Cats", "Owls"]
    for dataset_id, dataset in datasets.items():
        assert again.dataset(dataset_id) == dataset
    for run_id, run in runs.items():
        now = again.run(run_id)
        assert (now.label, now.params, now.seed) == (run.label, run.params, run.seed)
        assert (now.excluded, now.created) == (run.excluded, run.created)
        if run.status == "done":
            assert (now.accuracy, now.seconds) == (run.accuracy, run.seconds)
            data = again.load_data(now.dataset_id)
            assert_same_result(again.load_result(run_id), made_result(data))
        else:
            assert (now.status, now.error) == ("lost", NO_RESULT)
    assert [one.title for one in again.thrown_away()] == ["#3 Majority vote"]
    project_id = again.restore(again.thrown_away()[0].name)
    assert again.queue(again.datasets(project_id)[0].id, "mv").number == 4
    assert Workspace(tmp_path).projects() == again.projects()


def test_a_damaged_catalogue_is_kept_beside_the_new_one_and_its_journal_is_never_replayed(
    workspace: Workspace, tmp_path: Path
) -> None:
    garble(workspace.catalogue.path)
    (tmp_path / "catalogue.sqlite-wal").write_bytes(b"old log")
    (tmp_path / "catalogue.sqlite-journal").write_bytes(b"old journal")
    rebuild(tmp_path)
    (kept,) = tmp_path.glob("catalogue-damaged-*.sqlite")
    assert kept.read_bytes().startswith(b"not a database")
    assert sorted(path.name for path in tmp_path.glob("catalogue.sqlite*")) == ["catalogue.sqlite"]
    assert (tmp_path / "catalogue.sqlite").stat().st_mode & 0o777 == 0o600
    with sqlite3.connect(tmp_path / "catalogue.sqlite") as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()


def test_folders_that_do_not_know_what_they_are_stay_and_are_named(
    workspace: Workspace, tmp_path: Path
) -> None:
    first, second = sorted((tmp_path / "data").iterdir())
    (first / "record.json").write_text('{"table": "dataset", "row": {"id"')
    record = json.loads((second / "record.json").read_text())
    (tmp_path / "data" / "holiday").mkdir()
    workspace.catalogue.path.unlink()
    rebuilt = rebuild(tmp_path)
    assert (rebuilt.projects, rebuilt.datasets) == (2, 1)
    assert f"data/{first.name}" in rebuilt.unknown
    again = Workspace(tmp_path)
    assert again.dataset(second.name).name == record["row"]["name"]
    assert (first / "labels.parquet").exists()


def test_data_whose_project_is_gone_get_a_new_one(workspace: Workspace, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "projects")
    workspace.catalogue.path.unlink()
    rebuild(tmp_path)
    again = Workspace(tmp_path)
    assert sorted(one.name for one in again.projects()) == ["Recovered", "Recovered (2)"]
    for project in again.projects():
        (dataset,) = again.datasets(project.id)
        data = again.load_data(dataset.id)
        assert_same_data(data, small_data(int(data.items[-1].removeprefix("salt"))))


def test_a_new_or_emptied_folder_is_a_new_workspace(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.catalogue.path.write_bytes(b"")
    assert Workspace(tmp_path).projects() == []
    workspace.catalogue.path.unlink()
    assert Workspace(tmp_path).projects() == []


def test_with_everything_in_the_trash_a_lost_catalogue_loses_nothing(
    workspace: Workspace, tmp_path: Path
) -> None:
    for project in workspace.projects():
        for run in workspace.runs(project.id):
            workspace.cancel(run.id)
        workspace.delete_project(project.id)
    workspace.catalogue.path.unlink()
    again = Workspace(tmp_path)
    names = [one.name for one in again.thrown_away() if one.kind == "project"]
    assert len(names) == 2
    for name in names:
        again.restore(name)
    assert sorted(one.name for one in again.projects()) == ["Cats", "Owls"]


def test_a_disk_that_fails_meanwhile_lists_nothing_halfway(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = workspace.projects()
    workspace.catalogue.path.unlink()
    failures = iter([True])

    def fail_once(db: sqlite3.Connection, table: str, values: dict[str, Any]) -> None:
        if next(failures, False):
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR
            raise error
        insert(db, table, values)

    monkeypatch.setattr("crowdcore.workspace.rebuild.insert", fail_once)
    with pytest.raises(StorageError):
        rebuild(tmp_path)
    rebuild(tmp_path)
    assert Workspace(tmp_path).projects() == before, "not as recovered projects without a name"
