"""Appen, once Figure Eight and CrowdFlower: full report; the aggregated one is refused."""

from __future__ import annotations

from collections.abc import Sequence

from crowdcore.reading.columns.platforms import Hints, Platform


def _hints(columns: Sequence[str]) -> Hints:
    answers = tuple(
        column
        for column in columns
        if not column.startswith(("_", "orig__"))
        and not column.endswith(("_gold", "_gold_reason"))
        and column != "gold_answer"
    )
    return Hints(
        worker="_worker_id",
        items=(("_unit_id",),),
        answers=answers,
        gold={column: f"{column}_gold" for column in answers if f"{column}_gold" in columns},
        time="_created_at" if "_created_at" in columns else None,
        started="_started_at" if "_started_at" in columns else None,
    )


PLATFORMS = (
    Platform(
        title="Appen",
        headers=("_unit_id", "_worker_id"),
        hints=_hints,
        rejected={"_tainted": ("true", "TRUE", "True")},
        tests={"_golden": ("true", "TRUE", "True")},
    ),
    Platform(
        title="Appen (aggregated report)",
        headers=("_unit_id", "_trusted_judgments"),
        without=("_worker_id",),
        seems="Appen's aggregated report: one row per unit with its final answer",
        refusal="Download the full report instead: it has a row per judgment, with _worker_id.",
    ),
)
