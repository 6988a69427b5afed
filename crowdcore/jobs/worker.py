"""One run, from its row to its result; in a process that may be killed at any moment."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
import traceback
from typing import TYPE_CHECKING, cast

from crowdcore.data import DataError
from crowdcore.jobs.processes import start_time
from crowdcore.run import REPORTS_A_SECOND, Cancelled, Device, Progress, Run
from crowdcore.workspace import runs

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
        self._told = float("-inf")
        self._untold: Progress | None = None

    def watch(self, progress: Progress) -> None:
        """Take a report; a loop's last one may come sooner than is worth a write."""
        self._untold = progress
        if time.monotonic() - self._told >= 1 / REPORTS_A_SECOND:
            self.flush()

    def flush(self) -> None:
        """Write the latest report, if it is not yet written."""
        if self._untold is None:
            return
        progress, self._untold = self._untold, None
        self._told = time.monotonic()
        # A report that cannot be written, on a full disk or a busy one, must not end the fit.
        with contextlib.suppress(sqlite3.OperationalError, OSError):
            runs.append_progress(self._folder, progress)
            self.stopped = not runs.report(self._workspace.catalogue, self._run_id, progress)

    def stage(self, name: str) -> None:
        """Say what is being done where there are no steps to count."""
        self.flush()
        if not runs.stage(self._workspace.catalogue, self._run_id, name):
            raise Cancelled


def execute(workspace: Workspace, run_id: str) -> None:
    """Do a run and write how it ended: a bug's traceback to the log, a sentence to the row."""
    pid = os.getpid()
    runs.begin(workspace.catalogue, run_id, pid=pid, started=start_time(pid))
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
    data = workspace.run_data(run_id)
    reporter.stage("Fitting")
    run = Run(
        seed=row.seed,
        device=cast("Device", row.device),
        watch=reporter.watch,
        should_stop=lambda: reporter.stopped,
    )
    warm = None if row.warm_from is None else workspace.beliefs(row.warm_from)
    result = fit(
        data,
        row.method,
        run=run,
        warm_start=warm,
        complete=row.complete,
        complete_params=row.complete_params,
        **row.params,
    )
    reporter.stage("Judging the workers")
    workspace.save_result(run_id, result)


def _end(workspace: Workspace, run_id: str, status: runs.End, error: str) -> None:
    runs.end(workspace.catalogue, run_id, status, error, folder=workspace.run_folder(run_id))


def _sentence(error: Exception) -> str:
    # torch has no MemoryError of its own on the CPU: it says so in words.
    if isinstance(error, MemoryError) or any(words in str(error) for words in TORCH_MEMORY):
        return NO_MEMORY
    first = (str(error).strip().splitlines() or [""])[0].rstrip(".")
    words = f"{type(error).__name__}: {first}" if first else type(error).__name__
    return f"The run failed with {words}. The worker log has the details."
