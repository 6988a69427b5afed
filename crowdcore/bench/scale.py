"""From a file of labels to files of results: CPU seconds and peak memory by stage and size.

Every command runs as a user would run it, in processes of its own, one thread each. Times are CPU
seconds of all of its processes, and memory is the peak of the largest of them.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

LABELS_PER_ITEM, ITEMS_PER_WORKER, N_CLASSES, MAX_WORKERS = 5, 50, 5, 100_000
ROWS_PER_BATCH = 1_000_000
CLASSES = ("bird", "cat", "dog", "fish", "horse")
MAX_IN_MEMORY = 30_000_000
"""Labels up to which the files are also run in memory, without preparing them."""

PUBLISHED = (
    "spark-crowd, as published, Dawid-Skene with 10 labels per item: 1e7 labels 111 s on one "
    "machine of ten cores and 69 s on three, 1e8 labels 703 s and 426 s, of the fit alone."
)


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a command took.

    Parameters
    ----------
    stage
        What it did.
    n_labels
        Labels of the file.
    cpu_seconds, seconds
        CPU seconds of all processes, and wall time.
    gigabytes
        Peak memory of the largest process; NaN where it is part of a larger stage.
    """

    stage: str
    n_labels: int
    cpu_seconds: float
    seconds: float
    gigabytes: float

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            name: None if isinstance(value, float) and np.isnan(value) else value
            for name, value in asdict(self).items()
        }


def write_crowd(path: Path, n_labels: int, seed: int = 0) -> None:
    """Write a simulated crowd as Parquet: text ids, rows in random order, a power law of activity.

    Parameters
    ----------
    path
        The file to write.
    n_labels
        How many labels; 5 an item, of 5 classes, a worker for every 50 items.
    seed
        Of the draws.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    rng = np.random.default_rng(seed)
    n_items = n_labels // LABELS_PER_ITEM
    n_workers = max(50, min(MAX_WORKERS, n_items // ITEMS_PER_WORKER))
    activity = np.cumsum(1 / np.arange(1, n_workers + 1) ** 0.7)
    accuracy = rng.uniform(0.4, 0.95, n_workers)
    truth = rng.integers(0, N_CLASSES, n_items, dtype=np.int8)
    rows = np.arange(n_items * LABELS_PER_ITEM, dtype=np.int32)
    rng.shuffle(rows)
    names = pa.array(CLASSES)
    schema = pa.schema([(name, pa.string()) for name in ("task", "worker", "label")])

    def ids(prefix: str, codes: Any) -> Any:
        digits = pc.utf8_lpad(pa.array(codes).cast(pa.string()), 9, "0")
        return pc.binary_join_element_wise(pa.scalar(prefix), digits, "")

    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, len(rows), ROWS_PER_BATCH):
            item = rows[start : start + ROWS_PER_BATCH] // LABELS_PER_ITEM
            place = rng.random(len(item)) * activity[-1]
            worker = np.minimum(np.searchsorted(activity, place), n_workers - 1)
            is_right = rng.random(len(item)) < accuracy[worker]
            wrong = (truth[item] + rng.integers(1, N_CLASSES, len(item))) % N_CLASSES
            label = pa.array(np.where(is_right, truth[item], wrong).astype(np.int8))
            columns = [ids("task-", item), ids("w", worker), names.take(label)]
            writer.write_table(pa.table(columns, schema=schema))


def measure(
    n_labels: int,
    folder: Path,
    *,
    parts: Sequence[int] = (),
    kill: bool = False,
    on_done: Callable[[str], None] = lambda _: None,
) -> list[Cost]:
    """Measure every stage at one size.

    Parameters
    ----------
    n_labels
        How many labels.
    folder
        For the files, which stay there.
    parts
        Numbers of processes to run together besides one.
    kill
        Whether to kill one of two processes in the middle, and see them go on.
    on_done
        Told of each stage.

    Returns
    -------
    list of Cost
    """
    folder.mkdir(parents=True, exist_ok=True)
    labels, prepared = folder / "labels.parquet", folder / "prepared"
    if not labels.exists():
        write_crowd(labels, n_labels)
    on_done("file")
    costs = []
    if n_labels <= MAX_IN_MEMORY:
        command = ["run", str(labels), "--method", "ds", "--out", str(folder / "in-memory")]
        costs.append(_cost("run in memory", n_labels, command))
        on_done("in memory")
    if not (prepared / "manifest.json").exists():
        command = ["prepare", str(labels), "--out", str(prepared)]
        costs.append(_cost("prepare", n_labels, command))
        on_done("prepare")
    for n in (1, *parts):
        out = folder / f"results-{n}"
        command = ["run", str(prepared), "--method", "ds", "--out", str(out), "--parts", str(n)]
        costs.append(_cost(f"run in {n} parts" if n > 1 else "run prepared", n_labels, command))
        record = json.loads((out / "result.json").read_text(encoding="utf-8"))
        costs += [
            Cost(
                stage=f"  {stage} (first part)" if n > 1 else f"  {stage}",
                n_labels=n_labels,
                cpu_seconds=seconds,
                seconds=float("nan"),
                gigabytes=float("nan"),
            )
            for stage, seconds in record["cpu_seconds"].items()
        ]
        on_done(f"{n} parts")
    if kill:
        out = folder / "results-killed"
        command = ["run", str(prepared), "--method", "ds", "--out", str(out), "--parts", "2"]
        costs.append(_cost("run in 2 parts, one killed", n_labels, command, kill=True))
        on_done("killed")
    return costs


def differing_truths(folder: Path, one: str, other: str) -> tuple[int, float]:
    """Compare two folders of results: truths that differ, and the largest change of a confidence.

    Parameters
    ----------
    folder
        The folder of a measurement.
    one, other
        Names of the folders of results.

    Returns
    -------
    tuple
    """
    import pyarrow.parquet as pq

    n_differing, largest = 0, 0.0
    for path in sorted((folder / one / "truths").glob("*.parquet")):
        columns = ["truth", "confidence"]
        first = pq.read_table(path, columns=columns)
        second = pq.read_table(folder / other / "truths" / path.name, columns=columns)
        truths = [table.column("truth").to_numpy(zero_copy_only=False) for table in (first, second)]
        n_differing += int((truths[0] != truths[1]).sum())
        sure = [table.column("confidence").to_numpy() for table in (first, second)]
        largest = max(largest, float(np.abs(sure[0] - sure[1]).max()))
    return n_differing, largest


def exponent(costs: Sequence[Cost], stage: str) -> float:
    """Return the exponent of a stage's CPU seconds in the labels, between the ends of the sizes."""
    own = sorted((c.n_labels, c.cpu_seconds) for c in costs if c.stage == stage)
    (n_first, first), (n_last, last) = own[0], own[-1]
    return float(np.log(last / first) / np.log(n_last / n_first))


def _cost(stage: str, n_labels: int, arguments: Sequence[str], *, kill: bool = False) -> Cost:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "crowdcore", *arguments],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=None if not kill else subprocess.DEVNULL,
    )
    if kill:
        _kill_a_part(process, Path(arguments[arguments.index("--out") + 1]))
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{stage} ended with {process.returncode}")
    return Cost(
        stage=stage,
        n_labels=n_labels,
        cpu_seconds=usage.ru_utime + usage.ru_stime,
        seconds=time.perf_counter() - began,
        gigabytes=usage.ru_maxrss * 1024 / 1e9,
    )


def _kill_a_part(process: subprocess.Popen[bytes], out: Path) -> None:
    """Kill the second part, some moments after the fit has begun."""
    import psutil

    while process.poll() is None:
        children = psutil.Process(process.pid).children()
        if len(children) > 1 and (out / ".state" / "request.json").exists():
            used = sum(children[1].cpu_times()[:2])
            while process.poll() is None and sum(children[1].cpu_times()[:2]) < used + 0.2:
                time.sleep(0.01)
            children[1].send_signal(signal.SIGKILL)
            return
        time.sleep(0.02)
