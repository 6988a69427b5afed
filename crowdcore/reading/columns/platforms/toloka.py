"""Toloka: assignments; the aggregated results are refused."""

from __future__ import annotations

from collections.abc import Sequence

from crowdcore.reading.columns.platforms import Hints, Platform

_TIMES = ("ASSIGNMENT:submitted", "ASSIGNMENT:accepted", "ASSIGNMENT:started")


def _hints(columns: Sequence[str]) -> Hints:
    inputs = tuple(column for column in columns if column.startswith("INPUT:"))
    answers = tuple(column for column in columns if column.startswith("OUTPUT:"))
    names = {answer: f"GOLDEN:{answer.removeprefix('OUTPUT:')}" for answer in answers}
    items: tuple[tuple[str, ...], ...] = ()
    if inputs:
        items = (inputs, *((column,) for column in inputs))
    if "ASSIGNMENT:task_id" in columns:
        # A task that was uploaded again has another id; its inputs then tell.
        items = (("ASSIGNMENT:task_id",), *items)
    time = next((column for column in _TIMES if column in columns), None)
    started = "ASSIGNMENT:started"
    return Hints(
        worker="ASSIGNMENT:worker_id",
        items=tuple(dict.fromkeys(items)),
        answers=answers,
        gold={answer: name for answer, name in names.items() if name in columns},
        time=time,
        started=started if started in columns and time != started else None,
        details=inputs,
    )


PLATFORMS = (
    Platform(
        title="Toloka",
        headers=("ASSIGNMENT:worker_id",),
        hints=_hints,
        rejected={"ASSIGNMENT:status": ("REJECTED",)},
        tests={"GOLDEN:*": ()},
    ),
    Platform(
        title="Toloka (aggregated)",
        headers=("OUTPUT:*", "CONFIDENCE:*"),
        without=("ASSIGNMENT:worker_id",),
        seems="Toloka's aggregated results: one answer per task with its confidence",
        refusal="Download the assignments of the pool instead: they have ASSIGNMENT:worker_id.",
    ),
)
