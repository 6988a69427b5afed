"""The daemon and its processes, as they really are: no part of this is simulated."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

import crowdcore
from crowdcore.data import CrowdData
from crowdcore.jobs import ensure_daemon, launch, lock, stop_daemon
from crowdcore.registry import fit
from crowdcore.simulation.classes import simulate
from crowdcore.workspace import Dataset, RunRow, Workspace
from tests.jobs.waiting import until
from tests.workspace.samples import run_python, small_data

ENDLESS = {"max_iter": 10_000, "tol": 0}
"""Settings with which Dawid-Skene takes minutes on the crowd below."""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    workspace = Workspace(tmp_path_factory.mktemp("workspace"))
    workspace.set_setting("slots", 1)
    ensure_daemon(workspace)
    yield workspace
    for project in workspace.projects():
        for row in workspace.runs(project.id):
            workspace.cancel(row.id)
            _wait(workspace, row)
    assert stop_daemon(workspace)


@pytest.fixture(scope="module")
def crowd() -> CrowdData:
    return simulate(items=20_000, workers=100, labels_per_item=5, features=0).data


@pytest.fixture(scope="module")
def dataset(workspace: Workspace, crowd: CrowdData) -> Dataset:
    project = workspace.create_project("Birds")
    return workspace.add_data(project.id, crowd, name="labels.csv")


def _daemon(workspace: Workspace) -> int:
    pid: int = lock.holder(workspace.root)["pid"]
    return pid


def _wait(workspace: Workspace, row: RunRow) -> RunRow:
    until(lambda: not workspace.run(row.id).active)
    return workspace.run(row.id)


def _start_endless(workspace: Workspace, dataset: Dataset) -> RunRow:
    row = workspace.queue(dataset.id, "ds", params=ENDLESS)
    until(lambda: workspace.run(row.id).step > 0)
    return workspace.run(row.id)


def _gone(pid: int | None) -> bool:
    """Tell whether a process is gone; in a container nobody may have buried it."""
    assert pid is not None
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def test_a_run_ends_with_the_result_of_a_fit_here(
    workspace: Workspace, dataset: Dataset, crowd: CrowdData
) -> None:
    row = workspace.queue(dataset.id, "ds", seed=1, excluded=[crowd.workers[3]])
    done = _wait(workspace, row)
    assert (done.status, done.error) == ("done", "")
    assert done.pid not in (None, os.getpid(), _daemon(workspace))
    expected = fit(crowd.without_workers([crowd.workers[3]]), "ds", seed=1)
    np.testing.assert_allclose(
        workspace.load_result(row.id).posterior, expected.posterior, atol=1e-9
    )
    score = expected.score()
    assert score is not None
    assert done.accuracy == pytest.approx(score.accuracy)
    assert done.step == expected.provenance.steps


def test_the_daemon_is_one_and_has_one_thread(workspace: Workspace) -> None:
    pid = _daemon(workspace)
    begun = time.perf_counter()
    for _ in range(20):
        ensure_daemon(workspace)
    assert (time.perf_counter() - begun) / 20 < 0.02
    assert _daemon(workspace) == pid
    assert psutil.Process(pid).num_threads() == 1, "a fork copies no thread but its own"


def test_progress_and_curve_are_seen_while_the_run_works_and_stop_ends_the_work(
    workspace: Workspace, dataset: Dataset
) -> None:
    row = _start_endless(workspace, dataset)
    assert (row.status, row.stage, row.total) == ("running", "EM", 10_000)
    assert row.speed > 0
    assert "loglik" in row.metrics
    until(lambda: len(workspace.history(row.id)) >= 3)
    curve = workspace.history(row.id)
    assert curve["step"].is_monotonic_increasing
    assert curve["loglik"].notna().all()
    pid = row.pid
    assert not _gone(pid)

    workspace.cancel(row.id)

    assert until(lambda: _gone(pid)) < 1
    assert until(lambda: workspace.run(row.id).status == "cancelled") < 1
    assert workspace.run(row.id).error == ""
    assert len(workspace.history(row.id)) >= 3, "the curve stays"


def test_a_killed_worker_is_told_and_the_queue_goes_on(
    workspace: Workspace, dataset: Dataset
) -> None:
    row = _start_endless(workspace, dataset)
    following = workspace.queue(dataset.id, "mv")
    assert row.pid is not None
    assert workspace.run(following.id).status == "queued"
    os.kill(row.pid, signal.SIGKILL)
    ended = _wait(workspace, row)
    assert ended.status == "failed"
    assert "SIGKILL" in ended.error
    assert "out of memory" in ended.error
    assert _wait(workspace, following).status == "done"


def test_a_crash_in_native_code_is_told_with_its_signal(
    workspace: Workspace, dataset: Dataset
) -> None:
    row = _start_endless(workspace, dataset)
    assert row.pid is not None
    os.kill(row.pid, signal.SIGSEGV)
    ended = _wait(workspace, row)
    assert (ended.status, "SIGSEGV" in ended.error) == ("failed", True)
    assert "memory" not in ended.error
    assert "Segmentation fault" in workspace.log(row.id)


def test_a_bug_is_told_in_a_sentence_with_the_traceback_in_the_log(workspace: Workspace) -> None:
    project = workspace.create_project("Broken")
    broken = workspace.add_data(project.id, small_data(), name="labels.csv")
    checksums = workspace.root / "data" / broken.id / "checksums.json"
    (checksums.parent / "data.json").write_text("{}")
    sums = json.loads(checksums.read_text())
    checksums.write_text(json.dumps({**sums, "data.json": _sum_of(checksums.parent / "data.json")}))
    ended = _wait(workspace, workspace.queue(broken.id, "mv"))
    assert ended.status == "failed"
    assert ended.error.startswith("The run failed with KeyError: ")
    assert "Traceback" in workspace.log(ended.id)


def _sum_of(path: Path) -> dict[str, Any]:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return {"bytes": path.stat().st_size, "sha256": digest}


def test_a_run_on_damaged_data_says_what_is_lost(workspace: Workspace) -> None:
    project = workspace.create_project("Damaged")
    broken = workspace.add_data(project.id, small_data(), name="labels.csv")
    (workspace.root / "data" / broken.id / "labels.parquet").unlink()
    ended = _wait(workspace, workspace.queue(broken.id, "mv"))
    assert ended.status == "failed"
    assert "Lost or changed since it was saved: the labels (labels.parquet)" in ended.error
    assert workspace.log(ended.id) == "", "no traceback: it is not a bug"


def test_a_wish_that_cannot_be_met_is_told_as_it_is(workspace: Workspace, dataset: Dataset) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("a wish for CUDA can be met on this machine")
    ended = _wait(workspace, workspace.queue(dataset.id, "mv", device="cuda"))
    assert ended.status == "failed"
    assert ended.error.startswith("There is no CUDA device on this machine.")
    assert workspace.log(ended.id) == "", "no traceback: it is not a bug"


def test_a_run_outlives_the_process_that_queued_it(workspace: Workspace, dataset: Dataset) -> None:
    code = """if True:
        import os, sys
        from pathlib import Path
        from crowdcore.jobs import ensure_daemon
        from crowdcore.workspace import Workspace
        workspace = Workspace(Path(sys.argv[1]))
        ensure_daemon(workspace)
        print(workspace.queue(sys.argv[2], "ds", params={"max_iter": 30, "tol": 0}).id, flush=True)
        os.kill(os.getpid(), 9)
    """
    daemon = _daemon(workspace)
    run_id = run_python(code, workspace.root, dataset.id, status=-9).strip()
    assert _wait(workspace, workspace.run(run_id)).status == "done"
    assert _daemon(workspace) == daemon


def test_as_many_runs_work_at_once_as_there_are_slots(
    workspace: Workspace, dataset: Dataset
) -> None:
    workspace.set_setting("slots", 2)
    rows = [workspace.queue(dataset.id, "ds", params=ENDLESS) for _ in range(3)]
    until(lambda: all(workspace.run(row.id).step for row in rows[:2]))
    assert workspace.run(rows[2].id).status == "queued"
    workspace.set_setting("slots", 1)
    for row in reversed(rows):
        workspace.cancel(row.id)
    assert [_wait(workspace, row).status for row in rows] == ["cancelled"] * 3


def test_when_the_daemon_dies_its_runs_go_on_and_the_next_daemon_watches_them(
    workspace: Workspace, dataset: Dataset
) -> None:
    row = _start_endless(workspace, dataset)
    old = _daemon(workspace)
    os.kill(old, signal.SIGKILL)
    until(lambda: _gone(old))
    step = workspace.run(row.id).step
    until(lambda: workspace.run(row.id).step > step)

    ensure_daemon(workspace)

    assert _daemon(workspace) != old
    assert workspace.run(row.id).status == "running"
    following = workspace.queue(dataset.id, "mv")
    time.sleep(0.3)
    assert workspace.run(following.id).status == "queued", "the slot is still taken"
    workspace.cancel(row.id)
    assert until(lambda: workspace.run(row.id).status == "cancelled") < 1
    assert _wait(workspace, following).status == "done"


def test_a_run_whose_process_and_daemon_are_gone_is_lost_and_can_be_run_again(
    workspace: Workspace, dataset: Dataset
) -> None:
    row = _start_endless(workspace, dataset)
    assert row.pid is not None
    daemon = _daemon(workspace)
    os.kill(daemon, signal.SIGKILL)
    os.kill(row.pid, signal.SIGKILL)
    until(lambda: _gone(daemon) and _gone(row.pid))
    ensure_daemon(workspace)
    lost = _wait(workspace, row)
    assert (lost.status, lost.error[-13:]) == ("lost", "Run it again.")
    again = workspace.run_again(row.id)
    workspace.cancel(again.id)
    assert _wait(workspace, again).status == "cancelled"


@pytest.mark.parametrize(
    ("place", "name", "newer"),
    [(crowdcore, "__version__", "999.0"), (launch, "code_time", lambda: time.time() + 1)],
    ids=["version", "changed files"],
)
def test_a_daemon_with_older_code_is_replaced(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, place: Any, name: str, newer: Any
) -> None:
    old = _daemon(workspace)
    monkeypatch.setattr(place, name, newer)
    ensure_daemon(workspace)
    assert _daemon(workspace) != old
    monkeypatch.undo()
    new = _daemon(workspace)
    ensure_daemon(workspace)
    assert _daemon(workspace) == new


def test_the_log_of_the_daemon_tells_of_no_trouble(workspace: Workspace, dataset: Dataset) -> None:
    _wait(workspace, workspace.queue(dataset.id, "mv"))
    log = workspace.root / "daemon.log"
    until(lambda: "ended with code" in log.read_text())
    assert "Traceback" not in log.read_text()
