"""Files that are not what was written: none of it is shown, and a sentence says what is lost."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from crowdcore.workspace import DamagedError, Workspace, checksums
from tests.workspace.samples import assert_same_result, made_result, rich_data


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def flip(path: Path) -> None:
    """Change one bit in the middle, where no parser looks."""
    content = bytearray(path.read_bytes())
    content[3 * len(content) // 4] ^= 1
    path.write_bytes(content)


def garble(path: Path) -> None:
    path.write_bytes(b"\x00garbage{" * (path.stat().st_size // 9 + 1))


WAYS = [truncate, empty, flip, garble, Path.unlink]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    workspace = Workspace(tmp_path_factory.mktemp("made"))
    project = workspace.create_project("Birds")
    dataset = workspace.add_data(project.id, rich_data(), name="labels.csv")
    row = workspace.queue(dataset.id, "mv")
    workspace.save_result(row.id, made_result(rich_data()))
    return workspace


@pytest.fixture
def workspace(made: Workspace, tmp_path: Path) -> Workspace:
    shutil.copytree(made.root, tmp_path / "copy")
    return Workspace(tmp_path / "copy")


def ids(workspace: Workspace) -> tuple[str, str]:
    (project,) = workspace.projects()
    return workspace.datasets(project.id)[0].id, workspace.runs(project.id)[0].id


@pytest.mark.parametrize("way", WAYS)
def test_every_damaged_file_of_a_result_is_noticed_and_the_run_can_be_repeated(
    workspace: Workspace, way: Callable[[Path], object]
) -> None:
    _, run_id = ids(workspace)
    folder = workspace.run_folder(run_id) / "result"
    names = sorted(path.name for path in folder.iterdir())
    assert {"posterior.npy", "truth.npy", "truths.parquet", "artefact-0.npz"} <= set(names)
    for name in names:
        if name == checksums.FILE and way is Path.unlink:
            continue  # as in folders from before there were sums: nothing to compare with
        kept = (folder / name).read_bytes()
        way(folder / name)
        with pytest.raises(DamagedError, match=r"run #1 Majority vote is damaged.*Run it again"):
            workspace.load_result(run_id)
        assert name in workspace.damage(run_id) or name == checksums.FILE
        (folder / name).write_bytes(kept)
        assert workspace.damage(run_id) == ""
    assert workspace.run_again(run_id).status == "queued"


@pytest.mark.parametrize("way", WAYS)
def test_every_damaged_file_of_a_data_set_is_named_with_what_it_held(
    workspace: Workspace, way: Callable[[Path], object]
) -> None:
    dataset_id, run_id = ids(workspace)
    folder = workspace.root / "data" / dataset_id
    lost = {
        "labels.parquet": "the labels",
        "items.parquet": "the items with their gold and details",
        "workers.parquet": "the names of the workers",
        "features.npy": "the features",
        "data.json": "the names of the classes",
        "report.json": "the health report",
    }
    for name, part in lost.items():
        kept = (folder / name).read_bytes()
        way(folder / name)
        with pytest.raises(DamagedError) as caught:
            workspace.load_data(dataset_id)
        assert f"'labels.csv' is damaged. Lost or changed since it was saved: {part} ({name})" in (
            str(caught.value)
        )
        with pytest.raises(DamagedError, match="data set"):
            workspace.load_result(run_id)
        assert workspace.truths(run_id) is not None, "the result itself is whole"
        (folder / name).write_bytes(kept)
    assert workspace.load_data(dataset_id).n_labels == 4


def test_tables_and_files_that_pages_read_alone_are_checked_alone(workspace: Workspace) -> None:
    _, run_id = ids(workspace)
    folder = workspace.run_folder(run_id) / "result"
    for name, read in {
        "truths.parquet": workspace.truths,
        "workers.parquet": workspace.workers,
        "confusion.npy": workspace.confusion,
        "provenance.json": workspace.provenance,
        "history.json": workspace.history,
    }.items():
        kept = (folder / name).read_bytes()
        flip(folder / name)
        with pytest.raises(DamagedError, match=name.replace(".", r"\.")):
            read(run_id)
        (folder / name).write_bytes(kept)
        read(run_id)
        flip(folder / "posterior.npy")
        read(run_id)
        flip(folder / "posterior.npy")


def test_a_folder_that_is_gone_is_told(workspace: Workspace) -> None:
    dataset_id, run_id = ids(workspace)
    shutil.rmtree(workspace.run_folder(run_id) / "result")
    with pytest.raises(DamagedError, match="its folder is gone"):
        workspace.truths(run_id)
    shutil.rmtree(workspace.root / "data" / dataset_id)
    with pytest.raises(DamagedError, match="its folder is gone"):
        workspace.load_data(dataset_id)


def test_in_folders_from_before_there_were_sums_what_cannot_be_read_is_damaged(
    workspace: Workspace,
) -> None:
    dataset_id, run_id = ids(workspace)
    folder = workspace.run_folder(run_id) / "result"
    (folder / checksums.FILE).unlink()
    assert_same_result(workspace.load_result(run_id), made_result(rich_data()))
    for name in ("posterior.npy", "result.json", "item_scores.npz", "artefact-0.npz"):
        kept = (folder / name).read_bytes()
        for way in (truncate, empty, garble, Path.unlink):
            way(folder / name)
            with pytest.raises(DamagedError, match="is damaged"):
                workspace.load_result(run_id)
            (folder / name).write_bytes(kept)
    data = workspace.root / "data" / dataset_id
    (data / checksums.FILE).unlink()
    truncate(data / "labels.parquet")
    with pytest.raises(DamagedError, match="is damaged"):
        workspace.load_data(dataset_id)


def test_a_file_is_read_for_its_sum_once_per_process_unless_it_changes(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, run_id = ids(workspace)
    digested: list[str] = []
    digest = checksums._digest

    def counted(path: Path) -> str:
        digested.append(path.name)
        return digest(path)

    monkeypatch.setattr(checksums, "_digest", counted)
    for _ in range(3):
        workspace.truths(run_id)
    assert digested == ["truths.parquet"]
    flip(workspace.run_folder(run_id) / "result" / "truths.parquet")
    with pytest.raises(DamagedError):
        workspace.truths(run_id)


def test_a_run_begins_without_a_damaged_start(workspace: Workspace) -> None:
    _, run_id = ids(workspace)
    assert workspace.warm_start(run_id) is not None
    flip(workspace.run_folder(run_id) / "result" / "posterior.npy")
    assert workspace.warm_start(run_id) is None


def test_an_error_of_a_workspace_comes_through_a_process_as_it_is() -> None:
    error = DamagedError("It is damaged", file="x", fix="Run it again.")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (DamagedError, str(error))
