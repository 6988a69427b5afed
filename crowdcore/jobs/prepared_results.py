"""The folder of results of a prepared run: truths by bucket, workers, and what is known of both.

`result.json` is written after the tables, and `_SUCCESS` last.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdcore.config import Config, TruthConfig
from crowdcore.data import UNKNOWN
from crowdcore.method import Method
from crowdcore.prepared.layout import PreparedFolder
from crowdcore.prepared.part import PreparedPart
from crowdcore.prepared.results import RESULT, SUCCESS, TRUTHS, WORKERS
from crowdcore.results.classes import ClassEstimate, ClassResult, ClassScore
from crowdcore.results.numbers import NumberResult
from crowdcore.results.result import Estimate, Provenance, Result
from crowdcore.run import Run
from crowdcore.wording import count

if TYPE_CHECKING:
    import pandas as pd

MAX_JUDGED_LABELS = 10_000_000
"""Labels by which workers are judged; in larger crowds those of a random sample of the items."""


@dataclass(frozen=True, kw_only=True)
class Making:
    """What made an estimate, and when it began by `time.perf_counter`."""

    method: Method
    config: Config
    run: Run
    began: float
    used_gold: bool


@dataclass
class Totals:
    """Counts over the items of some buckets."""

    n_items: float = 0
    tied: float = 0
    undecided: float = 0
    confidence: float = 0
    gold: float = 0
    gold_right: float = 0
    gold_undecided: float = 0
    gold_error: float = 0  # squared, of ratings


def truths_path(out: Path, bucket: int) -> Path:
    """Return the file with the truths of a bucket."""
    return out / TRUTHS / f"bucket={bucket:04d}.parquet"


def write_truths(estimate: Any, data: PreparedPart, making: Making, out: Path) -> Totals:
    """Check an estimate and write its truths, a bucket at a time.

    Parameters
    ----------
    estimate
        What the method returned for the items of this part.
    data
        The part.
    making
        What made the estimate.
    out
        The folder of the results.

    Returns
    -------
    Totals
        Of this part.
    """
    from crowdcore.export.writers import write_float32_parquet

    (out / TRUTHS).mkdir(parents=True, exist_ok=True)
    totals = Totals()
    starts = data.bucket_starts
    for number, first, end in zip(data.buckets, starts[:-1], starts[1:], strict=True):
        if first == end:
            continue
        own = _slice(estimate, slice(int(first), int(end)), data.n_items)
        result = _checked(own, PreparedPart(data.folder, [number]), making)
        write_float32_parquet(result.truths(), truths_path(out, number))
        _add(totals, result)
    return totals


def _slice(estimate: Any, items: slice, n_items: int) -> Any:
    """The estimate of some items; what concerns workers stays, but for confusion matrices."""
    fields: dict[str, Any] = {"members": (), "item_scores": {}}
    for name, values in estimate.item_scores.items():
        fields["item_scores"][name] = values[items]
    if isinstance(estimate, ClassEstimate):
        fields["confusion"] = None
    for name in ("posterior", "truth", "spread", "low", "high"):
        values = getattr(estimate, name, None)
        if values is not None and len(values) == n_items:
            fields[name] = values[items]
    return replace(estimate, **fields)


def _checked(estimate: Estimate, data: PreparedPart, making: Making) -> Result:
    result = Result.checked(
        estimate,
        data=data,
        method=making.method,
        config=making.config,
        run=making.run,
        began=making.began,
        used_gold=making.used_gold,
    )
    config = making.config
    if isinstance(config, TruthConfig) and config.calibrate == "crowds":
        from crowdcore.confidence.mapping import map_confidence

        return map_confidence(result)
    return result


def _add(totals: Totals, result: Result) -> None:
    data = result.data
    totals.n_items += data.n_items
    if isinstance(result, NumberResult):
        if result.can_be_scored and data.gold is not None:
            known = data.has_gold & ~np.isnan(result.truth)
            totals.gold += int(known.sum())
            totals.gold_error += float(((result.truth - data.gold)[known] ** 2).sum())
        return
    assert isinstance(result, ClassResult)
    totals.tied += int(result.tied.sum())
    totals.undecided += int((result.truth == UNKNOWN).sum())
    totals.confidence += float(result.confidence.sum())
    if (score := result.score()) is not None:
        totals.gold += score.n
        totals.gold_right += score.correct
        totals.gold_undecided += score.undecided


def figures(totals: Totals, kind: str) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return the summary of all truths, and the score where there is gold."""
    n_gold = int(totals.gold)
    if kind == "ratings":
        error = float(np.sqrt(totals.gold_error / n_gold)) if n_gold else None
        return {}, None if error is None else {"n": n_gold, "rmse": error}
    summary = {
        "tied": int(totals.tied),
        "undecided": int(totals.undecided),
        "mean_confidence": totals.confidence / max(1.0, totals.n_items),
    }
    score = ClassScore(
        n=n_gold, correct=int(totals.gold_right), undecided=int(totals.gold_undecided)
    )
    return summary, score.figures if n_gold else None


def judge_workers(
    estimate: Estimate,
    folder: PreparedFolder,
    making: Making,
    out: Path,
    options: dict[str, Any],
) -> tuple[pd.DataFrame, Provenance]:
    """Judge the workers by the written truths, of a sample of the items where there are many.

    Parameters
    ----------
    estimate
        For what it tells of the workers.
    folder
        All labels.
    making
        What made the estimate.
    out
        The folder of the results, with the truths of all parts.
    options
        How workers are to be judged, where that differs from the usual way.

    Returns
    -------
    table
        One row per worker.
    provenance
        How the truths came about; with a sentence where not all labels took part.
    """
    sample = folder.sample(MAX_JUDGED_LABELS)
    data = PreparedPart(folder, sample).in_memory()
    result = _checked_workers(estimate, data, making, [truths_path(out, n) for n in sample])
    table = result.workers(**options)
    if data.n_labels < folder.manifest.n_labels:
        result = result.with_notes(
            f"Workers were judged by {data.n_labels:,} of {folder.manifest.n_labels:,} labels: "
            f"those of {count(data.n_items, 'item')} drawn at random. Who gave fewer is judged "
            "more cautiously; labels are counted over all items."
        )
        table["n_labels"] = folder.labels_per_worker
    return table, result.provenance


def _checked_workers(estimate: Any, data: Any, making: Making, paths: Sequence[Path]) -> Result:
    """The result on plain data of some buckets, with the truths as they were written."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = [pq.read_table(path) for path in paths if path.exists()]
    frame = pa.concat_tables(tables)
    fields: dict[str, Any] = {"item_scores": {}, "members": (), "artefacts": ()}
    if data.kind == "classes":
        columns = [frame.column(f"p:{name}").to_numpy() for name in data.classes]
        fields |= {"posterior": np.stack(columns, axis=1), "confusion": None, "truth": None}
    else:
        fields |= {
            name: frame.column(name).to_numpy() for name in ("truth", "spread", "low", "high")
        }
    del frame, tables
    return Result.checked(
        replace(estimate, **fields),
        data=data,
        method=making.method,
        config=making.config,
        run=making.run,
        began=making.began,
        used_gold=making.used_gold,
    )


def finish(out: Path, workers: pd.DataFrame, record: dict[str, Any]) -> None:
    """Write the workers, then `result.json`, then `_SUCCESS`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pandas(workers), out / WORKERS, compression="zstd")
    text = json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    (out / RESULT).write_text(text, encoding="utf-8")
    (out / SUCCESS).touch()


def record_of(
    folder: PreparedFolder,
    provenance: Provenance,
    history: list[dict[str, Any]],
    totals: Totals,
    *,
    n_parts: int,
) -> dict[str, Any]:
    """Gather everything about a run that is not a table.

    Parameters
    ----------
    folder
        The labels.
    provenance
        How the truths came about.
    history
        One row per step.
    totals
        Of all parts.
    n_parts
        How many parts there were.

    Returns
    -------
    dict
        Values that JSON can hold.
    """
    manifest = folder.manifest
    summary, score = figures(totals, manifest.kind)
    return {
        "provenance": asdict(provenance),
        "prepared": str(folder.path.resolve()),
        "parts": n_parts,
        "data": {
            "kind": manifest.kind,
            "labels": manifest.n_labels,
            "items": manifest.n_items,
            "workers": manifest.n_workers,
            "classes": list(manifest.classes) if manifest.kind == "classes" else [],
            "gold": manifest.n_gold,
            "fingerprint": manifest.fingerprint,
        },
        "summary": summary,
        "score": score,
        "health": [
            {
                "id": finding.id,
                "severity": finding.severity,
                "title": finding.title,
                "count": finding.count,
                "done": finding.done,
            }
            for finding in folder.report.warnings
        ],
        "history": history,
    }
