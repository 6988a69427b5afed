"""Labelbox: data rows with projects, their labels and classifications."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crowdcore.reading.parsing.nested import Record, Row, Rows, Shape, several


def _matches(records: Sequence[Record]) -> bool:
    return all("data_row" in record and "projects" in record for record in records)


def _rows(records: Sequence[Record]) -> Rows:
    rows: Rows = []
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
