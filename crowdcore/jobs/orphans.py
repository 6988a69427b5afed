"""Runs whose daemon died: those whose process is gone too are lost, the others are watched.

A process holds the folder of its run for as long as it lives. A run that was claimed and never
begun goes back to the queue.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from crowdcore.jobs.processes import is_alive, kill_session
from crowdcore.workspace import folders, run_states

if TYPE_CHECKING:
    from crowdcore.workspace import Workspace

LOST = "The process of the run is gone, with the machine or the session it ran in. Run it again."


def tend_orphans(workspace: Workspace, *, own: frozenset[str] = frozenset()) -> int:
    """End runs whose process is gone, and stop those that should stop.

    Parameters
    ----------
    workspace : Workspace
        The workspace with the runs.
    own : frozenset of str, default frozenset()
        Ids of runs whose processes are the caller's children, and are left alone.

    Returns
    -------
    int
        How many other runs still work.
    """
    alive = 0
    for run in run_states.active(workspace.catalogue):
        if run.running and run.id not in own:
            alive += _tend(workspace, run)
    return alive


def _tend(workspace: Workspace, run: run_states.Active) -> bool:
    folder = workspace.run_folder(run.id)
    with folders.holding(folder) as is_free:
        if not is_free and folder.exists():  # its process holds it
            if run.cancel and run.pid is not None and is_alive(run.pid, run.pid_started):
                kill_session(run.pid, signal.SIGKILL)
            return True
        if not run.begun and not run.cancel:
            run_states.requeue(workspace.catalogue, run.id)
            return False
        ended: run_states.End = "cancelled" if run.cancel else "lost"
        sentence = "" if run.cancel else LOST
        run_states.end(workspace.catalogue, run.id, ended, sentence, folder=folder)
    folders.sweep(workspace.root / "runs")
    return False
