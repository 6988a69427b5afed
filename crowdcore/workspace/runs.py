"""How a run's row moves from queued to its end; each move is one write that checks the last.

Only these functions change a status. `done` is written when the result is on the disk.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from crowdcore.artefacts.classifier import FILE as CLASSIFIER
from crowdcore.data import DataError
from crowdcore.run import Progress
from crowdcore.workspace.catalogue import Catalogue, insert, new_id, now
from crowdcore.workspace.resultfiles import read_summary

RESULT = "result"
"""The folder of a result, inside the run's; it appears whole, when everything is written."""

PROGRESS = "progress.jsonl"
"""The file in a run's folder that its curve grows in, a line a report."""

End = Literal["failed", "cancelled", "lost"]


@dataclass(frozen=True, kw_only=True)
class Active:
    """A run that waits or works, as the daemon sees it."""

    id: str
    running: bool
    cancel: bool
    pid: int | None
    pid_started: float | None


def add(catalogue: Catalogue, root: Path, values: dict[str, Any]) -> str:
    """Write a new run's row, numbered within its project, and make its folder; return its id."""
    run_id = new_id()
    (root / "runs" / run_id).mkdir(mode=0o700)
    query = "UPDATE project SET runs_made = runs_made + 1 WHERE id = ? RETURNING runs_made"
    with catalogue.write() as db:
        counted = db.execute(query, [values["project_id"]]).fetchall()
        if not counted:
            raise DataError("The project of these data has been deleted")
        number = counted[0]["runs_made"]
        insert(db, "run", {"id": run_id, "number": number, "created": now(), **values})
    return run_id


def active(catalogue: Catalogue) -> list[Active]:
    """List the runs that wait or work, in the order they were queued."""
    query = (
        "SELECT id, status = 'running' AS running, cancel, pid, pid_started FROM run "
        "WHERE status IN ('queued', 'running') ORDER BY rowid"
    )
    with catalogue.read() as db:
        rows = db.execute(query).fetchall()
    return [
        Active(
            id=row["id"],
            running=bool(row["running"]),
            cancel=bool(row["cancel"]),
            pid=row["pid"],
            pid_started=row["pid_started"],
        )
        for row in rows
    ]


def claim(catalogue: Catalogue) -> str | None:
    """Take the run that has waited longest; no other process gets the same one."""
    query = (
        "UPDATE run SET status = 'running', started = ?, stage = 'Starting' WHERE id = "
        "(SELECT id FROM run WHERE status = 'queued' ORDER BY rowid LIMIT 1) RETURNING id"
    )
    with catalogue.write() as db:
        rows = db.execute(query, [now()]).fetchall()
    return rows[0]["id"] if rows else None


def begin(catalogue: Catalogue, run_id: str, *, pid: int, started: float) -> None:
    """Note which process does the work; the start time tells it from a later one of that id."""
    query = "UPDATE run SET pid = ?, pid_started = ? WHERE id = ? AND status = 'running'"
    with catalogue.write() as db:
        db.execute(query, [pid, started, run_id])


def stage(catalogue: Catalogue, run_id: str, name: str) -> bool:
    """Write what a run is doing where there are no steps; tell whether it should go on."""
    query = "UPDATE run SET stage = ? WHERE id = ? RETURNING cancel"
    with catalogue.write() as db:
        rows = db.execute(query, [name, run_id]).fetchall()
    return bool(rows) and not rows[0]["cancel"]


def report(catalogue: Catalogue, run_id: str, progress: Progress) -> bool:
    """Write how far a run is; tell whether it should go on."""
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
    """Mark a run done, with the summary of the result that lies in its folder."""
    summary = read_summary(folder / RESULT)
    query = (
        "UPDATE run SET status = 'done', error = '', finished = :now, seconds = :seconds, "
        "accuracy = :accuracy, n_tied = :n_tied, step = :steps, total = :steps "
        "WHERE id = :id AND status <> 'done'"
    )
    with catalogue.write() as db:
        db.execute(query, {**summary, "now": now(), "id": run_id})


def end(catalogue: Catalogue, run_id: str, status: End, error: str, *, folder: Path) -> None:
    """End a running run without a result; if its result did get written, it is done instead."""
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
    """Ask a run to stop: one that waits is stopped at once, one that works by the daemon."""
    waiting = (
        "UPDATE run SET status = 'cancelled', cancel = 1, finished = ? "
        "WHERE id = ? AND status = 'queued'"
    )
    with catalogue.write() as db:
        db.execute(waiting, [now(), run_id])
        db.execute("UPDATE run SET cancel = 1 WHERE id = ? AND status = 'running'", [run_id])


def append_progress(folder: Path, progress: Progress) -> None:
    """Add a point to the curve of a run that works."""
    point = {"stage": progress.stage, "step": progress.step - 1, **progress.metrics}
    with (folder / PROGRESS).open("a", encoding="utf-8") as file:
        file.write(json.dumps(point) + "\n")


def read_progress(folder: Path) -> list[dict[str, float | str]]:
    """Read the curve so far; a line that a killed process left unfinished is not one."""
    path = folder / PROGRESS
    if not path.exists():
        return []
    return list(_points(path.read_text(encoding="utf-8").splitlines()))


def _points(lines: Iterable[str]) -> Iterable[dict[str, float | str]]:
    for line in lines:
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            continue


def classifier_file(folder: Path) -> Path | None:
    """Return the file of the classifier that a run trained, if it trained one."""
    path = folder / RESULT / CLASSIFIER
    return path if path.exists() else None
