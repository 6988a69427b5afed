"""Toloka: a verdict for every assignment, and the aggregated results."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from crowdcore.data import UNKNOWN
from crowdcore.export.finished import FinishedRun
from crowdcore.export.targets import ExportFile, Target
from crowdcore.export.targets.mturk import reject_reason

ASSIGNMENT, WORKER, STATUS = (
    "ASSIGNMENT:assignment_id",
    "ASSIGNMENT:worker_id",
    "ASSIGNMENT:status",
)

_OPEN = ("SUBMITTED", "")


def _obstacle(run: FinishedRun) -> str:
    if missing := [name for name in (ASSIGNMENT, WORKER) if name not in run.columns()]:
        return f"It needs the assignments of Toloka; the file has no column {missing[0]}."
    return ""


def _write_verdicts(run: FinishedRun, path: Path) -> None:
    table = run.table
    status = [""] * table.n_rows
    if STATUS in table.columns:
        status = table.text(STATUS).to_pylist()
    ids, workers = table.text(ASSIGNMENT).to_pylist(), table.text(WORKER).to_pylist()
    reasons = {name: reject_reason(run, name) for name in run.excluded}
    verdicts = {
        assignment: reasons.get(worker.strip())
        for assignment, worker, state in zip(ids, workers, status, strict=True)
        if assignment and state.strip() in _OPEN
    }
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow([ASSIGNMENT, "ACCEPT:verdict", "ACCEPT:comment"])
        for assignment, reason in verdicts.items():
            writer.writerow([assignment, "+" if reason is None else "-", reason or ""])


def _write_aggregated(run: FinishedRun, path: Path) -> None:
    table, original = run.table, run.original
    inputs = [name for name in table.columns if name.startswith("INPUT:")]
    roles = None if run.data.report is None else run.data.report.roles
    label = roles.label if roles is not None and roles.label else "OUTPUT:result"
    field = label.removeprefix("OUTPUT:")
    item = np.array([]) if original is None or original.item is None else original.item
    first_row = np.full(run.data.n_items, UNKNOWN)
    rows = np.flatnonzero(item != UNKNOWN)[::-1]
    first_row[item[rows]] = rows
    cells = {name: table.text(name).to_pylist() for name in inputs}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow([*inputs, f"OUTPUT:{field}", f"CONFIDENCE:{field}"])
        for code, row in enumerate(first_row.tolist()):
            given = [cells[name][row] if row != UNKNOWN else "" for name in inputs]
            confidence = run.confidence[code]
            sure = f"{100 * confidence:.2f}%" if run.truth[code] and confidence >= 0 else ""
            writer.writerow([*given, run.truth[code], sure])


def _files(run: FinishedRun) -> Sequence[ExportFile]:
    return [
        ExportFile(name="assignments-review.tsv", write=lambda path: _write_verdicts(run, path)),
        ExportFile(name="aggregated.tsv", write=lambda path: _write_aggregated(run, path)),
    ]


TARGET = Target(
    id="toloka",
    title="Toloka",
    contents="A TSV that accepts (+) every open assignment and rejects (-) those of workers whom "
    "you excluded, with the reason; and the aggregated results with CONFIDENCE columns.",
    order=11,
    obstacle=_obstacle,
    files=_files,
    rejects=True,
)
