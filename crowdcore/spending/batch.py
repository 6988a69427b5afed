"""Files of the next batch, in the form that a platform takes as an upload."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from crowdcore.data import UNKNOWN, DataError
from crowdcore.export.finished import FinishedRun
from crowdcore.export.targets import ExportFile
from crowdcore.export.targets.appen import UNIT
from crowdcore.export.writers import write_csv
from crowdcore.spending.plan import SpendPlan

MTURK_INPUT, TOLOKA_INPUT = "Input.", "INPUT:"
"""How columns begin that hold what workers saw."""


@dataclass(frozen=True, kw_only=True)
class Platform:
    """Where the next batch can go.

    Parameters
    ----------
    title
        What pages call it.
    contents
        What its files are, and how they are uploaded.
    obstacle
        Says why a plan cannot be written so; "" where it can.
    files
        Lists the files.
    """

    title: str
    contents: str
    obstacle: Callable[[FinishedRun, SpendPlan], str]
    files: Callable[[FinishedRun, SpendPlan], Sequence[ExportFile]]


def batch_files(platform: str, run: FinishedRun, plan: SpendPlan) -> Sequence[ExportFile]:
    """List the files of the next batch.

    Parameters
    ----------
    platform
        One of `PLATFORMS`.
    run
        The run that the plan was made of, with the file that its labels came from.
    plan
        What to buy.

    Returns
    -------
    sequence of ExportFile

    Raises
    ------
    DataError
        If there is no such platform, or the file has not what it needs.
    """
    if platform not in PLATFORMS:
        names = ", ".join(PLATFORMS)
        raise DataError(f"There is no platform {platform!r}", fix=f"Choose one of {names}.")
    chosen = PLATFORMS[platform]
    if problem := chosen.obstacle(run, plan):
        raise DataError(f"The plan cannot be written for {chosen.title}. {problem}")
    return chosen.files(run, plan)


def fitting_platforms(run: FinishedRun, plan: SpendPlan) -> list[str]:
    """List the platforms that a plan can be written for, that of the labels' file first.

    Parameters
    ----------
    run, plan
        As for `batch_files`.
    """
    return [name for name, each in PLATFORMS.items() if not each.obstacle(run, plan)]


def _needs_columns(run: FinishedRun, plan: SpendPlan, *, starts: str, what: str) -> str:
    if "second" in plan.items:
        return "It takes items, and these are pairs."
    if run.original is None or run.original.item is None:
        return "Rows of the labels' file are not about items, or the file was not kept."
    if not any(name.startswith(starts) for name in run.columns()):
        return f"It needs {what}; the file has no column that begins with {starts}."
    return ""


def _cells(run: FinishedRun, names: Sequence[str]) -> list[list[str]]:
    """The cells of some columns, as they stand in the first row of each item [N]."""
    item = np.array([]) if run.original is None or run.original.item is None else run.original.item
    rows = np.flatnonzero(item != UNKNOWN)[::-1]
    first = np.full(run.data.n_items, UNKNOWN)
    first[item[rows]] = rows
    columns = [run.table.text(name).to_pylist() for name in names]
    return [[column[row] if row != UNKNOWN else "" for column in columns] for row in first.tolist()]


def _by_number(plan: SpendPlan) -> dict[int, list[str]]:
    """Items by how many further labels they get: platforms set that for a whole upload."""
    groups: dict[int, list[str]] = {}
    for item, number in zip(plan.items["item"], plan.items["n_further"].tolist(), strict=True):
        groups.setdefault(int(number), []).append(str(item))
    return dict(sorted(groups.items(), reverse=True))


def _write_rows(
    path: Path, *, header: Sequence[str], rows: Sequence[Sequence[str]], delimiter: str
) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def _grouped_files(
    run: FinishedRun, plan: SpendPlan, *, starts: str, keep: bool, name: str, delimiter: str
) -> list[ExportFile]:
    """One file for each number of further labels, with the columns that workers saw."""
    inputs = [column for column in run.columns() if column.startswith(starts)]
    header = inputs if keep else [column.removeprefix(starts) for column in inputs]
    cells, codes = _cells(run, inputs), {item: code for code, item in enumerate(run.data.items)}
    return [
        ExportFile(
            name=name.format(number),
            write=partial(
                _write_rows,
                header=header,
                rows=[cells[codes[item]] for item in items],
                delimiter=delimiter,
            ),
        )
        for number, items in _by_number(plan).items()
    ]


def _mturk(run: FinishedRun, plan: SpendPlan) -> list[ExportFile]:
    files = _grouped_files(
        run,
        plan,
        starts=MTURK_INPUT,
        keep=False,
        name="batch-{}-assignments.csv",
        delimiter=",",
    )
    rows = [[str(name), "100"] for name in plan.workers["worker"]]
    write = partial(
        _write_rows, header=["Worker ID", "UPDATE-crowdcore next batch"], rows=rows, delimiter=","
    )
    return [*files, ExportFile(name="workers.csv", write=write)]


def _toloka(run: FinishedRun, plan: SpendPlan) -> list[ExportFile]:
    files = _grouped_files(
        run, plan, starts=TOLOKA_INPUT, keep=True, name="tasks-overlap-{}.tsv", delimiter="\t"
    )
    rows = [[str(name), "100"] for name in plan.workers["worker"]]
    write = partial(_write_rows, header=["worker_id", "skill"], rows=rows, delimiter="\t")
    return [*files, ExportFile(name="skill.tsv", write=write)]


def _appen(run: FinishedRun, plan: SpendPlan) -> list[ExportFile]:
    roles = None if run.data.report is None else run.data.report.roles
    label = None if roles is None else roles.label
    names = [
        name
        for name in run.columns()
        if (not name.startswith("_") or name == UNIT)
        and name != label
        and not name.endswith("_gold")
    ]
    cells, codes = _cells(run, names), {item: code for code, item in enumerate(run.data.items)}
    rows = [
        [*cells[codes[str(item)]], str(number)]
        for item, number in zip(plan.items["item"], plan.items["n_further"].tolist(), strict=True)
    ]
    header = [*names, "judgments_per_unit"]
    write = partial(_write_rows, header=header, rows=rows, delimiter=",")
    return [ExportFile(name="units.csv", write=write)]


def _plain(run: FinishedRun, plan: SpendPlan) -> list[ExportFile]:
    items = plan.items.copy()
    data = run.data
    if data.kind not in ("sequences", "comparisons"):
        codes = {item: code for code, item in enumerate(data.items)}
        rows = [codes[str(name)] for name in items["item"]]
        for name, values in data.details.items():
            if name not in items:
                items[name] = [values[row] for row in rows]
    safe = run.for_spreadsheets
    tables: Mapping[str, pd.DataFrame] = {
        "items.csv": items,
        "assignments.csv": plan.assignments,
        "workers.csv": plan.workers,
    }
    return [
        ExportFile(name=name, write=partial(write_csv, frame, spreadsheet_safe=safe))
        for name, frame in tables.items()
    ]


PLATFORMS: Mapping[str, Platform] = {
    "mturk": Platform(
        title="Amazon Mechanical Turk",
        contents="One input file for each number of assignments, to be published as a batch with "
        "that number; workers.csv gives whom to ask a qualification, under Manage Workers.",
        obstacle=partial(_needs_columns, starts=MTURK_INPUT, what="the batch results of MTurk"),
        files=_mturk,
    ),
    "toloka": Platform(
        title="Toloka",
        contents="One file of tasks for each overlap, to be uploaded to a pool with that overlap; "
        "skill.tsv gives whom to ask a skill.",
        obstacle=partial(_needs_columns, starts=TOLOKA_INPUT, what="the assignments of Toloka"),
        files=_toloka,
    ),
    "appen": Platform(
        title="Appen",
        contents="The units with their own columns and the judgments that each needs.",
        obstacle=partial(_needs_columns, starts=UNIT, what="the full report of Appen"),
        files=_appen,
    ),
    "csv": Platform(
        title="Plain CSV",
        contents="items.csv with how many labels each item needs, assignments.csv with an item and "
        "a worker in each row, workers.csv with whom to ask for how many.",
        obstacle=lambda run, plan: "",
        files=_plain,
    ),
}
"""Platforms by what `--as` calls them."""
