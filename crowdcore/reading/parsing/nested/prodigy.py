"""Prodigy: tasks with a choice of options, or one label to accept or reject."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crowdcore.reading.parsing.nested import Record, Row, Rows, Shape, several

_KEPT = ("text", "image", "_input_hash", "_task_hash", "_annotator_id", "_session_id", "_timestamp",
         "_view_id")  # fmt: skip


def _matches(records: Sequence[Record]) -> bool:
    return all("_input_hash" in record and "answer" in record for record in records)


def _rows(records: Sequence[Record]) -> Rows:
    return [(number, _row(record)) for number, record in enumerate(records)]


def _row(record: Record) -> Row:
    row: Row = {key: record.get(key) for key in _KEPT if record.get(key) is not None}
    answered = record.get("answer")
    if "accept" in record:
        names = {option.get("id"): option.get("text") for option in record.get("options") or []}
        chosen = record["accept"]
        chosen = chosen if isinstance(chosen, list) else [chosen]
        row["accept"] = several([names.get(c) or c for c in chosen]) if answered == "accept" else ""
    elif "label" in record and "spans" not in record:
        no = {"accept": "", "reject": "not ", "ignore": None}.get(str(answered))
        row["accept"] = "" if no is None else f"{no}{record['label']}"
    elif record.get("spans"):
        row["spans"] = _spans(record["spans"])
    else:
        row["accept"] = "" if answered == "ignore" else answered
    return row


def _spans(spans: Any) -> Any:
    return [{key: span.get(key) for key in ("start", "end", "label")} for span in spans]


SHAPE = Shape(title="Prodigy", matches=_matches, rows=_rows)
