"""Toloka's API: assignments with a list of tasks and a list of their solutions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crowdcore.reading.parsing.nested import Record, Row, Rows, Shape

_ASSIGNMENT = {
    "id": "assignment_id",
    "user_id": "worker_id",
    "status": "status",
    "created": "started",
    "submitted": "submitted",
    "reward": "reward",
}
"""The API's names, and what the columns of an assignments file are called."""


def _matches(records: Sequence[Record]) -> bool:
    return all(
        isinstance(record.get("tasks"), list)
        and isinstance(record.get("solutions"), list)
        and "user_id" in record
        for record in records
    )


def _rows(records: Sequence[Record]) -> Rows:
    rows: Rows = []
    for number, record in enumerate(records):
        about = {f"ASSIGNMENT:{name}": record.get(key) for key, name in _ASSIGNMENT.items()}
        # Solutions may be missing, as of a skipped assignment: its tasks have blank answers.
        solutions = [*record["solutions"], *[{}] * len(record["tasks"])]
        for task, solution in zip(record["tasks"], solutions, strict=False):
            rows.append((number, {**_columns("INPUT", task.get("input_values")),
                                  **_columns("OUTPUT", (solution or {}).get("output_values")),
                                  **_golden(task),
                                  "ASSIGNMENT:task_id": task.get("id"), **about}))  # fmt: skip
    return rows


def _columns(prefix: str, values: Mapping[str, Any] | None) -> Row:
    return {f"{prefix}:{name}": value for name, value in (values or {}).items()}


def _golden(task: Mapping[str, Any]) -> Row:
    known = task.get("known_solutions") or []
    return _columns("GOLDEN", known[0].get("output_values")) if known else {}


SHAPE = Shape(title="Toloka's API", matches=_matches, rows=_rows)
