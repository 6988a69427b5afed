"""Which process is which: an id alone is used again, an id with its start time is not."""

from __future__ import annotations

import os
import signal
from pathlib import Path

CANNOT_WRITE = 74
"""The exit code of a process that could not write how its run ended; EX_IOERR of the system."""


def start_time(pid: int) -> float:
    """Return when a process began, by a clock that nobody can set.

    Parameters
    ----------
    pid : int
        A process of this machine.

    Returns
    -------
    float
        On Linux, ticks since the machine was started; elsewhere, seconds since the epoch, which
        the system noted when the process began.
    """
    import psutil

    stat = Path(f"/proc/{pid}/stat")
    try:
        # The name of the command stands in brackets and may hold anything, brackets too.
        return float(
            stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
        )
    except (OSError, IndexError, ValueError):
        return float(psutil.Process(pid).create_time())


def is_alive(pid: int | None, started: float | None) -> bool:
    """Tell whether the process that had this id since then still works.

    Parameters
    ----------
    pid : int or None
        The process's id, if it is known.
    started : float or None
        Its start time, as `start_time` gave it.

    Returns
    -------
    bool
        False also if another process has the id by now.
    """
    import psutil

    if pid is None or started is None:
        return False
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return start_time(pid) == started
    except psutil.Error:  # gone, or another user's by now
        return False


def kill_session(pid: int, sign: signal.Signals) -> None:
    """Signal a run's process and all it has started; it leads a group of its own.

    Parameters
    ----------
    pid : int
        The process of a run, which leads a group of its own.
    sign : signal.Signals
        The signal to send.
    """
    try:
        os.killpg(pid, sign)
    except (ProcessLookupError, PermissionError):  # forked a moment ago, or gone
        try:
            os.kill(pid, sign)
        except ProcessLookupError:
            return


def death_sentence(code: int) -> str:
    """Say for people how a process ended that did not write how it ended.

    Parameters
    ----------
    code : int
        Exit code; negative for a signal.

    Returns
    -------
    str
        One or two sentences.
    """
    if code == CANNOT_WRITE:
        return (
            "The process of the run could not write its result: the disk was full, read-only or "
            "failing. Make room, then run it again."
        )
    if code >= 0:
        return f"The process of the run ended with exit code {code} before it had a result."
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    sentence = f"The process of the run was killed ({name}) before it had a result."
    if -code == signal.SIGKILL:
        sentence += (
            " Most likely the machine ran out of memory: close other programs, run fewer fits "
            "at once, or use fewer labels or a lighter method."
        )
    return sentence
