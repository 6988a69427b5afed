"""Starting and stopping the daemon of a workspace."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import sysconfig
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import crowdcore
from crowdcore.data import DataError
from crowdcore.jobs import lock
from crowdcore.workspace import folders
from crowdcore.workspace.disk import writing

if TYPE_CHECKING:
    from crowdcore.workspace import Workspace

IDLE_SECONDS = 900.0
"""Seconds without work after which a daemon goes."""

LOG = "daemon.log"
MAX_LOG_BYTES = 1_000_000

_FORKABLE = {
    # A fork copies one thread only, so these libraries must not start any on import.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    # macOS ends a forked process that touches its frameworks, unless told that this is meant.
    "OBJC_DISABLE_INITIALIZE_FORK_SAFETY": "YES",
}


def ensure_daemon(workspace: Workspace, *, idle: float = IDLE_SECONDS) -> None:
    """See to it that a daemon works on the queue; cheap where one does.

    The lock is taken here and handed over, so two callers at once never start two daemons. A
    daemon with older code is sent away; its runs go on under the next one.

    Parameters
    ----------
    workspace : Workspace
        Whose queue is to be worked on.
    idle : float, default IDLE_SECONDS
        Seconds without work after which a new daemon leaves.

    Raises
    ------
    DataError
        The daemon did not start.
    StorageError
        The disk is full, read-only or failing.
    """
    from crowdcore.jobs.orphans import tend_orphans

    with writing(workspace.root, "The log of the daemon"):
        handle = lock.take(workspace.root)
        if handle is None and _is_older(lock.holder(workspace.root)):
            stop_daemon(workspace)
            handle = lock.take(workspace.root)
        if handle is None:
            return
        try:
            lock.sign(handle, {})
            tend_orphans(workspace)
            _start(workspace.root, handle, idle)
        finally:
            os.close(handle)


def stop_daemon(workspace: Workspace, *, wait: float = 5.0) -> bool:
    """Send the daemon away; runs that work go on without it.

    Parameters
    ----------
    workspace : Workspace
        Whose daemon is to leave.
    wait : float, default 5.0
        Seconds to wait for it.

    Returns
    -------
    bool
        True if there is no daemon now.
    """
    return stop_daemon_in(workspace.root, wait=wait)


def stop_daemon_in(root: Path, *, wait: float = 5.0) -> bool:
    """Send away the daemon of a workspace that cannot be opened.

    Parameters
    ----------
    root : Path
        The folder of the workspace.
    wait : float, default 5.0
        Seconds to wait for it.

    Returns
    -------
    bool
        True if there is no daemon now.
    """
    from crowdcore.jobs.processes import is_alive

    deadline = time.monotonic() + wait
    while (handle := lock.take(root)) is None:
        if time.monotonic() > deadline:
            return False
        facts = lock.holder(root)
        if is_alive(facts.get("pid"), facts.get("started")):
            with contextlib.suppress(ProcessLookupError):
                os.kill(facts["pid"], signal.SIGTERM)
        time.sleep(0.02)
    os.close(handle)
    return True


@cache
def code_time() -> float:
    """Return when a file of this crowdcore was changed last, as far as this process has seen.

    Returns
    -------
    float
        Seconds since the epoch.
    """
    home = Path(crowdcore.__file__).parent
    return max(path.stat().st_mtime for path in home.rglob("*.py"))


def _is_older(facts: dict[str, Any]) -> bool:
    """Tell whether a daemon has older code; in a checkout the version alone does not say."""
    from packaging.version import Version

    if "version" not in facts:  # it has not signed yet
        return False
    theirs = Version(facts["version"]), facts.get("code_time", 0.0)
    return theirs < (Version(crowdcore.__version__), code_time())


def _start(root: Path, handle: int, idle: float) -> None:
    command = [sys.executable, "-P", "-m", "crowdcore.jobs.daemon", str(root)]
    command += ["--lock", str(handle), "--idle", str(idle)]
    log = root / LOG
    if log.exists() and log.stat().st_size > MAX_LOG_BYTES:
        log.unlink()
    descriptor = folders.append_private(log)
    try:
        # The process forks the daemon and ends, so nobody here has to wait for the daemon's end.
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=descriptor,
            stderr=descriptor,
            cwd=root,
            env=process_environment(),
            pass_fds=[handle],
            start_new_session=True,
            check=False,
        )
    finally:
        os.close(descriptor)
    if ended.returncode:
        raise DataError("The daemon that runs fits did not start", file=str(log))


def process_environment() -> dict[str, str]:
    """Return our environment, such that another process finds the very crowdcore that we are.

    Returns
    -------
    dict of str to str
        Environment variables.
    """
    home = Path(crowdcore.__file__).resolve().parents[1]
    installed = {Path(sysconfig.get_path(kind)).resolve() for kind in ("purelib", "platlib")}
    paths = [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
    if home not in installed:  # run from a checkout
        paths.insert(0, str(home))
    return {**os.environ, **_FORKABLE, "PYTHONPATH": os.pathsep.join(paths)}
