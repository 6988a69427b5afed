"""Excel workbook: truths, workers, labels, and how they came about, a sheet each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from crowdcore.export.finished import FinishedRun
from crowdcore.export.targets import ExportFile, Target
from crowdcore.export.workbooks import MAX_CELL, MAX_ROWS, new_workbook, write_cell
from crowdcore.wording import join_names


def _obstacle(run: FinishedRun) -> str:
    n_rows = max(run.data.n_labels, run.data.n_items)
    if n_rows > MAX_ROWS:
        return (
            f"There are {n_rows:,} rows, and a sheet holds {MAX_ROWS:,}. Take your file with the "
            "truths, or the long table."
        )
    return ""


def _labels(run: FinishedRun) -> pd.DataFrame:
    data = run.data
    frame = pd.DataFrame(run.label_columns("item"))
    if data.other is None:
        frame["truth"], frame["agrees"] = run.truth[data.item], run.agrees
    if run.excluded:
        frame["excluded"] = frame["worker"].isin(run.excluded)
    return frame


def _report(run: FinishedRun) -> list[tuple[str, Any]]:
    data, provenance = run.data, run.provenance
    facts: list[tuple[str, Any]] = [
        ("Method", provenance.get("title", provenance["method"])),
        ("Settings", ", ".join(f"{k} = {v}" for k, v in provenance.get("params", {}).items())),
        ("Seed", provenance.get("seed")),
        ("Made", provenance.get("created")),
        ("crowdcore", provenance.get("version")),
        ("Labels", data.n_labels),
        ("Items", data.n_items),
        ("Workers", data.n_workers),
        ("Items without a truth", int((run.truth == "").sum())),
        ("Excluded workers", join_names(sorted(run.excluded), most=1000) or "nobody"),
        ("Fingerprint of the data", data.fingerprint),
    ]
    if data.report is not None:
        facts.append(("File", data.report.source))
        facts += [
            (f"Finding: {finding.title}", f"{finding.count:,}. {finding.done}".strip())
            for finding in data.report.warnings
        ]
    return [(name, value) for name, value in facts if value is not None]


def _write(run: FinishedRun, path: Path) -> None:
    with new_workbook(path) as book:
        bold, share = book.add_format({"bold": True}), book.add_format({"num_format": "0.0000"})
        report = pd.DataFrame(_report(run), columns=["what", "value"])
        for name, frame in {
            "truths": run.truths,
            "workers": run.workers,
            "labels": _labels(run),
            "report": report,
        }.items():
            sheet = book.add_worksheet(name)
            sheet.freeze_panes(1, 1)
            sheet.set_column(0, max(0, frame.shape[1] - 1), 14)
            sheet.set_column(0, 0, 24)
            for at, heading in enumerate(frame.columns):
                sheet.write_string(0, at, str(heading)[:MAX_CELL], bold)
            for number, row in enumerate(_rows(frame), 1):
                for at, value in enumerate(row):
                    write_cell(sheet, number, at, value, share)


def _rows(frame: pd.DataFrame) -> Iterable[tuple[Any, ...]]:
    columns = [frame.iloc[:, at].tolist() for at in range(frame.shape[1])]
    return zip(*columns, strict=True)


def _files(run: FinishedRun) -> Sequence[ExportFile]:
    return [ExportFile(name=f"{run.name}.xlsx", write=lambda path: _write(run, path))]


TARGET = Target(
    id="xlsx",
    title="Excel workbook",
    contents="A workbook with the sheets truths, workers, labels and report. Texts are texts: "
    "nothing in it is run as a formula.",
    order=1,
    obstacle=_obstacle,
    files=_files,
)
