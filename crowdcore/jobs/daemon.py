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
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

from crowdcore import __version__
from crowdcore.atomic import hold
from crowdcore.atomic import lock as take_lock
from crowdcore.jobs import lock
from crowdcore.jobs.fit_process import execute
from crowdcore.jobs.launch import IDLE_SECONDS, code_time
from crowdcore.jobs.orphans import tend_orphans
from crowdcore.jobs.processes import CANNOT_WRITE, death_sentence, kill_session, start_time
from crowdcore.workspace import CatalogueError, StorageError, Workspace, folders, run_states
from crowdcore.workspace.runs import LOG

POLL_SECONDS = 0.1
GRACE_SECONDS = 0.5
"""Seconds between the polite signal and the other."""

RETRY_SECONDS = 1.0
"""Seconds to wait after an error that may pass, such as a full disk."""

NICENESS = 5
MAX_CORES_FOR_ONE_SLOT = 2

PRELOADED = (
    "psutil",
    "torch",
    "pandas.io.parquet",
    "pyarrow.dataset",
    "pyarrow.parquet",
    "crowdcore.engine.labels",
    "crowdcore.engine.em",
    "crowdcore.export.tables",
    "crowdcore.audit.workers",
)

logger = logging.getLogger("crowdcore.jobs")


@dataclass(kw_only=True)
class Child:
    """A process that does a run."""

    run_id: str
    asked_to_stop: float | None = None  # when, by the monotonic clock


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How a run ended, until that is in the catalogue."""

    status: run_states.End
    sentence: str


class Daemon:
    """Takes runs from the queue, gives each a process, stops and reaps processes.

    Parameters
    ----------
    workspace : Workspace
        Whose queue is worked on.
    handle : int
        The lock that `crowdcore.jobs.lock.take` returned.
    """

    def __init__(self, workspace: Workspace, handle: int) -> None:
        self.workspace, self.handle = workspace, handle
        self.children: dict[int, Child] = {}
        self.unrecorded: dict[str, Ending] = {}
        self.leaving = False
        self._last_problem = ""

    def leave(self) -> None:
        """Go after the current round; runs that work go on."""
        self.leaving = True

    def serve(self, idle: float) -> None:
        """Go round until there is nothing to do, or no workspace any more.

        After an error it goes on: a disk may have room again, a lock may be let go of.

        Parameters
        ----------
        idle : float
            Seconds without work after which the daemon leaves.
        """
        busy = time.monotonic()
        while not self.leaving and lock.is_in_place(self.handle, self.workspace.root):
            try:
                if self.round():
                    busy = time.monotonic()
                elif time.monotonic() - busy > idle and self._may_go():
                    return
                self._last_problem = ""
            except CatalogueError as error:  # gone, damaged or of a newer crowdcore
                logger.error("%s", error)
                return
            except Exception as error:
                self._log_problem(error)
                time.sleep(RETRY_SECONDS)
            time.sleep(POLL_SECONDS)

    def round(self) -> bool:
        """Reap, stop and start processes once.

        Returns
        -------
        bool
            True if runs wait or work.
        """
        self._reap()
        self._record()
        active = run_states.active(self.workspace.catalogue)
        self._stop({run.id for run in active if run.cancel})
        own = frozenset((*self.unrecorded, *(child.run_id for child in self.children.values())))
        n_orphans = 0
        if any(run.running and run.id not in own for run in active):
            n_orphans = tend_orphans(self.workspace, own=own)
        if any(not run.running for run in active):
            self._start(slots(self.workspace) - len(self.children) - n_orphans)
        return bool(active or self.children or self.unrecorded)

    def _reap(self) -> None:
        """Bury the processes that have ended; how they ended is kept until it is recorded."""
        for pid, child in list(self.children.items()):
            try:
                gone, status = os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:  # buried by somebody else
                gone, status = pid, 0
            if not gone:
                continue
            del self.children[pid]
            code = os.waitstatus_to_exitcode(status)
            logger.info("Run %s: process %d ended with code %d", child.run_id, pid, code)
            self.unrecorded[child.run_id] = (
                Ending(status="failed", sentence=death_sentence(code))
                if child.asked_to_stop is None
                else Ending(status="cancelled", sentence="")
            )

    def _record(self) -> None:
        """Write how runs ended; what cannot be written is tried again in the next round."""
        for run_id, ending in list(self.unrecorded.items()):
            folder = self.workspace.run_folder(run_id)
            try:
                run_states.end(
                    self.workspace.catalogue, run_id, ending.status, ending.sentence, folder=folder
                )
                folders.sweep(folder.parent)
            except CatalogueError:
                raise
            except Exception as error:
                self._log_problem(error)
            else:
                del self.unrecorded[run_id]

    def _stop(self, to_stop: set[str]) -> None:
        now = time.monotonic()
        for pid, child in self.children.items():
            if child.run_id in to_stop and child.asked_to_stop is None:
                child.asked_to_stop = now
                kill_session(pid, signal.SIGTERM)
            elif child.asked_to_stop is not None and now - child.asked_to_stop > GRACE_SECONDS:
                kill_session(pid, signal.SIGKILL)

    def _start(self, n_free: int) -> None:
        while n_free > 0 and (run_id := run_states.claim(self.workspace.catalogue)) is not None:
            n_free -= 1
            held: int | None = None
            try:
                # Held for as long as the process lives, which inherits it: others see that it does.
                held = hold(self.workspace.run_folder(run_id))
                pid = os.fork()
            except OSError as error:
                sentence = f"The system could not start another process: {error.strerror}."
                self.unrecorded[run_id] = Ending(status="failed", sentence=sentence)
                continue
            else:
                if pid == 0:
                    self._work(run_id)
                logger.info("Run %s: process %d", run_id, pid)
                self.children[pid] = Child(run_id=run_id)
            finally:
                if held is not None:
                    os.close(held)

    def _work(self, run_id: str) -> None:
        """Be the process of a run; never return."""
        code = 1
        try:
            os.close(self.handle)  # or the daemon's lock would outlive the daemon
            _become_fit_process(self.workspace.run_folder(run_id))
            execute(self.workspace, run_id)
            code = 0
        except StorageError:
            code = CANNOT_WRITE
            traceback.print_exc()
        except BaseException:
            traceback.print_exc()
        finally:
            try:
                sys.stdout.flush()
                sys.stderr.flush()
            finally:  # whatever the disk says: this copy of the daemon must not go on
                os._exit(code)

    def _may_go(self) -> bool:
        """Let go of the lock; but a run queued by one who still saw it held must not wait."""
        import fcntl

        fcntl.flock(self.handle, fcntl.LOCK_UN)
        try:
            if not run_states.active(self.workspace.catalogue):
                return True
        except StorageError as error:
            self._log_problem(error)
        return not take_lock(self.handle)  # another daemon has begun, or this one goes on

    def _log_problem(self, error: Exception) -> None:
        """Log an error once, however often it comes again in a row."""
        if (problem := f"{type(error).__name__}: {error}") != self._last_problem:
            self._last_problem = problem
            logger.error("A round failed", exc_info=error)


def slots(workspace: Workspace) -> int:
    """Compute how many runs may work at once: the setting "slots", else half of the cores.

    Parameters
    ----------
    workspace : Workspace
        The workspace with the setting.

    Returns
    -------
    int
        At least 1.
    """
    setting = workspace.setting("slots")
    if isinstance(setting, int) and setting >= 1:
        return setting
    cores = os.cpu_count() or 1
    return 1 if cores <= MAX_CORES_FOR_ONE_SLOT else cores // 2


def warm_up() -> None:
    """Import what fits need, once for all of them."""
    from crowdcore.registry import methods

    for name in PRELOADED:
        importlib.import_module(name)
    methods()
    gc.collect()
    gc.freeze()  # children would copy the pages that a collection marks


def _become_fit_process(folder: Path) -> None:
    """Turn a copy of the daemon into a process of its own, that gives way to everyone else."""
    import torch

    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.setsid()
    os.nice(NICENESS)
    with contextlib.suppress(OSError):  # Linux: when memory ends, the fit goes and not the server
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")
    try:
        log = folders.append_private(folder / LOG)
    except OSError:  # a full disk: the fit may do without, the result may not
        log = os.open(os.devnull, os.O_WRONLY)
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
    parser.add_argument("--idle", type=float, default=IDLE_SECONDS)
    arguments = parser.parse_args()
    handle = lock.take(arguments.root) if arguments.lock is None else arguments.lock
    if handle is None:
        parser.exit(1, "Another daemon works on this workspace.\n")
    os.set_inheritable(handle, False)
    if arguments.lock is None:
        _sign(handle, os.getpid())
    elif (pid := os.fork()) != 0:
        _sign(handle, pid)
        os._exit(0)
    os.umask(0o077)
    logging.raiseExceptions = False  # a full disk must not end the daemon through its log
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    daemon = Daemon(Workspace(arguments.root), handle)
    warm_up()
    signal.signal(signal.SIGTERM, lambda *_: daemon.leave())
    daemon.serve(arguments.idle)


def _sign(handle: int, pid: int) -> None:
    code = {"version": __version__, "code_time": code_time()}
    lock.sign(handle, {"pid": pid, "started": start_time(pid), **code})


if __name__ == "__main__":
    main()
