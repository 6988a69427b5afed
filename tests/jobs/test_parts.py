"""The parts of the daemon, without one."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from crowdcore.jobs import lock
from crowdcore.jobs.daemon import Child, Daemon, slots
from crowdcore.jobs.orphans import tend_orphans
from crowdcore.jobs.processes import death_sentence, is_alive, start_time
from crowdcore.jobs.worker import NO_MEMORY, Reporter, _sentence
from crowdcore.run import Progress
from crowdcore.workspace import RunRow, Workspace, runs
from tests.jobs.waiting import until
from tests.workspace.samples import small_data


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


@pytest.fixture
def row(workspace: Workspace) -> RunRow:
    project = workspace.create_project("Birds")
    dataset = workspace.add_data(project.id, small_data(), name="labels.csv")
    return workspace.queue(dataset.id, "mv")


def _locked(workspace: Workspace) -> Daemon:
    handle = lock.take(workspace.root)
    assert handle is not None
    return Daemon(workspace, handle)


def test_a_process_is_known_by_its_id_and_start() -> None:
    mine = os.getpid()
    assert is_alive(mine, start_time(mine))
    assert not is_alive(mine, start_time(mine) - 60)
    assert not is_alive(None, None)
    with subprocess.Popen(["sleep", "60"]) as process:
        started = start_time(process.pid)
        process.kill()
        until(lambda: psutil.Process(process.pid).status() == psutil.STATUS_ZOMBIE)
        assert not is_alive(process.pid, started), "a zombie works no more"
    assert not is_alive(process.pid, started)


def test_a_running_row_is_lost_only_if_its_own_process_is_gone(
    workspace: Workspace, row: RunRow
) -> None:
    assert tend_orphans(workspace) == 0
    assert workspace.run(row.id).status == "queued"
    runs.claim(workspace.catalogue)
    pid = os.getpid()
    runs.begin(workspace.catalogue, row.id, pid=pid, started=start_time(pid))
    assert tend_orphans(workspace) == 1
    assert workspace.run(row.id).status == "running"
    runs.begin(workspace.catalogue, row.id, pid=pid, started=start_time(pid) - 60)
    assert tend_orphans(workspace) == 0
    assert workspace.run(row.id).status == "lost"


def test_a_process_that_will_not_hear_is_killed_with_all_it_started(
    workspace: Workspace, row: RunRow
) -> None:
    daemon = _locked(workspace)
    runs.claim(workspace.catalogue)
    with subprocess.Popen(
        ["sh", "-c", "trap '' TERM; sleep 60 & echo $!; wait"],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        grandchild = int(process.stdout.readline())
        daemon.children[process.pid] = Child(run_id=row.id)
        workspace.cancel(row.id)
        begun = time.monotonic()
        while daemon.children:
            daemon.round()
            time.sleep(0.05)
        assert time.monotonic() - begun < 1
        until(lambda: not is_alive(grandchild, time.time()), 1)
        process.wait()
    assert workspace.run(row.id).status == "cancelled"
    os.close(daemon.handle)


def test_an_idle_daemon_goes_and_lets_go_of_the_lock(workspace: Workspace) -> None:
    daemon = _locked(workspace)
    assert lock.take(workspace.root) is None
    daemon.serve(idle=0)
    again = lock.take(workspace.root)
    assert again is not None
    os.close(again)
    os.close(daemon.handle)


def test_a_daemon_about_to_go_stays_for_a_run_that_has_just_been_queued(
    workspace: Workspace, row: RunRow
) -> None:
    daemon = _locked(workspace)
    assert workspace.run(row.id).status == "queued"
    assert not daemon._may_go()
    assert lock.take(workspace.root) is None
    os.close(daemon.handle)


def test_a_daemon_goes_when_its_workspace_is_removed(workspace: Workspace) -> None:
    daemon = _locked(workspace)
    (workspace.root / lock.NAME).unlink()
    daemon.serve(idle=60)
    os.close(daemon.handle)


def test_slots_are_a_setting_or_half_of_the_cores(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for cores, expected in [(1, 1), (2, 1), (4, 2), (16, 8)]:
        monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
        assert slots(workspace) == expected
    workspace.set_setting("slots", 3)
    assert slots(workspace) == 3
    workspace.set_setting("slots", "many")
    assert slots(workspace) == 8


def test_a_death_is_told_by_its_signal_or_code() -> None:
    assert "SIGKILL" in death_sentence(-9)
    assert "out of memory" in death_sentence(-9)
    assert "SIGSEGV" in death_sentence(-11)
    assert "memory" not in death_sentence(-11)
    assert "exit code 3" in death_sentence(3)


def test_memory_that_ends_politely_is_told_as_such() -> None:
    torch_says = "[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"
    assert _sentence(RuntimeError(torch_says)) == NO_MEMORY
    assert _sentence(MemoryError()) == NO_MEMORY
    assert _sentence(KeyError("x")) == (
        "The run failed with KeyError: 'x'. The worker log has the details."
    )


def test_reports_are_written_at_most_four_times_a_second_but_the_last_one_is(
    workspace: Workspace, row: RunRow
) -> None:
    runs.claim(workspace.catalogue)
    reporter = Reporter(workspace, row.id)
    for step in range(1, 101):
        reporter.watch(Progress(stage="EM", step=step, total=100, speed=1, metrics={"x": step}))
    assert len(workspace.history(row.id)) < 5
    reporter.flush()
    assert workspace.history(row.id)["step"].iloc[-1] == 99
    assert workspace.run(row.id).step == 100
    assert not reporter.stopped
    workspace.cancel(row.id)
    reporter.watch(Progress(stage="EM", step=101, total=200, speed=1))
    reporter.flush()
    assert reporter.stopped
