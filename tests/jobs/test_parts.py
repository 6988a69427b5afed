"""The parts of the daemon, without one."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from crowdcore.jobs import lock
from crowdcore.jobs.daemon import Child, Daemon, slots
from crowdcore.jobs.fit_process import NO_MEMORY, Reporter, _sentence
from crowdcore.jobs.orphans import tend_orphans
from crowdcore.jobs.processes import death_sentence, is_alive, start_time
from crowdcore.run import Progress
from crowdcore.workspace import RunRow, StorageError, Workspace, folders, run_states
from crowdcore.workspace.catalogue import SCHEMA
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


def _is_zombie(pid: int) -> bool:
    return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


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
    run_states.claim(workspace.catalogue)
    run_states.begin(workspace.catalogue, row.id, pid=os.getpid(), started=0.0)
    with folders.holding(workspace.run_folder(row.id)) as held:
        assert held
        assert tend_orphans(workspace) == 1
        assert workspace.run(row.id).status == "running"
    assert tend_orphans(workspace) == 0
    assert workspace.run(row.id).status == "lost"


def test_a_run_that_was_claimed_and_never_begun_goes_back_to_the_queue(
    workspace: Workspace, row: RunRow
) -> None:
    run_states.claim(workspace.catalogue)
    with folders.holding(workspace.run_folder(row.id)):
        assert tend_orphans(workspace) == 1, "its process is about to begin"
    assert tend_orphans(workspace) == 0
    assert workspace.run(row.id).status == "queued"
    run_states.claim(workspace.catalogue)
    workspace.cancel(row.id)
    assert tend_orphans(workspace) == 0
    assert workspace.run(row.id).status == "cancelled"


def test_a_start_is_told_by_a_clock_that_nobody_can_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mine = os.getpid()
    started = start_time(mine)
    monkeypatch.setattr(time, "time", lambda: 0.0)
    monkeypatch.setattr(psutil, "boot_time", lambda: 7200.0)
    assert is_alive(mine, started)
    oddly_named = tmp_path / ") 1 ("  # /proc tells names in brackets and does not quote them
    oddly_named.symlink_to(shutil.which("sleep") or "/bin/sleep")
    with subprocess.Popen(["sleep", "60"], executable=oddly_named) as process:
        assert is_alive(process.pid, start_time(process.pid))
        process.kill()


def test_an_end_that_cannot_be_recorded_is_recorded_later_and_the_queue_goes_on(
    workspace: Workspace, row: RunRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon = _locked(workspace)
    run_states.claim(workspace.catalogue)
    with subprocess.Popen(["sh", "-c", "exit 3"]) as process:
        daemon.children[process.pid] = Child(run_id=row.id)
        end = run_states.end
        n_errors = 0

        def full(*arguments: Any, **options: Any) -> None:
            nonlocal n_errors
            n_errors += 1
            if n_errors <= 3:
                raise StorageError("There is no room")
            end(*arguments, **options)

        monkeypatch.setattr(run_states, "end", full)
        until(lambda: daemon.round() and not daemon.children)
        assert workspace.run(row.id).status == "running"
        until(lambda: daemon.round() or not daemon.unrecorded)
        until(lambda: not daemon.round())
        process.wait()
    ended = workspace.run(row.id)
    assert (ended.status, "exit code 3" in ended.error) == ("failed", True)
    assert n_errors == 4
    os.close(daemon.handle)


def test_a_daemon_goes_on_after_any_error(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon = _locked(workspace)
    errors = [OSError(28, "No space left"), RuntimeError("a bug"), ChildProcessError(10, "none")]

    def round_() -> bool:
        if errors:
            raise errors.pop()
        return False

    monkeypatch.setattr(daemon, "round", round_)
    monkeypatch.setattr("crowdcore.jobs.daemon.RETRY_SECONDS", 0.0)
    daemon.serve(idle=0.0)
    assert not errors
    os.close(daemon.handle)


def test_a_daemon_leaves_a_workspace_of_a_newer_crowdcore(workspace: Workspace) -> None:
    daemon = _locked(workspace)
    with sqlite3.connect(workspace.catalogue.path) as db:
        db.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    db.close()
    daemon.serve(idle=60.0)
    os.close(daemon.handle)


def test_a_process_that_somebody_else_buried_is_not_waited_for(
    workspace: Workspace, row: RunRow
) -> None:
    daemon = _locked(workspace)
    run_states.claim(workspace.catalogue)
    with subprocess.Popen(["true"]) as process:
        process.wait()
    daemon.children[process.pid] = Child(run_id=row.id)
    daemon.round()
    assert not daemon.children
    assert workspace.run(row.id).status == "failed"
    os.close(daemon.handle)


def test_a_process_that_will_not_hear_is_killed_with_all_it_started(
    workspace: Workspace, row: RunRow
) -> None:
    daemon = _locked(workspace)
    run_states.claim(workspace.catalogue)
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
        until(lambda: not psutil.pid_exists(grandchild) or _is_zombie(grandchild), 1)
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
    assert "the disk was full" in death_sentence(74)


def test_memory_that_ends_politely_is_told_as_such() -> None:
    torch_says = "[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"
    assert _sentence(RuntimeError(torch_says)) == NO_MEMORY
    assert _sentence(MemoryError()) == NO_MEMORY
    assert _sentence(KeyError("x")) == (
        "The run failed with KeyError: 'x'. The log of the run has the details."
    )


def test_reports_are_written_at_most_four_times_a_second_but_the_last_one_is(
    workspace: Workspace, row: RunRow
) -> None:
    run_states.claim(workspace.catalogue)
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
