"""Argilla: records with the responses of several users to each question."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from crowdcore.reading.parsing.nested import Record, Row, Rows, Shape, flat, several

USER, STATUS = "user_id", "response_status"
"""The columns of a laid out record: who responded, and whether it was submitted."""

_RESPONSES, _USERS, _SUGGESTION = ".responses", ".responses.users", "suggestion"

Responses = dict[str, Row]
"""What each user responded: a column for each question, and the status."""


def _matches(records: Sequence[Record]) -> bool:
    return any(all(map(form, records)) for form in (_is_flat, _is_nested, _is_listed)) or (
        any(map(_by_question, records))
    )


def _is_flat(record: Record) -> bool:
    return any(str(key).endswith(_USERS) for key in record)


def _is_nested(record: Record) -> bool:
    """Records of version 2: {"responses": {question: [{"value", "user_id"}]}}."""
    return "fields" in record and isinstance(record.get("responses"), dict)


def _is_listed(record: Record) -> bool:
    """Records of version 1: {"responses": [{"user_id", "values": {question: {"value"}}}]}."""
    return "fields" in record and isinstance(record.get("responses"), list)


def _is_response(value: Any) -> bool:
    return isinstance(value, dict) and USER in value and "value" in value


def _by_question(record: Record) -> list[str]:
    """Columns that are a question each: [{"user_id", "value", "status"}], of version 1."""
    return [
        str(key)
        for key, value in record.items()
        if isinstance(value, list) and value and all(map(_is_response, value))
    ]


def _rows(records: Sequence[Record]) -> Rows:
    asked = tuple(dict.fromkeys(name for record in records for name in _by_question(record)))
    rows: Rows = []
    for number, record in enumerate(records):
        about, responses = _record(record, asked)
        rows += [(number, {**about, USER: user, **row}) for user, row in responses.items()]
        if not responses:
            rows.append((number, about))
    return rows


def _record(record: Record, asked: Sequence[str]) -> tuple[Row, Responses]:
    """Return what a record says about its item, and the responses by user."""
    responses: Responses = {}
    if _is_flat(record):
        about = {k: v for k, v in record.items() if _RESPONSES not in k and _SUGGESTION not in k}
        for key in record:
            if str(key).endswith(_USERS):
                _add_parallel(responses, record, str(key).removesuffix(_USERS))
    elif _is_nested(record) or _is_listed(record):
        about = {"id": record.get("id") or record.get("external_id"), **flat(record["fields"])}
        about |= flat(record.get("metadata") or {}, "metadata.")
        given = record["responses"]
        for question, answers in given.items() if isinstance(given, dict) else ():
            _add(responses, question, answers)
        for response in given if isinstance(given, list) else ():
            for question, answer in (response.get("values") or {}).items():
                _add(responses, question, [{**response, **answer}])
    else:
        about = {k: v for k, v in record.items() if k not in asked and _SUGGESTION not in k}
        for question in asked:
            _add(responses, question, record.get(question) or [])
    return {key: value for key, value in about.items() if value is not None}, responses


def _add_parallel(responses: Responses, record: Record, question: str) -> None:
    values = record.get(f"{question}{_RESPONSES}") or []
    users = record.get(f"{question}{_USERS}") or []
    states = record.get(f"{question}{_RESPONSES}.status") or [None] * len(users)
    answers = [
        {USER: user, "value": value, "status": status}
        for user, value, status in zip(users, values, states, strict=False)
    ]
    _add(responses, question, answers)


def _add(responses: Responses, question: str, answers: Sequence[Mapping[str, Any]]) -> None:
    for answer in answers:
        row = responses.setdefault(str(answer.get(USER)), {})
        row[question] = _text(answer.get("value"))
        row[STATUS] = answer.get("status") or "submitted"


def _text(value: Any) -> Any:
    """Write a ranking as JSON and several labels below each other."""
    if isinstance(value, list):
        nested = any(isinstance(part, dict | list) for part in value)
        return json.dumps(value) if nested else several(value)
    return value


SHAPE = Shape(title="Argilla", matches=_matches, rows=_rows)
