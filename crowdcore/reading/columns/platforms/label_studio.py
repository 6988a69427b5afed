"""Label Studio: CSV, TSV and JSON-MIN, and its nested JSON once it is laid out flat."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from crowdcore.reading.columns.platforms import Hints, Platform
from crowdcore.reading.parsing.derived import with_column
from crowdcore.reading.parsing.nested.label_studio import choices_of
from crowdcore.reading.parsing.table import Table

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


def _derive(table: Table) -> Table:
    """Take several choices out of their JSON, as cells of a CSV file have them."""
    for column in _hints(table.columns).answers:
        coded = table.coded(column)
        if not any(name.startswith('{"choices"') for name in coded.names):
            continue
        names = np.array([_choices(name) for name in coded.names], object)
        table = with_column(table, column, names[coded.codes].tolist())
    return table


def _choices(cell: str) -> str:
    try:
        return str(choices_of(json.loads(cell))) if cell.startswith("{") else cell
    except (ValueError, RecursionError):
        return cell


PLATFORMS = (
    Platform(
        title="Label Studio",
        headers=("annotation_id", "annotator", "lead_time"),
        hints=_hints,
        derive=_derive,
        rejected={"was_cancelled": ("true",)},
    ),
)
