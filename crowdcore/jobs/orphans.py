"""Runs whose daemon died: those whose process is gone too are lost, the others are watched."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from crowdcore.jobs.processes import is_alive, kill_session
from crowdcore.workspace import folders, runs

if TYPE_CHECKING:
    from crowdcore.workspace import Workspace

LOST = "The worker process is gone, with the machine or the session it ran in. Run it again."


def tend_orphans(workspace: Workspace, *, own: frozenset[str] = frozenset()) -> int:
    """Look after the runs that work but are not `own`; return how many still do."""
    alive = 0
    for run in runs.active(workspace.catalogue):
        if run.running and run.id not in own:
            alive += _tend(workspace, run)
    return alive


def _tend(workspace: Workspace, run: runs.Active) -> bool:
    if is_alive(run.pid, run.pid_started):
        if run.cancel and run.pid is not None:
            kill_session(run.pid, signal.SIGKILL)
        return True
    folder = workspace.run_folder(run.id)
    ended: runs.End = "cancelled" if run.cancel else "lost"
    runs.end(workspace.catalogue, run.id, ended, "" if run.cancel else LOST, folder=folder)
    folders.sweep(workspace.root / "runs")
    return False
