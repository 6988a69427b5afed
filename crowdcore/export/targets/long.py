"""Long table: one row per label, as crowd-kit and most scripts take it."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from crowdcore.export.finished import FinishedRun
from crowdcore.export.targets import ExportFile, Target, never
from crowdcore.export.writers import write_csv


def _labels(run: FinishedRun) -> pd.DataFrame:
    frame = pd.DataFrame(run.label_columns("task"))
    return frame[~frame["worker"].isin(run.excluded)]


def _truths(run: FinishedRun) -> pd.DataFrame:
    columns = {"task": list(run.data.items), "label": run.truth, "confidence": run.confidence}
    return pd.DataFrame(columns)


def _files(run: FinishedRun) -> Sequence[ExportFile]:
    safe = run.for_spreadsheets
    return [
        ExportFile(
            name=f"{run.name}-labels.csv",
            write=lambda path: write_csv(_labels(run), path, spreadsheet_safe=safe),
        ),
        ExportFile(
            name=f"{run.name}-truths.csv",
            write=lambda path: write_csv(_truths(run), path, spreadsheet_safe=safe),
        ),
    ]


TARGET = Target(
    id="long",
    title="Long table (crowd-kit, pandas)",
    contents="Labels as task, worker, label, one row each, without those of excluded workers; "
    "and the truths as task, label, confidence.",
    order=30,
    obstacle=never,
    files=_files,
    guards_formulas=True,
)
