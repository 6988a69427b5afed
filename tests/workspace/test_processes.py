"""Several processes in one workspace, and processes that are killed in the middle of a write."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import numpy as np

from crowdcore.workspace import Workspace
from tests.workspace.samples import (
    assert_same_data,
    assert_same_result,
    made_result,
    small_data,
    start_python,
)

WRITER = """if True:
    import sys
    from pathlib import Path
    from crowdcore.workspace import Workspace
    from tests.workspace.samples import made_result, small_data
    workspace = Workspace(Path(sys.argv[1]))
    project = workspace.create_project("Birds")
    for salt in range(int(sys.argv[2]), int(sys.argv[3])):
        data = small_data(salt)
        dataset = workspace.add_data(project.id, data, name="labels.csv")
        row = workspace.queue(dataset.id, "mv")
        workspace.save_result(row.id, made_result(data))
        workspace.set_setting("salt", salt)
        print(salt, flush=True)
"""


def test_two_processes_write_at_once_and_both_are_heard(tmp_path: Path) -> None:
    writers = [start_python(WRITER, tmp_path, first, first + 8) for first in (0, 100)]
    for writer in writers:
        with writer:
            _, err = writer.communicate(timeout=60)
            assert writer.returncode == 0, err
    workspace = Workspace(tmp_path)
    assert {project.name for project in workspace.projects()} == {"Birds", "Birds (2)"}
    for project in workspace.projects():
        rows = workspace.runs(project.id)
        assert [row.number for row in rows] == list(range(8, 0, -1))
        assert {row.status for row in rows} == {"done"}


def test_two_sessions_of_one_process_see_each_other_at_once(tmp_path: Path) -> None:
    mine, yours = Workspace(tmp_path), Workspace(tmp_path)
    project = mine.create_project("Birds")
    dataset = yours.add_data(project.id, small_data(), name="labels.csv")
    row = mine.queue(dataset.id, "mv")
    other = yours.queue(dataset.id, "ds")
    yours.cancel(row.id)
    assert mine.run(row.id).status == "cancelled"
    assert yours.run(other.id).status == "queued"
    assert mine.runs(project.id) == yours.runs(project.id)


def test_kill_9_in_the_middle_of_a_write_leaves_only_whole_things(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for kill in range(4):
        with start_python(WRITER, tmp_path, 1000 * kill, 1000 * kill + 999) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline(), writer.communicate()[1]
            time.sleep(rng.uniform(0.02, 0.2))
            writer.kill()
            writer.communicate(timeout=60)

    workspace = Workspace(tmp_path)

    with sqlite3.connect(workspace.catalogue.path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()
    assert not list(tmp_path.rglob(".tmp-*"))
    rows = [row for project in workspace.projects() for row in workspace.runs(project.id)]
    datasets = [one for project in workspace.projects() for one in workspace.datasets(project.id)]
    assert len(workspace.projects()) == 4
    assert len(datasets) >= 4
    for dataset in datasets:
        data = workspace.load_data(dataset.id)
        assert data.fingerprint == dataset.fingerprint
        assert_same_data(data, small_data(int(data.items[-1].removeprefix("salt"))))
    for row in rows:
        assert row.status in ("queued", "done")
        if row.status == "done":
            assert_same_result(
                workspace.load_result(row.id), made_result(workspace.load_data(row.dataset_id))
            )
    assert workspace.queue(datasets[0].id, "mv").status == "queued"
