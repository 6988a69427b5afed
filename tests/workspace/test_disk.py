"""Disks that are full, read-only, busy or failing: looking works, and sentences say the rest."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from crowdcore.workspace import StorageError, Workspace, catalogue, disk
from tests.workspace.samples import ROOT, made_result, small_data

SMALL_DISK = """if True:
    import os, re, sys
    from pathlib import Path
    import numpy as np
    from crowdcore.workspace import StorageError, Workspace
    from tests.workspace.samples import assert_same_result, made_result, small_data

    root = Path(sys.argv[1]) / "home"
    workspace = Workspace(root)
    project = workspace.create_project("Birds")
    dataset = workspace.add_data(project.id, small_data(), name="labels.csv")
    row = workspace.queue(dataset.id, "mv")
    workspace.save_result(row.id, made_result(small_data()))
    waiting = workspace.queue(dataset.id, "mv")
    gone = workspace.create_project("Gone")
    workspace.delete_project(gone.id)
    spare = root.parent / "spare"
    spare.write_bytes(b"x" * 700_000)

    def fill():
        with (root.parent / "filler").open("ab", buffering=0) as file:
            for size in (65536, 4096, 1):
                try:
                    while True:
                        file.write(b"x" * size)
                except OSError:
                    pass

    def look():
        again = Workspace(root)
        assert [one.name for one in again.projects()] == ["Birds"]
        assert again.dataset(dataset.id) == dataset
        assert_same_result(again.load_result(row.id), made_result(small_data()))
        assert len(again.truths(row.id)) == 4
        assert again.run(waiting.id).status == "queued"
        assert [one.title for one in again.thrown_away()] == ["Gone"]
        assert again.setting("x", 5) == 5
        return again

    def write_all(match):
        again = look()
        values = np.random.default_rng(0).random((4, 50_000), np.float32)
        from dataclasses import replace
        big = replace(small_data(1), features=values)
        for number, write in enumerate((
            lambda: again.create_project("Cats"),
            lambda: again.rename_project(project.id, "Owls"),
            lambda: again.add_data(project.id, small_data(9), name="x"),
            lambda: again.add_data(project.id, big, name="x"),
            lambda: again.queue(dataset.id, "mv"),
            lambda: again.cancel(waiting.id),
            lambda: again.save_result(waiting.id, made_result(small_data())),
            lambda: again.delete_run(row.id),
            lambda: again.set_setting("x", 1),
        )):
            try:
                write()
            except StorageError as error:
                assert re.search(match, str(error)), (number, error)
            else:
                raise AssertionError(f"write {number} was possible")
            look()

    fill()
    write_all(r"there is no room. It takes about .* <1 kB are free .*Make at least .* of room")
    spare.unlink()
    again = look()
    assert again.add_data(project.id, small_data(2), name="x").n_labels == 5
    again.save_result(waiting.id, made_result(small_data()))
    assert again.run(waiting.id).status == "done"
    again.restore(again.thrown_away()[0].name)
    again.delete_project(gone.id)
    again.cancel(waiting.id)

    waiting = again.queue(dataset.id, "mv")
    if os.system(f"mount -o remount,ro {sys.argv[1]}") == 0:
        write_all("nothing can be written to it")
        print("read-only")
    print("full")
"""


def test_on_a_full_or_read_only_disk_one_can_look_and_is_told_how_much_room_is_missing(
    tmp_path: Path,
) -> None:
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    mount = 'mount -t tmpfs -o size=1600k none "$0"'
    if (
        shutil.which("unshare") is None
        or subprocess.run(
            [*command, mount, str(tmp_path)], capture_output=True, check=False
        ).returncode
    ):
        pytest.skip("this system does not let us mount a small disk")
    done = subprocess.run(
        [*command, f'{mount} && exec "$@"', str(tmp_path), sys.executable, "-c", SMALL_DISK,
         str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "full"


def test_an_error_of_the_disk_is_a_sentence_with_the_place(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"data set was not saved: Input/output error \(file "):
        raise_in(tmp_path, OSError(errno.EIO, os.strerror(errno.EIO)))
    with pytest.raises(StorageError, match="can be looked at, but nothing can be written"):
        raise_in(tmp_path, PermissionError(errno.EACCES, "Permission denied"))
    with pytest.raises(StorageError, match="there is no room"):
        raise_in(tmp_path, OSError(errno.EDQUOT, "Disk quota exceeded"))


def test_a_short_write_without_a_number_is_a_full_disk_where_room_is_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = OSError("4096 requested and 0 written")  # as numpy words it
    with pytest.raises(StorageError, match="4096 requested"):
        raise_in(tmp_path, error)
    monkeypatch.setattr(disk, "free_bytes", lambda _: 2_000_000)
    with pytest.raises(StorageError) as caught:
        raise_in(tmp_path, error, needed=12_000_000)
    assert "It takes about 12.0 MB, and 2.0 MB are free" in str(caught.value)
    assert "Make at least 10.0 MB of room there" in str(caught.value)


def raise_in(root: Path, error: Exception, needed: int = 1000) -> None:
    with disk.writing(root, "The data set", needed=needed):
        raise error


def test_a_catalogue_that_stays_locked_is_told_and_can_be_read_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace(tmp_path)
    monkeypatch.setattr(catalogue, "MAX_WAIT_SECONDS", 0.05)
    with sqlite3.connect(workspace.catalogue.path, isolation_level=None) as db:
        db.execute("BEGIN IMMEDIATE")
        assert workspace.projects() == []
        with pytest.raises(StorageError, match="Another process has been writing"):
            workspace.create_project("Birds")
        db.execute("ROLLBACK")
    db.close()
    assert workspace.create_project("Birds").name == "Birds"
    assert len(list((tmp_path / "projects").iterdir())) == 1


def test_a_mistake_in_a_statement_is_not_blamed_on_the_disk(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    with (
        pytest.raises(sqlite3.OperationalError, match="no such table"),
        workspace.catalogue.read() as db,
    ):
        db.execute("SELECT 1 FROM absent")


def test_a_workspace_that_cannot_be_tidied_can_be_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace(tmp_path)
    project = workspace.create_project("Birds")
    dataset = workspace.add_data(project.id, small_data(), name="labels.csv")
    row = workspace.queue(dataset.id, "mv")
    workspace.save_result(row.id, made_result(small_data()))
    (tmp_path / "runs" / ("0" * 16)).mkdir()
    (tmp_path / ".tmp-x").touch()

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    for name in ("mkdir", "rename", "unlink", "rmdir", "chmod"):
        monkeypatch.setattr(os, name, refuse)
    assert Workspace(tmp_path).load_result(row.id).data.n_labels == 5
