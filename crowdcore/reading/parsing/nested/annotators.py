"""Any nested JSON in which people stand beside labels: lists, objects, parallel lists."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from crowdcore.reading.columns.names import label_strength, words_of, worker_strength
from crowdcore.reading.parsing.nested import Record, Row, Rows, Shape, flat, several

_MOST = 0.8
_OFTEN = 0.3
_CONTENT = "content"
_PERSON_IDS = ("id", "name", "email", "username", "uuid")


def _matches(records: Sequence[Record]) -> bool:
    rows = [_unwrapped(record) for record in records]
    return _list_of_people(rows) is not None or _parallel(rows) is not None or (
        _by_person(rows) is not None
    )  # fmt: skip


def _rows(records: Sequence[Record]) -> Rows:
    rows = [_unwrapped(record) for record in records]
    if (people := _parallel(rows)) is not None:
        return _from_parallel(rows, people)
    if (column := _list_of_people(rows)) is not None:
        return _from_list(rows, column)
    return _from_object(rows, str(_by_person(rows)))


def _unwrapped(record: Record) -> Row:
    """Lay a record out, but leave objects whole that hold an answer for each person."""
    row: Row = {}
    for key, value in record.items():
        if isinstance(value, dict) and not _answers_by_person(key, value):
            row |= flat({key: value})
        else:
            row[key] = value
    return row


def _answers_by_person(key: str, value: Mapping[str, Any]) -> bool:
    about = (
        label_strength(key) > 0 or worker_strength(key) > 0 or key.endswith(("votes", "answers"))
    )
    soft = {"soft", "hard", "counts", "count", "distribution", "probabilities"} & set(words_of(key))
    lists = any(
        isinstance(inner, list) and any(map(_people_key, inner)) for inner in value.values()
    )
    return bool(value) and about and not soft and not lists


def _share(rows: Sequence[Row], column: str, test: Any) -> float:
    values = [row[column] for row in rows if row.get(column) not in (None, "", [], {})]
    return sum(map(test, values)) / len(values) if values else 0.0


def _names(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _people_key(value: Any) -> str | None:
    """The key of an object that names a person."""
    if not isinstance(value, dict):
        return None
    named = [key for key in flat(value) if _names_person(key) > 1]
    return max(named, key=_names_person, default=None)


def _names_person(key: str) -> int:
    """Say how clearly a key names a person: annotator, or annotator.id."""
    parts = key.split(".")
    own = worker_strength(parts[-1])
    return max(own, worker_strength(".".join(parts[-2:]))) if parts[-1] in _PERSON_IDS else own


def _list_of_people(rows: Sequence[Row]) -> str | None:
    """A column of lists of objects that each name a person."""
    for column in _names(rows):
        if (
            _share(rows, column, lambda v: isinstance(v, list) and all(map(_people_key, v)))
            >= _MOST
        ):
            return column
    return None


def _from_list(rows: Sequence[Row], column: str) -> Rows:
    made: Rows = []
    for number, row in enumerate(rows):
        rest = {name: value for name, value in row.items() if name != column}
        for element in row.get(column) or []:
            inner = flat(_with_content(element))
            made.append((number, {**rest, **{_fresh(k, rest): v for k, v in inner.items()}}))
        if not row.get(column):
            made.append((number, rest))
    return made


def _with_content(element: Any) -> dict[str, Any]:
    """Open answers that are JSON in a text, as SageMaker nests them."""
    opened = {}
    for key, value in element.items():
        if isinstance(value, dict) and isinstance(value.get(_CONTENT), str):
            try:
                opened[key] = json.loads(value[_CONTENT])
            except ValueError:
                opened[key] = value
        else:
            opened[key] = value
    return opened


def _fresh(name: str, taken: Mapping[str, Any]) -> str:
    return f"answer.{name}" if name in taken else name


def _as_list(value: Any) -> list[Any] | None:
    if isinstance(value, list) and not any(isinstance(v, dict) for v in value):
        return [several(v) if isinstance(v, list) else v for v in value]
    if isinstance(value, str) and "," in value:
        return [part.strip() for part in value.split(",")]
    return [value] if isinstance(value, str | int) and value != "" else None


def _parallel(rows: Sequence[Row]) -> str | None:
    """A column of lists of people that others go along with, answer by answer."""
    for column in sorted(_names(rows), key=lambda c: -worker_strength(c.rpartition(".")[2])):
        named = worker_strength(column.rpartition(".")[2]) > 1 or column.endswith(".users")
        lists = [_as_list(row.get(column)) for row in rows]
        n_several = sum(people is not None and len(people) > 1 for people in lists)
        if not named or n_several < _OFTEN * len(rows) or _has_blank(lists):
            continue
        if _along(rows, column):
            return column
    return None


def _has_blank(lists: Sequence[list[Any] | None]) -> bool:
    return any(not str(name).strip() for people in lists for name in people or [])


def _along(rows: Sequence[Row], people: str) -> list[str]:
    """The columns whose cells have as many parts as there are people."""
    found = []
    for column in _names(rows):
        if column == people:
            continue
        pairs = [(_as_list(row.get(people)), _as_list(row.get(column))) for row in rows]
        both = [(a, b) for a, b in pairs if a and b]
        same = [len(a) == len(b) for a, b in both]
        several = [len(a) for a, _ in both if len(a) > 1]
        if both and several and sum(same) >= _MOST * len(same) and len(both) >= 0.5 * len(rows):
            found.append(column)
    return found


def _from_parallel(rows: Sequence[Row], people: str) -> Rows:
    along = _along(rows, people)
    made: Rows = []
    for number, row in enumerate(rows):
        rest = {n: v for n, v in row.items() if n != people and n not in along}
        names = _as_list(row.get(people)) or []
        cells = {column: _as_list(row.get(column)) or [] for column in along}
        for at, name in enumerate(names):
            answers = {c: v[at] if len(v) == len(names) else None for c, v in cells.items()}
            made.append((number, {**rest, people: name, **answers}))
    return made


def _by_person(rows: Sequence[Row]) -> str | None:
    """A column of objects that have a plain answer, or one object of answers, for each person."""

    def fits(value: Any) -> bool:
        return isinstance(value, dict) and bool(value)

    columns = [
        column
        for column in _names(rows)
        if label_strength(column)
        or worker_strength(column)
        or column.endswith(("votes", "answers"))
    ]
    for column in columns:
        keys = {tuple(sorted(row[column])) for row in rows if isinstance(row.get(column), dict)}
        varied = len(keys) > 1 or worker_strength(column) > 1
        if _share(rows, column, fits) >= _MOST and varied:
            return column
    return None


def _from_object(rows: Sequence[Row], column: str) -> Rows:
    made: Rows = []
    for number, row in enumerate(rows):
        rest = {n: v for n, v in row.items() if n != column and worker_strength(n) < 2}  # noqa: PLR2004
        for name, answer in (row.get(column) or {}).items():
            answers = flat(answer) if isinstance(answer, dict) else {column: answer}
            fresh = {_fresh(key, rest): value for key, value in answers.items()}
            made.append((number, {**rest, "annotator": name, **fresh}))
    return made


SHAPE = Shape(title="answers with their annotators", matches=_matches, rows=_rows, order=9)
