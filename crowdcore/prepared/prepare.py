"""prepare: text files in, a prepared folder out; restarts go on where they stopped."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from crowdcore.codes import natural_order
from crowdcore.data import UNKNOWN, DataError
from crowdcore.prepared import coding, health, splitting
from crowdcore.prepared.layout import (
    KEY_SIZES,
    KEYS,
    MANIFEST,
    PLAN,
    WORKERS,
    Manifest,
    PreparedFolder,
    bucket_path,
    n_buckets_for,
)
from crowdcore.prepared.sources import Columns, find_columns, list_tasks
from crowdcore.reading.columns.roles import name_rank
from crowdcore.reading.findings import Finding
from crowdcore.reading.labels.cleaning import Cleaning
from crowdcore.reading.labels.gold import gold_file
from crowdcore.reading.labels.health import HealthReport
from crowdcore.reading.labels.ratings import parse_numbers
from crowdcore.reading.parsing.open import open_table
from crowdcore.reading.parsing.table import Table
from crowdcore.wording import count, join_names

SPLIT = "split"
MAX_KEYS = 2**31
"""Workers times classes, which are kept as 32-bit codes."""

Watch = Callable[[str, int, int], None]
"""Called with a stage, how many of its pieces are done, and how many there are."""


def prepare(
    files: Sequence[Path],
    out: Path,
    *,
    roles: Mapping[str, Any] | None = None,
    gold: Path | None = None,
    cleaning: Cleaning | None = None,
    n_processes: int = 1,
    watch: Watch | None = None,
    command: str = "crowdcore prepare",
) -> PreparedFolder:
    """Turn files of labels into codes on the disk, in buckets of items.

    Parameters
    ----------
    files
        Long tables with the same columns; Parquet is read a few row groups at a time.
    out
        The folder to write. One that an earlier try on the same files left is gone on with.
    roles
        Columns by role, such as ``{"item": "task"}``; what is not given is guessed.
    gold
        A file of items and their known answers.
    cleaning
        What to do about contradictions; whether labels are classes or ratings.
    n_processes
        How many processes work; they change nothing in the folder.
    watch
        Told how far the work is.
    command
        The command line, for messages.

    Returns
    -------
    PreparedFolder
        The finished folder.

    Raises
    ------
    DataError
        If the files cannot be used, or the folder holds something else.
    """
    cleaning, watch = cleaning or Cleaning(), watch or (lambda *_: None)
    for path in files:
        if not path.is_file():
            raise DataError(f"There is no file {str(path)!r}", fix="Check the path.")
    columns, guess = find_columns(files[0], command=command, roles=roles or {}, kind=cleaning.kind)
    tasks, n_rows = list_tasks(files)
    n_buckets = n_buckets_for(n_rows)
    if _is_finished(out, _plan(files, columns, gold, cleaning, n_buckets)):
        return PreparedFolder(out)
    folders = [out / SPLIT / f"task-{number:05d}" for number in range(len(tasks))]
    with _pool(n_processes) as pool:
        jobs = [
            (splitting.split_task, (task, columns, folder, n_buckets))
            for task, folder in zip(tasks, folders, strict=True)
        ]
        names: list[splitting.TaskNames] = _in_order(pool, jobs, watch, "Split")
        tables, gold_findings = _code_tables(names, columns, gold, cleaning)
        buckets: list[coding.CodedBucket] = _in_order(
            pool,
            [
                (coding.code_bucket, (out, number, folders, tables, cleaning))
                for number in range(n_buckets)
            ],
            watch,
            "Code",
        )
        sizes = len(tables.workers), len(tables.classes)
        links: list[NDArray[np.int32]] = _in_order(
            pool,
            [
                (coding.linked_workers, (bucket_path(out, number), *sizes))
                for number in range(n_buckets)
            ],
            watch,
            "Check",
        )
    key_counts = _key_counts(out, n_buckets, *sizes)
    _write_workers(out, tables.workers, key_counts.sum(1))
    rows: Counter[str] = Counter()
    for task_names in names:
        rows.update(task_names.counts)
    findings = [
        *health.row_findings(rows, buckets),
        *health.label_findings(key_counts, tables, columns.kind),
        *health.coverage_findings(buckets, key_counts.sum(1), tables.workers, links),
        *health.gold_findings(buckets, tables, gold_findings),
    ]
    report = health.make_report(
        files, columns, guess, tables, buckets, findings=findings, n_rows=rows["rows"]
    )
    manifest = _manifest(files, columns, tables, buckets, report)
    (out / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")
    shutil.rmtree(out / SPLIT, ignore_errors=True)
    return PreparedFolder(out)


def _plan(
    files: Sequence[Path], columns: Columns, gold: Path | None, cleaning: Cleaning, n_buckets: int
) -> dict[str, Any]:
    """Everything that decides what the folder will hold, to know it again after a stop."""
    read = [*files, *([] if gold is None else [gold])]
    return {
        "files": [
            [str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns] for path in read
        ],
        "has_gold": gold is not None,
        "columns": columns.to_json(),
        "contradictions": cleaning.contradictions,
        "n_buckets": n_buckets,
    }


def _is_finished(out: Path, plan: dict[str, Any]) -> bool:
    """Begin, or go on; tell whether there is nothing left to do."""
    if (out / PLAN).exists():
        if json.loads((out / PLAN).read_text(encoding="utf-8")) != plan:
            raise DataError(
                f"{str(out)!r} was begun with other files or other settings",
                fix="Choose another folder with --out, or delete this one.",
            )
        return (out / MANIFEST).exists()
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise DataError(f"{str(out)!r} is not empty", fix="Choose a new folder with --out.")
    out.mkdir(parents=True, exist_ok=True)
    (out / PLAN).write_text(json.dumps(plan, indent=2), encoding="utf-8")
    return False


class _pool:  # noqa: N801  (used like a function)
    """Processes that work side by side; none for one."""

    def __init__(self, n_processes: int) -> None:
        self._n = n_processes
        self._executor: ProcessPoolExecutor | None = None

    def __enter__(self) -> ProcessPoolExecutor | None:
        if self._n > 1:
            # Not forked: threads of Arrow and torch do not survive a fork.
            context = multiprocessing.get_context("spawn")
            self._executor = ProcessPoolExecutor(self._n, mp_context=context)
        return self._executor

    def __exit__(self, kind: object, *rest: object) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=kind is not None)


Job = tuple[Callable[..., Any], tuple[Any, ...]]


def _in_order(
    pool: ProcessPoolExecutor | None, jobs: Sequence[Job], watch: Watch, stage: str
) -> list[Any]:
    """Do jobs, side by side where there is a pool; answers in the order of the jobs."""
    return [
        answer for _, answer in sorted(_done(pool, jobs, watch, stage), key=lambda pair: pair[0])
    ]


def _done(
    pool: ProcessPoolExecutor | None, jobs: Sequence[Job], watch: Watch, stage: str
) -> Iterator[tuple[int, Any]]:
    watch(stage, 0, len(jobs))
    if pool is None:
        for number, (function, arguments) in enumerate(jobs):
            yield number, function(*arguments)
            watch(stage, number + 1, len(jobs))
        return
    futures = {
        pool.submit(function, *arguments): number
        for number, (function, arguments) in enumerate(jobs)
    }
    for n_done, future in enumerate(as_completed(futures)):
        yield futures[future], future.result()
        watch(stage, n_done + 1, len(jobs))


def _code_tables(
    names: Sequence[splitting.TaskNames], columns: Columns, gold: Path | None, cleaning: Cleaning
) -> tuple[coding.CodeTables, list[Finding]]:
    """Put the names of all tasks in order, and look known answers up."""
    workers = tuple(sorted({name for task in names for name in task.workers}))
    if not workers:
        raise DataError("No label is left after cleaning", fix="Check the roles of the columns.")
    given = {name for task in names for name in task.classes}
    answers, findings = {}, []
    if gold is not None:
        table = open_table(gold)
        # Items are matched bucket by bucket; here each item of the file stands for itself.
        own = tuple(dict.fromkeys(table.coded(_item_column(table)).names))
        read = gold_file(table, tuple(name.strip() for name in own), cleaning)
        findings = [finding for finding in read.findings if finding.count]
        answers = {
            name.strip(): read.answers[code]
            for name, code in zip(own, read.codes, strict=True)
            if code != UNKNOWN
        }
    of_gold = {name for task in names for name in task.golds} | set(answers.values())
    classes = natural_order(given | of_gold)
    if len(workers) * len(classes) >= MAX_KEYS:
        raise DataError(
            f"{count(len(workers), 'worker')} times {count(len(classes), 'class', 'classes')} are "
            "more than can be coded",
            fix="Merge rare classes, or check that the label column is really the label.",
        )
    codes = {name: code for code, name in enumerate(classes)}
    worker_codes = {name: code for code, name in enumerate(workers)}

    def mapping(own: Sequence[str], code: Mapping[str, int]) -> NDArray[np.int32]:
        return np.array([*(code[name] for name in own), UNKNOWN], np.int32)

    return coding.CodeTables(
        workers=workers,
        classes=classes,
        worker_codes=[mapping(task.workers, worker_codes) for task in names],
        class_codes=[mapping(task.classes, codes) for task in names],
        gold_codes=[mapping(task.golds, codes) for task in names],
        gold={item: codes[answer] for item, answer in answers.items()},
    ), findings


def _item_column(table: Table) -> str:
    """The column of a gold file that names the item: by its name, else the first."""
    ranks = {name: rank for name in table.columns if (rank := name_rank("item", name)) is not None}
    return min(ranks, key=ranks.__getitem__) if ranks else table.columns[0]


def _key_counts(out: Path, n_buckets: int, n_workers: int, n_classes: int) -> NDArray[np.int64]:
    """How often each worker gave each class [W, K], over all buckets."""
    total = np.zeros(n_workers * n_classes, np.int64)
    for number in range(n_buckets):
        folder = bucket_path(out, number)
        total[np.load(folder / KEYS)] += np.load(folder / KEY_SIZES)
    return total.reshape(n_workers, n_classes)


def _write_workers(out: Path, names: Sequence[str], n_labels: NDArray[np.int64]) -> None:
    table = pa.table({"worker": pa.array(names, pa.string()), "n_labels": n_labels})
    pq.write_table(table, out / WORKERS, compression="zstd")


def _manifest(
    files: Sequence[Path],
    columns: Columns,
    tables: coding.CodeTables,
    buckets: Sequence[coding.CodedBucket],
    report: HealthReport,
) -> Manifest:
    digest = hashlib.sha256(columns.kind.encode())
    for names in (tables.workers, tables.classes):
        digest.update("\x1f".join(names).encode("utf-8", "surrogatepass"))
    for bucket in buckets:
        digest.update(bucket.sizes.digest.encode())
    values: tuple[float, ...] = ()
    if columns.kind == "ratings":
        numbers = parse_numbers(tables.classes)
        if not numbers.are_all:
            is_number = ~np.isnan(numbers.values)
            others = [n for n, good in zip(tables.classes, is_number, strict=True) if not good]
            raise DataError(
                f"Labels that are no numbers cannot be ratings: {join_names(others)}",
                fix="Correct these labels, or prepare the labels as classes.",
            )
        values = tuple(numbers.values.tolist())
    return Manifest(
        kind=columns.kind,
        classes=tables.classes,
        n_workers=len(tables.workers),
        buckets=tuple(bucket.sizes for bucket in buckets),
        report=report.to_json(),
        sources=tuple(str(path) for path in files),
        fingerprint=digest.hexdigest(),
        values=values,
    )
