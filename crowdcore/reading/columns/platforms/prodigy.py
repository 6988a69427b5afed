"""Prodigy: what `prodigy db-out` writes, laid out flat."""

from __future__ import annotations

from collections.abc import Sequence

from crowdcore.reading.columns.platforms import Hints, Platform

_OWN = ("_input_hash", "_task_hash", "_annotator_id", "_session_id", "_timestamp", "_view_id")


def _hints(columns: Sequence[str]) -> Hints:
    people = [name for name in ("_annotator_id", "_session_id", "annotator") if name in columns]
    answers = tuple(name for name in ("accept", "spans", "answer") if name in columns)
    return Hints(
        worker=people[0] if people else None,
        items=(("_input_hash",),),
        answers=answers[:1],
        time="_timestamp" if "_timestamp" in columns else None,
    )


PLATFORMS = (Platform(title="Prodigy", headers=("_input_hash", "_task_hash"), hints=_hints),)
