"""One run, from its row to its result; in a process that may be killed at any moment."""

from __future__ import annotations

import contextlib
import os
import time
import traceback
from typing import TYPE_CHECKING, cast

from crowdcore.data import DataError
from crowdcore.jobs.processes import start_time
from crowdcore.run import MAX_REPORTS_PER_SECOND, Cancelled, Device, Progress, Run
from crowdcore.workspace import StorageError, run_states

if TYPE_CHECKING:
    from crowdcore.workspace import Workspace

NO_MEMORY = (
    "There was not enough memory for this fit: close other programs, run fewer fits at once, "
    "or use fewer labels or a lighter method."
)

TORCH_MEMORY = ("can't allocate memory", "out of memory")


class Reporter:
    """Writes progress to the run's row and curve, a few times a second; hears the wish to stop."""

    def __init__(self, workspace: Workspace, run_id: str) -> None:
        self.stopped = False
        self._workspace, self._run_id = workspace, run_id
        self._folder = workspace.run_folder(run_id)
        self._written_at = float("-inf")
        self._unwritten: Progress | None = None

    def watch(self, progress: Progress) -> None:
        """Take a report; it is written if the last one was long enough ago.

        Parameters
        ----------
        progress : Progress
            How far the fit is.
        """
        self._unwritten = progress
        if time.monotonic() - self._written_at >= 1 / MAX_REPORTS_PER_SECOND:
            self.flush()

    def flush(self) -> None:
        """Write the latest report, if it is not yet written."""
        if self._unwritten is None:
            return
        progress, self._unwritten = self._unwritten, None
        self._written_at = time.monotonic()
        # A report that cannot be written, on a full disk or a busy one, must not end the fit.
        with contextlib.suppress(StorageError, OSError):
            run_states.append_progress(self._folder, progress)
            self.stopped = not run_states.report(self._workspace.catalogue, self._run_id, progress)

    def stage(self, name: str) -> None:
        """Say what is being done where there are no steps to count.

        Parameters
        ----------
        name : str
            What the run is doing now.

        Raises
        ------
        Cancelled
            Somebody asked the run to stop.
        """
        self.flush()
        with contextlib.suppress(StorageError):
            self.stopped = not run_states.stage(self._workspace.catalogue, self._run_id, name)
        if self.stopped:
            raise Cancelled


def execute(workspace: Workspace, run_id: str) -> None:
    """Do a run and write how it ended: a bug's traceback to the log, a sentence to the row.

    Parameters
    ----------
    workspace : Workspace
        The workspace with the run.
    run_id : str
        A run that was claimed.
    """
    pid = os.getpid()
    run_states.begin(workspace.catalogue, run_id, pid=pid, started=start_time(pid))
    try:
        _fit(workspace, run_id)
    except Cancelled:
        _end(workspace, run_id, "cancelled", "")
    except DataError as error:
        _end(workspace, run_id, "failed", str(error))
    except Exception as error:
        traceback.print_exc()
        _end(workspace, run_id, "failed", _sentence(error))


def _fit(workspace: Workspace, run_id: str) -> None:
    from crowdcore.registry import fit

    row, reporter = workspace.run(run_id), Reporter(workspace, run_id)
    reporter.stage("Reading the data")
    applied = workspace.applied(run_id)
    reporter.stage("Fitting")
    run = Run(
        seed=row.seed,
        device=cast("Device", row.device),
        watch=reporter.watch,
        should_stop=lambda: reporter.stopped,
    )
    warm = None if row.warm_from is None else workspace.warm_start(row.warm_from)
    result = fit(
        applied.data,
        row.method,
        run=run,
        warm_start=warm,
        complete=row.complete,
        complete_params=row.complete_params,
        **row.params,
    )
    reporter.stage("Judging the workers")
    workspace.save_result(run_id, result.with_notes(*applied.effects, *applied.skipped))


def _end(workspace: Workspace, run_id: str, status: run_states.End, error: str) -> None:
    run_states.end(workspace.catalogue, run_id, status, error, folder=workspace.run_folder(run_id))


def _sentence(error: Exception) -> str:
    # torch has no MemoryError of its own on the CPU: it says so in words.
    if isinstance(error, MemoryError) or any(phrase in str(error) for phrase in TORCH_MEMORY):
        return NO_MEMORY
    first = (str(error).strip().splitlines() or [""])[0].rstrip(".")
    phrase = f"{type(error).__name__}: {first}" if first else type(error).__name__
    return f"The run failed with {phrase}. The log of the run has the details."
