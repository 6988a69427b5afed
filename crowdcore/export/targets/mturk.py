"""Amazon Mechanical Turk: the batch results with Approve and Reject filled in, and lists."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path, PurePath

from crowdcore.audit.verdicts import GOOD
from crowdcore.export.finished import FinishedRun
from crowdcore.export.targets import ExportFile, Target

ASSIGNMENT, WORKER, STATUS = "AssignmentId", "WorkerId", "AssignmentStatus"
APPROVE, REJECT = "Approve", "Reject"

_OPEN = ("Submitted", "")
"""What the status is of work that was neither approved nor rejected."""


def _obstacle(run: FinishedRun) -> str:
    if missing := [name for name in (ASSIGNMENT, WORKER) if name not in run.columns()]:
        return f"It needs the batch results of MTurk; the file has no column {missing[0]}."
    return ""


def reject_reason(run: FinishedRun, worker: str) -> str:
    """Say to a worker why their work is rejected.

    Parameters
    ----------
    run
        The run.
    worker
        A worker whom somebody decided to exclude.

    Returns
    -------
    str
        The evidence, where there is any.
    """
    reason = run.excluded.get(worker) or "Too many answers differ from those of other workers."
    return f"{reason} {run.reason(worker)}".strip()


def _write_results(run: FinishedRun, path: Path) -> None:
    table = run.table
    header = list(table.columns)
    header += [name for name in (APPROVE, REJECT) if name not in header]
    columns = [
        table.text(name).to_pylist() if name in table.columns else [""] * table.n_rows
        for name in header
    ]
    worker, approve, reject = (header.index(name) for name in (WORKER, APPROVE, REJECT))
    status = header.index(STATUS) if STATUS in header else None
    reasons = {name: reject_reason(run, name) for name in run.excluded}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerow(header)
        for cells in zip(*columns, strict=True):
            row = list(cells)
            is_open = status is None or row[status].strip() in _OPEN
            if is_open and not row[approve].strip() and not row[reject].strip():
                reason = reasons.get(row[worker].strip())
                row[approve], row[reject] = ("x", "") if reason is None else ("", reason)
            writer.writerow(row)


def _write_workers(run: FinishedRun, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["Worker ID", "UPDATE BlockStatus", "BlockReason", "UPDATE-crowdcore"])
        for worker, accuracy in _accuracies(run).items():
            is_excluded = worker in run.excluded
            block = ["Block", reject_reason(run, worker)] if is_excluded else ["", ""]
            writer.writerow([worker, *block, "" if accuracy is None else round(100 * accuracy)])


def _write_bonus(run: FinishedRun, path: Path) -> None:
    table = run.table
    last = dict(
        zip(table.text(WORKER).to_pylist(), table.text(ASSIGNMENT).to_pylist(), strict=True)
    )
    verdicts = dict(zip(run.workers["worker"], run.workers["verdict"], strict=True))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["WorkerId", "AssignmentId", "BonusAmount", "Reason"])
        for worker, accuracy in _accuracies(run).items():
            if accuracy is None or worker in run.excluded or verdicts.get(worker) != GOOD.name:
                continue
            writer.writerow([worker, last.get(worker, ""), "", run.reason(worker)])


def _accuracies(run: FinishedRun) -> dict[str, float | None]:
    """The accuracy of every worker, the best first; None where it is not known."""
    pairs = zip(run.workers["worker"], run.workers["accuracy"].tolist(), strict=True)
    known = {worker: None if math.isnan(value) else float(value) for worker, value in pairs}
    known |= {worker: known.get(worker) for worker in sorted(run.excluded)}
    return dict(sorted(known.items(), key=lambda pair: -1.0 if pair[1] is None else -pair[1] - 1))


def _files(run: FinishedRun) -> Sequence[ExportFile]:
    stem = PurePath(run.original.name).stem if run.original else run.name
    return [
        ExportFile(name=f"{stem}-reviewed.csv", write=lambda path: _write_results(run, path)),
        ExportFile(name="workers.csv", write=lambda path: _write_workers(run, path)),
        ExportFile(name="bonus.csv", write=lambda path: _write_bonus(run, path)),
    ]


TARGET = Target(
    id="mturk",
    title="Amazon Mechanical Turk",
    contents="Your batch results with Approve and Reject filled in, to be uploaded under Review "
    "Results. Only work of workers whom you excluded is rejected, each with the reason; all other "
    "open work is approved. workers.csv holds blocks and a qualification score (accuracy in per "
    "cent) for Manage Workers, bonus.csv the good workers, for you to fill in amounts.",
    order=10,
    obstacle=_obstacle,
    files=_files,
    rejects=True,
)
