"""Labelbox: data rows with projects, their labels and classifications; and its older export."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from crowdcore.reading.parsing.nested import Record, Row, Rows, Shape, several

OLDER = ("Label", "Created By", "Labeled Data")
"""Columns of the older export, with a row per label."""


def _matches(records: Sequence[Record]) -> bool:
    return all("data_row" in record and "projects" in record for record in records) or all(
        all(name in record for name in OLDER) for record in records
    )


def _rows(records: Sequence[Record]) -> Rows:
    rows: Rows = []
    if OLDER[0] in records[0]:
        return [(number, older_row(record)) for number, record in enumerate(records)]
    for number, record in enumerate(records):
        data = record["data_row"]
        item = {
            "data_row": data.get("global_key") or data.get("external_id") or data.get("id"),
            "row_data": data.get("row_data"),
        }
        for project in record["projects"].values():
            for label in project.get("labels") or []:
                rows.append((number, {**item, **_label(label)}))
    return rows


def older_row(record: Record) -> Row:
    """Lay out a row of the older export, whose answers are nested or JSON in a text.

    Parameters
    ----------
    record
        The row.

    Returns
    -------
    dict
        With the names that the newer export has.
    """
    row: Row = {
        "data_row": record.get("External ID") or record.get("DataRow ID"),
        "row_data": record.get("Labeled Data"),
        "label_id": record.get("ID"),
        "created_by": record.get("Created By"),
        "created_at": record.get("Created At"),
        "seconds_to_create": record.get("Seconds to Label"),
    }
    label = record.get("Label")
    if isinstance(label, str):
        try:
            label = json.loads(label)
        except (ValueError, RecursionError):
            return {**row, "skipped": str(label).strip().lower() == "skip", "answer": label}
    answers = dict(label) if isinstance(label, dict) else {}
    if objects := answers.pop("objects", None):
        row["objects"] = objects
    for answer in answers.pop("classifications", None) or []:
        row[answer.get("title") or answer.get("value") or "classification"] = _older_answer(answer)
    return {**row, **answers}


def _older_answer(answer: Mapping[str, Any]) -> Any:
    chosen = answer.get("answer", answer.get("answers"))
    if isinstance(chosen, list):
        return several([choice.get("title") for choice in chosen])
    return chosen.get("title") if isinstance(chosen, dict) else chosen


def _label(label: Mapping[str, Any]) -> Row:
    details = label.get("label_details") or {}
    performance = label.get("performance_details") or {}
    annotations = label.get("annotations") or {}
    row: Row = {
        "label_id": label.get("id"),
        "created_by": details.get("created_by"),
        "created_at": details.get("created_at"),
        "seconds_to_create": performance.get("seconds_to_create"),
        "skipped": performance.get("skipped", False),
    }
    for answer in annotations.get("classifications") or []:
        name = answer.get("name") or answer.get("value") or "classification"
        row[name] = _answer(answer)
    if annotations.get("objects"):
        row["objects"] = annotations["objects"]
    return row


def _answer(answer: Mapping[str, Any]) -> Any:
    if "radio_answer" in answer:
        return (answer["radio_answer"] or {}).get("name")
    if "checklist_answers" in answer:
        return several([choice.get("name") for choice in answer["checklist_answers"]])
    text = answer.get("text_answer")
    return text.get("content") if isinstance(text, dict) else text


SHAPE = Shape(title="Labelbox", matches=_matches, rows=_rows)
