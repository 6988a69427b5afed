"""The first pass: rows of the files go to the buckets of their items, with codes for the rest."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from crowdcore.codes import sorted_with
from crowdcore.data import UNKNOWN, DataError
from crowdcore.prepared.layout import bucket_of
from crowdcore.prepared.sources import Columns, Task, batches
from crowdcore.reading.parsing.table import Table

NAMES = "names.json"
MAX_NAME_CHARACTERS = 100_000
"""Of an item, a worker or a label; more is a text or a file, not a name."""


@dataclass
class TaskNames:
    """The names that a task met, in its own order, and what became of its rows."""

    workers: list[str] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    golds: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)


class _Coder:
    """Gives names codes in the order in which they come."""

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}

    def encode(self, texts: pa.Array) -> NDArray[np.int32]:
        """Return the code of each text; -1 for one that is empty or only blanks."""
        coded = texts.dictionary_encode()
        own = [
            self.codes.setdefault(name, len(self.codes)) if name.strip() else UNKNOWN
            for name in coded.dictionary.to_pylist()
        ]
        codes: NDArray[np.int32] = np.array(own, np.int32)[np.asarray(coded.indices)]
        return codes


def split_task(task: Task, columns: Columns, folder: Path, n_buckets: int) -> TaskNames:
    """Write the rows of a task into a file for each bucket.

    Parameters
    ----------
    task
        The rows.
    columns
        Which columns hold what.
    folder
        Of this task; what a try before left there is replaced.
    n_buckets
        How many buckets there are.

    Returns
    -------
    TaskNames
        As it is kept in the folder, once all rows are written.

    Raises
    ------
    DataError
        If the file lacks a column, is damaged, or has a name that is none.
    """
    if (folder / NAMES).exists():
        return TaskNames(**json.loads((folder / NAMES).read_text(encoding="utf-8")))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    coders = {role: _Coder() for role in ("worker", "label", "gold")}
    schema = pa.schema(
        [("item", pa.string()), *((role, pa.int32()) for role in columns.texts if role != "item")]
    )
    counts: Counter[str] = Counter()
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with ExitStack() as stack:
        writers = [
            stack.enter_context(
                pa.ipc.new_file(bucket_file(folder, number), schema, options=options)
            )
            for number in range(n_buckets)
        ]
        for table in batches(task, columns):
            rows = _usable_rows(table, columns, coders, counts)
            bucket = bucket_of(rows.column("item").combine_chunks(), n_buckets)
            order = sorted_with(bucket, np.arange(len(bucket)), len(bucket))
            rows = rows.take(pa.array(order))
            ends = np.cumsum(np.bincount(bucket, minlength=n_buckets))
            for number, (start, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
                if end > start:
                    writers[number].write_table(rows.slice(start, end - start))
    names = TaskNames(
        workers=list(coders["worker"].codes),
        classes=list(coders["label"].codes),
        golds=list(coders["gold"].codes),
        counts=dict(counts),
    )
    partial = folder / f"{NAMES}.part"
    partial.write_text(json.dumps(asdict(names), ensure_ascii=False), encoding="utf-8")
    partial.rename(folder / NAMES)
    return names


def bucket_file(folder: Path, number: int) -> Path:
    """Return the file with a task's rows of a bucket."""
    return folder / f"bucket-{number:04d}.arrow"


def _usable_rows(
    table: Table, columns: Columns, coders: dict[str, _Coder], counts: Counter[str]
) -> pa.Table:
    """Leave out rejected, nameless and empty rows, and count each; ids are trimmed."""
    counts["rows"] += table.n_rows
    for column, values in columns.rejected.items():
        if column not in table.columns:
            continue
        refused = pc.is_in(table.text(column), value_set=pa.array(values, pa.string()))
        counts["rejected"] += pc.sum(refused).as_py() or 0
        table = Table(name=table.name, data=table.data.filter(pc.invert(refused)))
    texts = {
        role: pa.chunked_array(table.text(column)).combine_chunks()
        for role, column in columns.texts.items()
    }
    for role in ("item", "worker"):
        trimmed = pc.utf8_trim_whitespace(texts[role])
        counts["trimmed_ids"] += pc.sum(pc.not_equal(trimmed, texts[role])).as_py() or 0
        texts[role] = trimmed
    _check_lengths(table.name, texts)
    codes = {role: coders[role].encode(texts[role]) for role in columns.texts if role != "item"}
    no_item = np.asarray(pc.equal(texts["item"], ""))
    no_worker, no_label = codes["worker"] == UNKNOWN, codes["label"] == UNKNOWN
    blank = no_item & no_worker & no_label
    faulty = (no_item | no_worker) & ~blank
    empty = no_label & ~blank & ~faulty
    for name, flags in (("blank_rows", blank), ("missing_ids", faulty), ("empty_labels", empty)):
        counts[name] += int(flags.sum())
    arrays: dict[str, Any] = {"item": texts["item"], **codes}
    rows = pa.table(arrays)
    keep = ~(blank | faulty | empty)
    return rows if keep.all() else rows.filter(pa.array(keep))


def _check_lengths(file: str, texts: dict[str, Any]) -> None:
    for role, text in texts.items():
        longest = pc.max(pc.utf8_length(text)).as_py() if len(text) else 0
        if longest > MAX_NAME_CHARACTERS:
            raise DataError(
                f"A name of the role {role!r} has {longest:,} characters, and at most "
                f"{MAX_NAME_CHARACTERS:,} are a name",
                file=file,
                fix="Check which column is what.",
            )
