"""Label Studio: CSV, TSV and JSON-MIN, and its nested JSON once it is laid out flat."""

from __future__ import annotations

from collections.abc import Sequence

from crowdcore.reading.columns.platforms import Hints, Platform

OWN = ("annotation_id", "annotator", "created_at", "id", "lead_time", "updated_at")
_OPTIONAL = ("agreement", "history", "was_cancelled", "ground_truth")


def _hints(columns: Sequence[str]) -> Hints:
    answers = tuple(
        column
        for column in columns
        if column not in (*OWN, *_OPTIONAL) and not column.startswith("data.")
    )
    return Hints(
        worker="annotator",
        items=(("id",),) if "id" in columns else (),
        answers=answers,
        time="updated_at" if "updated_at" in columns else None,
        duration="lead_time",
        details=tuple(column for column in columns if column.startswith("data.")),
    )


PLATFORMS = (
    Platform(
        title="Label Studio",
        headers=("annotation_id", "annotator", "lead_time"),
        hints=_hints,
        rejected={"was_cancelled": ("true",)},
    ),
)
