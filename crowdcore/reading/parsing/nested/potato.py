"""Potato: a user's state, with what they answered to each instance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crowdcore.reading.parsing.nested import Record, Row, Rows, Shape, several

_ANSWERS = "instance_id_to_label_to_value"
_TICKED = ("true", "1", "on", True, 1)


def _matches(records: Sequence[Record]) -> bool:
    return all("user_id" in record and _ANSWERS in record for record in records)


def _rows(records: Sequence[Record]) -> Rows:
    return [
        (number, {"user_id": record["user_id"], "instance_id": instance, **_answers(pairs)})
        for number, record in enumerate(records)
        for instance, pairs in record[_ANSWERS].items()
    ]


def _answers(pairs: Any) -> Row:
    """Gather labels by schema: a ticked label is its name, any other value is the answer."""
    if isinstance(pairs, dict):  # {"schema": {"label": value}}
        pairs = [
            ({"schema": schema, "name": name}, value)
            for schema, labels in pairs.items()
            for name, value in (labels if isinstance(labels, dict) else {"": labels}).items()
        ]
    found: dict[str, list[Any]] = {}
    for label, value in pairs:
        if value in (None, "", False, "false"):
            continue
        answer = label.get("name") if value in _TICKED or value == label.get("name") else value
        found.setdefault(str(label.get("schema", "label")), []).append(answer)
    return {schema: several(answers) for schema, answers in found.items()}


SHAPE = Shape(title="Potato", matches=_matches, rows=_rows)
