"""Zooniverse: classifications; each task of a workflow is a question."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from crowdcore.reading.columns.names import vocabulary
from crowdcore.reading.columns.platforms import Hints, Platform
from crowdcore.reading.parsing.derived import with_column
from crowdcore.reading.parsing.table import Table

_OWN = vocabulary(
    "classification_id user_name user_id user_ip workflow_id workflow_name workflow_version "
    "created_at gold_standard expert metadata annotations subject_data subject_ids"
)
_STARTED, _FINISHED = "started_at", "finished_at"


def _hints(columns: Sequence[str]) -> Hints:
    tasks = tuple(c for c in columns if c not in {*_OWN, _STARTED, _FINISHED})
    return Hints(
        worker="user_name",
        items=(("subject_ids",),),
        answers=tasks or ("annotations",),
        time="created_at" if "created_at" in columns else None,
        started=_STARTED if _STARTED in columns else None,
    )


def _derive(table: Table) -> Table:
    """Make a column of each task of each workflow, and of the times that the metadata hold."""
    rows = [_tasks(cell) for cell in table.text("annotations").to_pylist()]
    workflows = [""] * len(rows)
    if "workflow_name" in table.columns and len(table.coded("workflow_name").names) > 1:
        workflows = [f"{name} " for name in table.text("workflow_name").to_pylist()]
    rows = [
        {f"{workflow}{task}": answer for task, answer in row.items()}
        for workflow, row in zip(workflows, rows, strict=True)
    ]
    for task in dict.fromkeys(name for row in rows for name in row):
        table = with_column(table, task, [row.get(task, "") for row in rows])
    if "metadata" in table.columns:
        metadata = [_load(cell) for cell in table.text("metadata").to_pylist()]
        starts = [str(m.get(_STARTED) or "") if isinstance(m, dict) else "" for m in metadata]
        if any(starts):
            table = with_column(table, _STARTED, starts)
    return table


def _load(cell: str) -> Any:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return None


def _tasks(cell: str) -> dict[str, str]:
    """The answer to each task; a survey's choices are its answer, a drawing stays as it is."""
    tasks = _load(cell)
    answers: dict[str, str] = {}
    for task in tasks if isinstance(tasks, list) else []:
        if isinstance(task, dict) and "task" in task:
            answers |= _answers(str(task["task"]), task.get("value"))
    return answers


def _answers(name: str, value: Any) -> dict[str, str]:
    parts = value if isinstance(value, list) else [value]
    if value is None or not parts:
        return {name: ""}
    if all(isinstance(part, str) for part in parts):
        return {name: "\n".join(parts)}
    if not all(isinstance(part, dict) for part in parts):
        return {name: json.dumps(value)}
    if all("task" in part for part in parts):  # a combined task holds tasks
        inner = [_answers(str(part["task"]), part.get("value")) for part in parts]
        return {task: answer for answers in inner for task, answer in answers.items()}
    key = next((key for key in ("choice", "value") if all(key in part for part in parts)), None)
    if key is None or any(isinstance(part[key], dict | list) for part in parts):
        return {name: json.dumps(value)}
    return {name: "\n".join(dict.fromkeys(str(part[key]) for part in parts))}


PLATFORMS = (
    Platform(
        title="Zooniverse",
        headers=("subject_ids", "user_name", "annotations", "classification_id"),
        hints=_hints,
        derive=_derive,
    ),
    *(
        Platform(
            title=f"Zooniverse (reductions, {name})",
            headers=("subject_id", "workflow_id", "task", name),
            seems="Zooniverse's reductions: the answers of all volunteers to a subject, counted",
            refusal="Export the classifications instead: they have a row per volunteer.",
        )
        for name in ("reducer_name", "reducer")
    ),
)
