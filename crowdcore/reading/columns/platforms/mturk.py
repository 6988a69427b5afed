"""Amazon Mechanical Turk: batch results, also with several items in one HIT."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Sequence

from crowdcore.reading.columns.platforms import Hints, Platform
from crowdcore.reading.parsing.derived import stack_columns, with_column
from crowdcore.reading.parsing.table import Table

_ANSWER, _INPUT = "Answer.", "Input."
_TASK_ANSWERS = "Answer.taskAnswers"
_PART = "item in the HIT"
_MIN_ITEMS, _MIN_ITEMS_WITHOUT_INPUT = 3, 6
"""Numbered answers from which on a HIT holds several items: with numbered inputs, and without."""

_MIN_STACKED = 0.6
_NUMBER = re.compile(r"\d+")
_OWN = re.compile(r"Answer\.(worker|hit|assignment)_?id", re.IGNORECASE)


def _hints(columns: Sequence[str]) -> Hints:
    answers = tuple(
        column for column in columns if column.startswith(_ANSWER) and not _OWN.fullmatch(column)
    )
    inputs = tuple(column for column in columns if column.startswith(_INPUT))
    part = (_PART,) if _PART in columns else ()
    items = (("HITId", *part), *((column, *part) for column in inputs))
    return Hints(
        worker="WorkerId",
        items=items if answers else (),
        answers=answers,
        time="SubmitTime" if "SubmitTime" in columns else None,
        duration="WorkTimeInSeconds" if "WorkTimeInSeconds" in columns else None,
        details=inputs,
    )


def _derive(table: Table) -> Table:
    return _one_row_per_item(_with_task_answers(table))


def _with_task_answers(table: Table) -> Table:
    """Take the answers of a custom template out of their JSON."""
    if _TASK_ANSWERS not in table.columns:
        return table
    records = [_flat(cell) for cell in table.text(_TASK_ANSWERS).to_pylist()]
    for name in dict.fromkeys(key for record in records for key in record):
        texts = [record.get(name, "") for record in records]
        table = with_column(table, f"{_ANSWER}{name}", texts)
    return table


def _flat(cell: str) -> dict[str, str]:
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        return {}
    value = value[0] if isinstance(value, list) and value else value
    flat: dict[str, str] = {}
    for name, answer in value.items() if isinstance(value, dict) else ():
        if (
            isinstance(answer, dict)
            and answer
            and all(isinstance(v, bool) for v in answer.values())
        ):
            flat[name] = "\n".join(key for key, ticked in answer.items() if ticked)
        elif isinstance(answer, dict) and len(answer) == 1:
            flat[name] = _text(next(iter(answer.values())))
        else:
            flat[name] = _text(answer)
    return flat


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _one_row_per_item(table: Table) -> Table:
    """Lay out a HIT with several items: Answer.url1 … Answer.url9 become rows."""
    asked = [c for c in table.columns if c.startswith(_ANSWER) and not _OWN.fullmatch(c)]
    answers = _families(asked)
    inputs = _families([column for column in table.columns if column.startswith(_INPUT)])
    numbers = max((set(members) for members in answers.values()), key=len, default=set())
    answers = {name: members for name, members in answers.items() if set(members) == numbers}
    inputs = {name: members for name, members in inputs.items() if set(members) == numbers}
    n_stacked = sum(map(len, answers.values()))
    enough = _MIN_ITEMS if inputs else _MIN_ITEMS_WITHOUT_INPUT
    if len(numbers) < enough or n_stacked < _MIN_STACKED * len(asked):
        return table
    return stack_columns(table, {**inputs, **answers}, member=_PART)


def _families(columns: Sequence[str]) -> dict[str, dict[str, str]]:
    """Columns that differ by one number only: name without it -> number -> column."""
    families: dict[str, dict[str, str]] = defaultdict(dict)
    for column in columns:
        numbers = _NUMBER.findall(column)
        if len(numbers) == 1:
            families[_NUMBER.sub("", column).rstrip("_-.")][numbers[0]] = column
    return {name: members for name, members in families.items() if len(members) > 1}


PLATFORMS = (
    Platform(
        title="Amazon Mechanical Turk",
        headers=("HITId", "WorkerId"),
        hints=_hints,
        rejected={"AssignmentStatus": ("Rejected",)},
        derive=_derive,
    ),
)
