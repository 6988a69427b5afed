"""Wide table: one row per item, one column per worker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from crowdcore.data import UNKNOWN
from crowdcore.export.columns import as_categories
from crowdcore.export.finished import FinishedRun
from crowdcore.export.targets import ExportFile, Target
from crowdcore.export.writers import write_csv

MAX_WORKERS = 2_000
"""More columns than this, and no tool opens the table."""


def _obstacle(run: FinishedRun) -> str:
    if run.data.n_workers > MAX_WORKERS:
        return (
            f"{run.data.n_workers:,} workers would be as many columns: at most {MAX_WORKERS:,} "
            "can be written. Take the long table."
        )
    pairs = run.data.item.astype(np.int64) * run.data.n_workers + run.data.worker
    if len(np.unique(pairs)) < len(pairs):
        return "Some workers gave several labels to one item, and a cell holds one: take the "\
            "long table."  # fmt: skip
    return ""


def _table(run: FinishedRun) -> pd.DataFrame:
    data = run.data
    columns: dict[str, Any] = {"item": list(data.items)}
    order = np.argsort(data.worker, kind="stable")
    ends = np.cumsum(data.labels_per_worker)
    for code, worker in enumerate(data.workers):
        if worker in run.excluded:
            continue
        rows = order[ends[code] - data.labels_per_worker[code] : ends[code]]
        if data.kind == "ratings":
            values: Any = np.full(data.n_items, np.nan)
            values[data.item[rows]] = data.label[rows]
        else:
            codes = np.full(data.n_items, UNKNOWN)
            codes[data.item[rows]] = data.label[rows]
            values = as_categories(codes, data.answers)
        columns[worker if worker not in columns else f"{worker} (worker)"] = values
    added = {"truth": run.truth, "confidence": run.confidence}
    columns |= {
        name if name not in columns else f"{name} (crowdcore)": added[name] for name in added
    }
    return pd.DataFrame(columns)


def _files(run: FinishedRun) -> Sequence[ExportFile]:
    return [
        ExportFile(
            name=f"{run.name}-wide.csv",
            write=lambda path: write_csv(_table(run), path, spreadsheet_safe=run.for_spreadsheets),
        )
    ]


TARGET = Target(
    id="wide",
    title="Wide table",
    contents="One row per item and one column per worker, with the truth and its confidence at "
    "the end; excluded workers have no column.",
    order=31,
    obstacle=_obstacle,
    files=_files,
    guards_formulas=True,
)
