"""Label Studio's own JSON: tasks with annotations, each with results; and its JSON-MIN."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from crowdcore.reading.parsing.nested import Record, Row, Rows, Shape, flat, several

_PLAIN = ("choices", "rating", "text", "number", "datetime", "taxonomy", "selected")
_MIN = ("annotation_id", "annotator", "lead_time")


def _matches(records: Sequence[Record]) -> bool:
    return all(map(_is_task, records)) or all(map(_is_min, records))


def _is_task(record: Record) -> bool:
    return "data" in record and ("annotations" in record or "completions" in record)


def _is_min(record: Record) -> bool:
    return all(name in record for name in _MIN)


def choices_of(value: Any) -> Any:
    """Write {"choices": ["a", "b"]}, as JSON-MIN and CSV have several choices, into one cell.

    Parameters
    ----------
    value
        An answer.

    Returns
    -------
    Any
        Any other value as it is.
    """
    if (
        isinstance(value, dict)
        and list(value) == ["choices"]
        and isinstance(value["choices"], list)
    ):
        return several(value["choices"])
    return value


def _rows(records: Sequence[Record]) -> Rows:
    rows: Rows = []
    if _is_min(records[0]):
        return [
            (number, {name: choices_of(value) for name, value in record.items()})
            for number, record in enumerate(records)
        ]
    for number, record in enumerate(records):
        task = {"id": record.get("id", number), **flat(record["data"], "data.")}
        for annotation in record.get("annotations") or record.get("completions") or []:
            rows.append((number, {**task, **_annotation(annotation)}))
        if not (record.get("annotations") or record.get("completions")):
            rows.append((number, dict(task)))
    return rows


def _annotation(annotation: Mapping[str, Any]) -> Row:
    worker = annotation.get("completed_by")
    if isinstance(worker, dict):
        worker = worker.get("email") or worker.get("id")
    row: Row = {
        "annotation_id": annotation.get("id"),
        "annotator": worker,
        "lead_time": annotation.get("lead_time"),
        "created_at": annotation.get("created_at"),
        "updated_at": annotation.get("updated_at"),
        "was_cancelled": bool(annotation.get("was_cancelled")),
        "ground_truth": bool(annotation.get("ground_truth")),
    }
    regions: dict[str, list[Any]] = {}
    for result in annotation.get("result") or []:
        name, value = result.get("from_name", "answer"), result.get("value") or {}
        kind = next((key for key in _PLAIN if key in value), None)
        if kind is None or "start" in value or "x" in value:
            regions.setdefault(name, []).append(value)
        else:
            answer = value[kind]
            row[name] = several(answer) if isinstance(answer, list) else answer
    return row | {name: json.dumps(values) for name, values in regions.items() if name not in row}


SHAPE = Shape(title="Label Studio", matches=_matches, rows=_rows)
