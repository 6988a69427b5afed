"""The daemon of a workspace: imports once what fits need, then forks a process for each run.

`python -m crowdcore.jobs.daemon ROOT`, as `ensure_daemon` starts it. For Linux and macOS:
Windows has no fork. The process only imports: an operation of torch's, a thread or an open
catalogue would not survive the fork, and there is none of them here.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import gc
import importlib
import logging
import os
import signal
import sqlite3
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

from crowdcore import __version__
from crowdcore.data import DataError
from crowdcore.jobs import lock
from crowdcore.jobs.launch import IDLE, code_time
from crowdcore.jobs.orphans import tend_orphans
from crowdcore.jobs.processes import death_sentence, kill_session, start_time
from crowdcore.jobs.worker import execute
from crowdcore.workspace import Workspace, folders, runs

POLL = 0.1
GRACE = 0.5
"""Seconds between the polite signal and the other."""

TROUBLE = 1.0
"""Seconds to wait after an error that may pass, such as a full disk."""

NICE = 5
SMALL_MACHINE = 2

WARM = (
    "psutil",
    "torch",
    "pandas.io.parquet",
    "pyarrow.dataset",
    "pyarrow.parquet",
    "crowdcore.labels",
    "crowdcore.engine.device",
    "crowdcore.engine.em",
    "crowdcore.io.tables",
    "crowdcore.audit.workers",
)

logger = logging.getLogger("crowdcore.jobs")


@dataclass(kw_only=True)
class Child:
    """A process that does a run."""

    run_id: str
    asked: float | None = None  # when it was told to stop


class Daemon:
    """Takes runs from the queue, gives each a process, stops and buries processes."""

    def __init__(self, workspace: Workspace, handle: int) -> None:
        self.workspace, self.handle = workspace, handle
        self.children: dict[int, Child] = {}
        self.leaving = False

    def leave(self) -> None:
        """Go after the current round; runs that work go on."""
        self.leaving = True

    def serve(self, idle: float) -> None:
        """Go round until there is nothing to do for `idle` seconds, or no workspace any more."""
        busy = time.monotonic()
        while not self.leaving and lock.is_in_place(self.handle, self.workspace.root):
            try:
                if self.round():
                    busy = time.monotonic()
            except DataError as error:
                logger.error("%s", error)
                return
            except (sqlite3.Error, OSError):
                logger.exception("A round failed")
                time.sleep(TROUBLE)
            if time.monotonic() - busy > idle and self._may_go():
                return
            time.sleep(POLL)

    def round(self) -> bool:
        """Bury, stop and start once; tell whether there is work."""
        self._bury()
        active = runs.active(self.workspace.catalogue)
        self._stop({run.id for run in active if run.cancel})
        own = frozenset(child.run_id for child in self.children.values())
        others = 0
        if any(run.running and run.id not in own for run in active):
            others = tend_orphans(self.workspace, own=own)
        if any(not run.running for run in active):
            self._start(slots(self.workspace) - len(self.children) - others)
        return bool(active or self.children)

    def _bury(self) -> None:
        for pid, child in list(self.children.items()):
            gone, status = os.waitpid(pid, os.WNOHANG)
            if not gone:
                continue
            code = os.waitstatus_to_exitcode(status)
            logger.info("Run %s: process %d ended with code %d", child.run_id, pid, code)
            ended: runs.End = "failed" if child.asked is None else "cancelled"
            sentence = death_sentence(code) if child.asked is None else ""
            folder = self.workspace.run_folder(child.run_id)
            runs.end(self.workspace.catalogue, child.run_id, ended, sentence, folder=folder)
            del self.children[pid]
            if code:
                folders.sweep(self.workspace.root / "runs")

    def _stop(self, wished: set[str]) -> None:
        now = time.monotonic()
        for pid, child in self.children.items():
            if child.run_id in wished and child.asked is None:
                child.asked = now
                kill_session(pid, signal.SIGTERM)
            elif child.asked is not None and now - child.asked > GRACE:
                kill_session(pid, signal.SIGKILL)

    def _start(self, free: int) -> None:
        while free > 0 and (run_id := runs.claim(self.workspace.catalogue)) is not None:
            free -= 1
            try:
                pid = os.fork()
            except OSError as error:
                sentence = f"The system could not start another process: {error.strerror}."
                folder = self.workspace.run_folder(run_id)
                runs.end(self.workspace.catalogue, run_id, "failed", sentence, folder=folder)
                continue
            if pid == 0:
                self._work(run_id)
            logger.info("Run %s: process %d", run_id, pid)
            self.children[pid] = Child(run_id=run_id)

    def _work(self, run_id: str) -> None:
        """Be the process of a run; never return."""
        code = 1
        try:
            os.close(self.handle)  # or the daemon's lock would outlive the daemon
            _become_worker(self.workspace.run_folder(run_id))
            execute(self.workspace, run_id)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _may_go(self) -> bool:
        """Let go of the lock; but a run queued by one who still saw it held must not wait."""
        import fcntl

        fcntl.flock(self.handle, fcntl.LOCK_UN)
        if not runs.active(self.workspace.catalogue):
            return True
        try:
            fcntl.flock(self.handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # another daemon has begun
            return True
        return False


def slots(workspace: Workspace) -> int:
    """Return how many runs may work at once: the setting "slots", else half of the cores."""
    wish = workspace.setting("slots")
    if isinstance(wish, int) and wish >= 1:
        return wish
    cores = os.cpu_count() or 1
    return 1 if cores <= SMALL_MACHINE else cores // 2


def warm_up() -> None:
    """Import what fits need, once for all of them."""
    from crowdcore.registry import methods

    for name in WARM:
        importlib.import_module(name)
    methods()
    gc.collect()
    gc.freeze()  # children would copy the pages that a collection marks


def _become_worker(folder: Path) -> None:
    """Turn a copy of the daemon into a process of its own, that gives way to everyone else."""
    import torch

    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.setsid()
    os.nice(NICE)
    with contextlib.suppress(OSError):  # Linux: when memory ends, the fit goes and not the server
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")
    log = os.open(folder / "worker.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    faulthandler.enable()
    torch.set_num_threads(1)


def main() -> None:
    """Serve a workspace. With `--lock`, whose number is an open file, in the background."""
    parser = argparse.ArgumentParser(prog="python -m crowdcore.jobs.daemon")
    parser.add_argument("root", type=Path)
    parser.add_argument("--lock", type=int)
    parser.add_argument("--idle", type=float, default=IDLE)
    wish = parser.parse_args()
    handle = lock.take(wish.root) if wish.lock is None else wish.lock
    if handle is None:
        parser.exit(1, "Another daemon works on this workspace.\n")
    os.set_inheritable(handle, False)
    if wish.lock is None:
        _sign(handle, os.getpid())
    elif (pid := os.fork()) != 0:
        _sign(handle, pid)
        os._exit(0)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    daemon = Daemon(Workspace(wish.root), handle)
    tend_orphans(daemon.workspace)
    warm_up()
    signal.signal(signal.SIGTERM, lambda *_: daemon.leave())
    daemon.serve(wish.idle)


def _sign(handle: int, pid: int) -> None:
    code = {"version": __version__, "code_time": code_time()}
    lock.sign(handle, {"pid": pid, "started": start_time(pid), **code})


if __name__ == "__main__":
    main()
