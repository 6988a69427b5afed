"""The second pass: a bucket's rows become codes in two orders, by item and by (worker, class)."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from crowdcore.codes import sorted_with
from crowdcore.data import UNKNOWN
from crowdcore.prepared.layout import (
    BUCKET,
    BY_ITEM,
    BY_KEY,
    ITEMS,
    KEY_SIZES,
    KEYS,
    BucketSizes,
    bucket_path,
)
from crowdcore.prepared.splitting import bucket_file
from crowdcore.reading.labels.cleaning import Cleaning
from crowdcore.reading.labels.coded_labels import CodedLabels
from crowdcore.reading.labels.duplicates import settle_repeats
from crowdcore.reading.parsing.table import Table

ROWS_PER_GROUP = 65_536
"""Rows of a row group of items, so that pages read a few of them."""


@dataclass(frozen=True, kw_only=True)
class CodeTables:
    """What the codes of each task stand for among those of all tasks."""

    workers: tuple[str, ...]
    classes: tuple[str, ...]
    worker_codes: Sequence[NDArray[np.int32]]  # by task, of its own codes
    class_codes: Sequence[NDArray[np.int32]]
    gold_codes: Sequence[NDArray[np.int32]]
    gold: Mapping[str, int]  # of a file of its own, item -> class


@dataclass(frozen=True, kw_only=True)
class CodedBucket:
    """What is known of a bucket once it is coded, as it is kept beside its arrays."""

    sizes: BucketSizes
    findings: dict[str, dict[str, Any]]  # what repeats there were, by the id of the finding
    n_left_out: int
    n_single: int  # items with one label
    gold_conflicts: int
    gold_matched: int  # items that have an answer in a file of its own


class _Rows(Table):
    """Stands for the files where a message would name a row: a bucket mixes rows of all."""

    def locate(self, row: int) -> str:
        """Say that the place is not known."""
        del row
        return "a row"


def code_bucket(
    folder: Path, number: int, task_folders: Sequence[Path], tables: CodeTables, cleaning: Cleaning
) -> CodedBucket:
    """Give a bucket's items codes by the order of their names, and write both orders.

    Parameters
    ----------
    folder
        The prepared folder.
    number
        Which bucket.
    task_folders
        The folders of the tasks, in the order of the rows.
    tables
        What the tasks' codes stand for.
    cleaning
        What to do about repeated labels.

    Returns
    -------
    CodedBucket
        The sizes, and what was found.
    """
    out = bucket_path(folder, number)
    if (out / BUCKET).exists():
        return _read_record(out)
    rows = _read_rows(number, task_folders, tables)
    coded = rows.column("item").combine_chunks().dictionary_encode()
    names, order = coded.dictionary, np.asarray(pc.sort_indices(coded.dictionary))
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    names = names.take(pa.array(order))
    item = rank[np.asarray(coded.indices)]
    labels = CodedLabels(
        row=np.arange(rows.num_rows, dtype=np.int32),
        item=item,
        worker=np.asarray(rows.column("worker")),
        label=np.asarray(rows.column("label")),
        items=_Names(names),  # type: ignore[arg-type]  # looked up for examples only
        workers=tables.workers,
        classes=tables.classes,
    )
    gold, conflicts, matched = _gold(rows, item, names, tables)
    table = _Rows(name="", data=pa.table({}))
    labels, findings = settle_repeats(table, labels, cleaning)
    record = _write(out, labels, names, gold)
    bucket = CodedBucket(
        sizes=record,
        findings={finding.id: asdict(finding) for finding in findings},
        n_left_out=rows.num_rows - len(labels.row),
        n_single=int((labels.labels_per_item == 1).sum()),
        gold_conflicts=conflicts,
        gold_matched=matched,
    )
    partial = out / f"{BUCKET}.part"
    partial.write_text(json.dumps(asdict(bucket), ensure_ascii=False), encoding="utf-8")
    partial.rename(out / BUCKET)
    for task_folder in task_folders:
        bucket_file(task_folder, number).unlink(missing_ok=True)
    return bucket


class _Names:
    """Names as Arrow text; a name becomes a Python string when it is asked for."""

    def __init__(self, names: Any) -> None:
        self._names = names

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, code: int) -> str:
        return str(self._names[int(code)].as_py())


def _read_record(out: Path) -> CodedBucket:
    plain = json.loads((out / BUCKET).read_text(encoding="utf-8"))
    plain["sizes"] = BucketSizes(**plain["sizes"])
    return CodedBucket(**plain)


def _read_rows(number: int, task_folders: Sequence[Path], tables: CodeTables) -> pa.Table:
    """The rows of a bucket, in the order of the files, with the codes of all tasks."""
    parts = []
    for task, folder in enumerate(task_folders):
        with pa.memory_map(str(bucket_file(folder, number))) as source:
            rows = pa.ipc.open_file(source).read_all()
        columns = {"item": rows.column("item")}
        codes = {"worker": tables.worker_codes, "label": tables.class_codes}
        if "gold" in rows.column_names:
            codes["gold"] = tables.gold_codes
        for role, mapping in codes.items():
            # The last entry stands for UNKNOWN, -1.
            columns[role] = pa.array(mapping[task][np.asarray(rows.column(role))])
        parts.append(pa.table(columns))
    return pa.concat_tables(parts)


def _gold(
    rows: pa.Table, item: NDArray[np.int32], names: Any, tables: CodeTables
) -> tuple[NDArray[np.int32], int, int]:
    """The known answers of the items, how many have several, and how many a file of its own."""
    gold = np.full(len(names), UNKNOWN, np.int32)
    conflicts = matched = 0
    if "gold" in rows.column_names:
        answers = np.asarray(rows.column("gold"))
        known = np.flatnonzero(answers != UNKNOWN)
        gold[item[known][::-1]] = answers[known][::-1]  # the first row is written last
        conflicts = len(np.unique(item[known][answers[known] != gold[item[known]]]))
    if tables.gold:
        answered = pa.array(list(tables.gold), pa.string())
        codes = np.append(np.fromiter(tables.gold.values(), np.int32), np.int32(UNKNOWN))
        found = pc.fill_null(pc.index_in(names, value_set=answered), UNKNOWN)
        of_file = codes[np.asarray(found)]
        matched = int((of_file != UNKNOWN).sum())
        gold = np.where(of_file == UNKNOWN, gold, of_file)
    return gold, conflicts, matched


def _write(out: Path, labels: CodedLabels, names: Any, gold: NDArray[np.int32]) -> BucketSizes:
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    n_items, n_keys = len(names), len(labels.workers) * len(labels.classes)
    key = labels.worker.astype(np.int64) * len(labels.classes) + labels.label
    arrays = {
        BY_ITEM: sorted_with(labels.item, key, n_keys).astype(np.int32),
        BY_KEY: sorted_with(key, labels.item, n_items).astype(np.int32),
    }
    sizes = np.bincount(key, minlength=1)
    arrays[KEYS] = np.flatnonzero(sizes).astype(np.int32)
    arrays[KEY_SIZES] = sizes[arrays[KEYS]].astype(np.int32)
    digest = hashlib.sha256()
    for name, array in arrays.items():
        np.save(out / name, array)
    items = pa.table(
        {
            "item": names,
            "n_labels": pa.array(labels.labels_per_item.astype(np.int32)),
            "gold": pa.array(gold),
        }
    )
    pq.write_table(items, out / ITEMS, compression="zstd", row_group_size=ROWS_PER_GROUP)
    digest.update(arrays[BY_ITEM].data)
    digest.update(gold.data)
    for chunk in items.column("item").chunks:
        for buffer in chunk.buffers()[1:]:
            digest.update(buffer)
    return BucketSizes(
        n_items=n_items,
        n_labels=len(labels.row),
        n_gold=int((gold != UNKNOWN).sum()),
        digest=digest.hexdigest(),
    )


def linked_workers(out: Path, n_workers: int, n_classes: int) -> NDArray[np.int32]:
    """Find which workers a bucket's items link.

    Parameters
    ----------
    out
        The folder of the bucket.
    n_workers, n_classes
        How many there are in all.

    Returns
    -------
    numpy.ndarray
        For each worker [W] the lowest code among those that items link them to.
    """
    worker = np.load(out / BY_ITEM) // np.int32(n_classes)
    sizes = np.asarray(pq.read_table(out / ITEMS, columns=["n_labels"]).column("n_labels"))
    same_item = np.ones(len(worker), bool)
    same_item[(np.cumsum(sizes) - sizes)[sizes > 0]] = False
    at = np.flatnonzero(same_item)
    return components(worker[at - 1], worker[at], n_workers)


def components(
    first: NDArray[np.int32], second: NDArray[np.int32], n_workers: int
) -> NDArray[np.int32]:
    """Join workers that are linked; each gets the lowest code of its component [W]."""
    links = coo_array((np.ones(len(first), np.int8), (first, second)), (n_workers, n_workers))
    _, component = connected_components(links, directed=False)
    lowest = np.full(int(component.max()) + 1, n_workers, np.int32)
    np.minimum.at(lowest, component, np.arange(n_workers, dtype=np.int32))
    joined: NDArray[np.int32] = lowest[component]
    return joined
