"""How a run's row moves from queued to its end; each move is one write that checks the last.

Only these functions change a status. `done` is written when the result is on the disk.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from crowdcore.data import DataError
from crowdcore.engine.learning.classifier import FILE as CLASSIFIER
from crowdcore.run import Progress
from crowdcore.workspace import folders, record_files
from crowdcore.workspace.catalogue import Catalogue, insert, new_id, now
from crowdcore.workspace.data_files import read_json
from crowdcore.workspace.record_files import RESULT
from crowdcore.workspace.result_files import read_summary

PROGRESS = "progress.jsonl"
"""The file in a run's folder that its curve grows in, one line per report."""

MEMBERS = "members.json"
"""The file in a pool's result that lists the rows of its members, by their ids."""

CLAIMED = "Starting"
"""The stage of a run that a daemon has taken and no process has begun."""

End = Literal["failed", "cancelled", "lost"]


@dataclass(frozen=True, kw_only=True)
class Active:
    """A run that waits or works, as the daemon sees it."""

    id: str
    running: bool
    begun: bool  # a process has begun to work on it
    cancel: bool
    pid: int | None
    pid_started: float | None


def add(catalogue: Catalogue, root: Path, values: dict[str, Any]) -> str:
    """Queue a run: make its folder and its row, numbered within its project.

    Parameters
    ----------
    catalogue : Catalogue
        The catalogue.
    root : Path
        The folder of the workspace.
    values : dict of str to object
        The other values of the row.

    Returns
    -------
    str
        The run's id.

    Raises
    ------
    DataError
        The project was deleted meanwhile.
    """
    run_id = new_id()
    with folders.new_folder(root / "runs") as scratch, catalogue.write() as db:
        row = _numbered(db, {"id": run_id, "created": now(), **values})
        record_files.write(scratch, "run", row, scratch=root)
        folders.publish(scratch, root / "runs" / run_id)
        insert(db, "run", row)
    return run_id


def active(catalogue: Catalogue) -> list[Active]:
    """List the runs that wait or work, in the order they were queued.

    Parameters
    ----------
    catalogue : Catalogue
        The catalogue.

    Returns
    -------
    list of Active
        The runs.
    """
    query = (
        "SELECT id, status, stage, cancel, pid, pid_started FROM run "
        "WHERE status IN ('queued', 'running') ORDER BY rowid"
    )
    with catalogue.read() as db:
        rows = db.execute(query).fetchall()
    return [
        Active(
            id=row["id"],
            running=row["status"] == "running",
            begun=row["stage"] != CLAIMED,
            cancel=bool(row["cancel"]),
            pid=row["pid"],
            pid_started=row["pid_started"],
        )
        for row in rows
    ]


def claim(catalogue: Catalogue) -> str | None:
    """Take the run that has waited longest; no other process gets the same one.

    Parameters
    ----------
    catalogue : Catalogue
        The catalogue.

    Returns
    -------
    str or None
        Its id; None if no run waits.
    """
    query = (
        "UPDATE run SET status = 'running', started = ?, stage = ? WHERE id = "
        "(SELECT id FROM run WHERE status = 'queued' ORDER BY rowid LIMIT 1) RETURNING id"
    )
    with catalogue.write() as db:
        rows = db.execute(query, [now(), CLAIMED]).fetchall()
    return rows[0]["id"] if rows else None


def requeue(catalogue: Catalogue, run_id: str) -> None:
    """Put a run back into the queue that was claimed and never begun.

    Parameters
    ----------
    catalogue : Catalogue
        The catalogue.
    run_id : str
        The run.
    """
    query = (
        "UPDATE run SET status = 'queued', started = NULL, stage = '' "
        "WHERE id = ? AND status = 'running' AND stage = ? AND NOT cancel"
    )
    with catalogue.write() as db:
        db.execute(query, [run_id, CLAIMED])


def begin(catalogue: Catalogue, run_id: str, *, pid: int, started: float) -> None:
    """Note which process does the work; the start tells it from a later one of that id.

    Parameters
    ----------
    catalogue : Catalogue
        The catalogue.
    run_id : str
        The run.
    pid : int
        The process.
    started : float
        When it began, by `crowdcore.jobs.processes.start_time`.
    """
    query = (
        "UPDATE run SET pid = ?, pid_started = ?, stage = '' WHERE id = ? AND status = 'running'"
    )
    with catalogue.write() as db:
        db.execute(query, [pid, started, run_id])


def stage(catalogue: Catalogue, run_id: str, name: str) -> bool:
    """Write what a run is doing where there are no steps.

    Parameters
    ----------
    catalogue : Catalogue
        The catalogue.
    run_id : str
        The run.
    name : str
        What it does.

    Returns
    -------
    bool
        False if it should stop.
    """
    query = "UPDATE run SET stage = ? WHERE id = ? RETURNING cancel"
    with catalogue.write() as db:
        rows = db.execute(query, [name, run_id]).fetchall()
    return bool(rows) and not rows[0]["cancel"]


def report(catalogue: Catalogue, run_id: str, progress: Progress) -> bool:
    """Write how far a run is.

    Parameters
    ----------
    catalogue : Catalogue
        The catalogue.
    run_id : str
        The run.
    progress : Progress
        Its stage, step and numbers.

    Returns
    -------
    bool
        False if it should stop.
    """
    query = (
        "UPDATE run SET stage = ?, step = ?, total = ?, speed = ?, metrics = ? "
        "WHERE id = ? RETURNING cancel"
    )
    numbers = json.dumps(progress.metrics)
    values = [progress.stage, progress.step, progress.total, progress.speed, numbers, run_id]
    with catalogue.write() as db:
        rows = db.execute(query, values).fetchall()
    return bool(rows) and not rows[0]["cancel"]


def complete(catalogue: Catalogue, run_id: str, folder: Path) -> None:
    """Mark a run done, and list the members of a pool with it, as its result says.

    Parameters
    ----------
    catalogue : Catalogue
        The catalogue.
    run_id : str
        The run; one that is done stays as it is.
    folder : Path
        Its folder, with the result.
    """
    values = done_values(folder)
    assignments = ", ".join(f"{column} = :{column}" for column in values)
    query = f"UPDATE run SET {assignments} WHERE id = :id AND status <> 'done' RETURNING id"
    path = folder / RESULT / MEMBERS
    members: list[dict[str, Any]] = read_json(path) if path.exists() else []
    with catalogue.write() as db:
        if not db.execute(query, {**values, "id": run_id}).fetchall():
            return
        for member in members:
            member_folder = folder.parent / member["id"]
            row = _numbered(db, {"created": now(), **member})
            record_files.write(member_folder, "run", row, scratch=folder.parent)
            insert(db, "run", {**row, **done_values(member_folder)})


def done_values(folder: Path) -> dict[str, Any]:
    """Return what the row of a finished run says of its result.

    Parameters
    ----------
    folder : Path
        The run's folder.

    Returns
    -------
    dict of str to object
        Values by column.
    """
    summary = read_summary(folder / RESULT)
    steps = summary.pop("steps")
    end = {"status": "done", "error": "", "finished": now(), "step": steps, "total": steps}
    return {**end, **summary}


def end(catalogue: Catalogue, run_id: str, status: End, error: str, *, folder: Path) -> None:
    """End a running run without a result; if its result did get written, it is done instead.

    Parameters
    ----------
    catalogue : Catalogue
        The catalogue.
    run_id : str
        The run; one that has ended stays as it is.
    status : End
        How it ended.
    error : str
        Why, in a sentence.
    folder : Path
        Its folder.
    """
    if (folder / RESULT).exists():
        complete(catalogue, run_id, folder)
        return
    query = (
        "UPDATE run SET status = ?, error = ?, finished = ? "
        "WHERE id = ? AND status IN ('running', 'lost')"
    )
    with catalogue.write() as db:
        db.execute(query, [status, error, now(), run_id])


def cancel(catalogue: Catalogue, run_id: str) -> None:
    """Ask a run to stop: one that waits is stopped at once, one that works by the daemon.

    Parameters
    ----------
    catalogue : Catalogue
        The catalogue.
    run_id : str
        The run.
    """
    waiting = (
        "UPDATE run SET status = 'cancelled', cancel = 1, finished = ? "
        "WHERE id = ? AND status = 'queued'"
    )
    with catalogue.write() as db:
        db.execute(waiting, [now(), run_id])
        db.execute("UPDATE run SET cancel = 1 WHERE id = ? AND status = 'running'", [run_id])


def append_progress(folder: Path, progress: Progress) -> None:
    """Add a point to the curve of a run that works.

    Parameters
    ----------
    folder : Path
        The run's folder.
    progress : Progress
        The point.
    """
    point = {"stage": progress.stage, "step": progress.step - 1, **progress.metrics}
    handle = folders.append_private(folder / PROGRESS)
    with os.fdopen(handle, "a", encoding="utf-8") as file:
        file.write(json.dumps(point) + "\n")


def read_progress(folder: Path) -> list[dict[str, float | str]]:
    """Read the curve so far; a line that a killed process left unfinished is not one.

    Parameters
    ----------
    folder : Path
        The run's folder.

    Returns
    -------
    list of dict
        One per point.
    """
    path = folder / PROGRESS
    if not path.exists():
        return []
    return list(_points(path.read_text(encoding="utf-8", errors="replace").splitlines()))


def classifier_file(folder: Path) -> Path | None:
    """Return the file of the classifier that a run trained.

    Parameters
    ----------
    folder : Path
        The run's folder.

    Returns
    -------
    Path or None
        None if it trained none.
    """
    path = folder / RESULT / CLASSIFIER
    return path if path.exists() else None


def _numbered(db: sqlite3.Connection, row: dict[str, Any]) -> dict[str, Any]:
    """Give a new run the next number of its project; previews count backwards from zero."""
    if row.get("preview"):
        query = "SELECT min(0, coalesce(min(number), 0)) AS n FROM run WHERE project_id = ?"
        lowest = db.execute(query, [row["project_id"]]).fetchone()["n"]
        return {**row, "number": lowest - 1}
    query = "UPDATE project SET runs_made = runs_made + 1 WHERE id = ? RETURNING runs_made"
    counted = db.execute(query, [row["project_id"]]).fetchall()
    if not counted:
        raise DataError("The project of these data has been deleted")
    return {**row, "number": counted[0]["runs_made"]}


def _points(lines: Iterable[str]) -> Iterable[dict[str, float | str]]:
    for line in lines:
        try:
            point = json.loads(line)
        except json.JSONDecodeError:
            continue
        if isinstance(point, dict):
            yield point
