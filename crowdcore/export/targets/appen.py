"""Appen, once Figure Eight and CrowdFlower: the aggregated report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from crowdcore.data import UNKNOWN
from crowdcore.export.finished import FinishedRun
from crowdcore.export.targets import ExportFile, Target
from crowdcore.export.writers import write_csv

UNIT, WORKER = "_unit_id", "_worker_id"


def _obstacle(run: FinishedRun) -> str:
    if missing := [name for name in (UNIT, WORKER) if name not in run.columns()]:
        return f"It needs the full report of Appen; the file has no column {missing[0]}."
    if run.original is None or run.original.item is None:
        return "Rows of the file are not about units."
    return ""


def _report(run: FinishedRun) -> pd.DataFrame:
    data, table = run.data, run.table
    item = data.original.item
    rows = np.flatnonzero(item != UNKNOWN)[::-1]
    first_row = np.zeros(data.n_items, np.int64)
    first_row[item[rows]] = rows
    roles = None if data.report is None else data.report.roles
    question = roles.label if roles is not None and roles.label else "answer"

    def of_units(column: str) -> list[str]:
        cells = table.text(column).to_pylist()
        return [cells[row] for row in first_row.tolist()]

    kept = ~np.isin(np.array(data.workers, object), list(run.excluded))[data.worker]
    columns: dict[str, Any] = {UNIT: of_units(UNIT)}
    if "_golden" in table.columns:
        columns["_golden"] = of_units("_golden")
    columns["_unit_state"] = "finalized"
    columns["_trusted_judgments"] = np.bincount(data.item[kept], minlength=data.n_items)
    if "_created_at" in table.columns and data.time is not None:
        last = np.full(data.n_items, -np.inf)
        np.maximum.at(last, data.item, np.nan_to_num(data.time, nan=-np.inf))
        moments = pd.to_datetime(np.where(np.isfinite(last), last, np.nan), unit="s")
        columns["_last_judgment_at"] = moments.strftime("%m/%d/%Y %H:%M:%S").fillna("")
    columns[question] = run.truth
    columns[f"{question}:confidence"] = run.confidence.round(4)
    for name in data.details:
        if name in table.columns and name not in columns:
            columns[name] = list(data.details[name])
    return pd.DataFrame(columns)


def _files(run: FinishedRun) -> Sequence[ExportFile]:
    return [
        ExportFile(
            name=f"{run.name}-aggregated.csv",
            write=lambda path: write_csv(_report(run), path, spreadsheet_safe=run.for_spreadsheets),
        )
    ]


TARGET = Target(
    id="appen",
    title="Appen",
    contents="The aggregated report, one row per unit: the answer, its :confidence, and the "
    "number of judgments that count.",
    order=12,
    obstacle=_obstacle,
    files=_files,
    guards_formulas=True,
)
