"""Which process is which: an id alone is used again, an id with its start time is not."""

from __future__ import annotations

import os
import signal

SAME_START = 2.0
"""Seconds by which a process's start time may seem to move when the clock is set."""


def start_time(pid: int) -> float:
    """Return when a process began, in seconds since the epoch."""
    import psutil

    return float(psutil.Process(pid).create_time())


def is_alive(pid: int | None, started: float | None) -> bool:
    """Tell whether the process that had this id since then still works."""
    import psutil

    if pid is None or started is None:
        return False
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return bool(abs(process.create_time() - started) < SAME_START)
    except psutil.Error:  # gone, or another user's by now
        return False


def kill_session(pid: int, sign: signal.Signals) -> None:
    """Signal a run's process and all it has started; it leads a group of its own."""
    try:
        os.killpg(pid, sign)
    except (ProcessLookupError, PermissionError):  # forked a moment ago, or gone
        try:
            os.kill(pid, sign)
        except ProcessLookupError:
            return


def death_sentence(code: int) -> str:
    """Say for people how a process ended that did not write how it ended."""
    if code >= 0:
        return f"The worker process ended with exit code {code} before it had a result."
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    sentence = f"The worker process was killed ({name}) before it had a result."
    if -code == signal.SIGKILL:
        sentence += (
            " Most likely the machine ran out of memory: close other programs, run fewer fits "
            "at once, or use fewer labels or a lighter method."
        )
    return sentence
