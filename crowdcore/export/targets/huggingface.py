"""Hugging Face datasets: Parquet with hard and soft labels, annotators, and a card."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from crowdcore.export.finished import FinishedRun
from crowdcore.export.targets import ExportFile, Target, needs_classes

DATA_FILE = "data/train-00000-of-00001.parquet"


def _table(run: FinishedRun) -> Any:
    data = run.data
    code = {name: number for number, name in enumerate(data.classes)}
    labels = [code.get(name) for name in run.truth]
    is_kept = ~np.isin(np.array(data.workers, object), list(run.excluded))[data.worker]
    rows = np.flatnonzero(is_kept)
    rows = rows[np.argsort(data.item[rows], kind="stable")]
    counts = np.bincount(data.item[rows], minlength=data.n_items)
    offsets = pa.array(np.concatenate([[0], np.cumsum(counts)]), pa.int32())
    workers = pa.array([data.workers[worker] for worker in data.worker[rows].tolist()])
    columns: dict[str, Any] = {"item": pa.array(data.items, pa.string())}
    details = {name: values for name, values in data.details.items() if name not in _OWN}
    columns |= {name: pa.array(values, pa.string()) for name, values in details.items()}
    columns["label"] = pa.array(labels, pa.int64())
    columns["confidence"] = pa.array(run.confidence, pa.float64())
    if run.posterior is not None:
        columns["soft_label"] = pa.array(run.posterior.tolist(), pa.list_(pa.float64()))
    columns["annotators"] = pa.ListArray.from_arrays(offsets, workers.cast(pa.string()))
    given = pa.array(data.label[rows].astype(np.int64))
    columns["annotations"] = pa.ListArray.from_arrays(offsets, given)
    if data.gold is not None:
        columns["gold"] = pa.array(data.gold.astype(np.int64), mask=~data.has_gold)
    return pa.table(columns)


_OWN = ("item", "label", "confidence", "soft_label", "annotators", "annotations", "gold")


def _features(run: FinishedRun, names: Sequence[str]) -> dict[str, Any]:
    """The features of the data set, in the form of the library's own `Features`."""
    one_class = {"names": list(run.data.classes), "_type": "ClassLabel"}
    known: dict[str, Any] = {
        "label": one_class,
        "gold": one_class,
        "confidence": {"dtype": "float64", "_type": "Value"},
        "soft_label": {"feature": {"dtype": "float64", "_type": "Value"}, "_type": "List"},
        "annotators": {"feature": {"dtype": "string", "_type": "Value"}, "_type": "List"},
        "annotations": {"feature": one_class, "_type": "List"},
    }
    text = {"dtype": "string", "_type": "Value"}
    return {name: known.get(name, text) if name in _OWN else text for name in names}


def _write_data(run: FinishedRun, path: Path) -> None:
    table = _table(run)
    info = {"info": {"features": _features(run, table.column_names)}}
    table = table.replace_schema_metadata({"huggingface": json.dumps(info)})
    pq.write_table(table, path, compression="zstd")


def _write_card(run: FinishedRun, path: Path) -> None:
    data, provenance = run.data, run.provenance
    front = {
        "pretty_name": run.name,
        "size_categories": [_size_category(data.n_items)],
        "tags": ["crowdsourcing", "annotator-disagreement", "soft-labels"],
        "configs": [
            {"config_name": "default", "data_files": [{"split": "train", "path": "data/*"}]}
        ],
    }
    excluded = f"The labels of {len(run.excluded):,} excluded workers are left out.\n\n"
    path.write_text(
        "---\n"
        + "".join(
            f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in front.items()
        )
        + "---\n\n"
        + f"# {run.name}\n\n"
        f"{data.n_items:,} items with {data.n_labels:,} labels of {data.n_workers:,} workers. "
        f"The truths were inferred by {provenance.get('title', provenance['method'])} "
        f"(crowdcore {provenance.get('version', '')}, seed {provenance.get('seed')}).\n\n"
        + (excluded if run.excluded else "")
        + "| column | what it holds |\n|---|---|\n"
        "| `item` | the item |\n"
        "| `label` | the inferred class; empty where it is undecided |\n"
        "| `confidence` | the probability of the likeliest class |\n"
        "| `soft_label` | the probability of every class, in the order of `label`'s names |\n"
        "| `annotators`, `annotations` | who labelled the item, and what each said |\n"
        + ("| `gold` | the known answer |\n" if data.gold is not None else ""),
        encoding="utf-8",
    )


def _size_category(n_items: int) -> str:
    bounds = {1_000: "n<1K", 10_000: "1K<n<10K", 100_000: "10K<n<100K", 1_000_000: "100K<n<1M"}
    return next((name for bound, name in bounds.items() if n_items < bound), "1M<n<10M")


def _files(run: FinishedRun) -> Sequence[ExportFile]:
    return [
        ExportFile(name=DATA_FILE, write=lambda path: _write_data(run, path)),
        ExportFile(name="README.md", write=lambda path: _write_card(run, path)),
    ]


TARGET = Target(
    id="huggingface",
    title="Hugging Face datasets",
    contents="A folder for `datasets.load_dataset`: Parquet with the truth, the probability of "
    "every class, the annotators and what each said, and a card.",
    order=24,
    obstacle=needs_classes,
    files=_files,
)
