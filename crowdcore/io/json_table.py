"""JSON and JSON lines: records, columns, or {item: {worker: label}}."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from crowdcore.data import DataError
from crowdcore.io.roles import is_role_name, name_rank
from crowdcore.io.table import Table

_SUFFIXES = (".json", ".jsonl", ".ndjson", ".manifest")
_FIX = "Give a list of records, one record a line, or {item: {worker: label}}."


class _Number(float):
    """A JSON number with decimals that remembers how it was written."""

    text: str

    def __new__(cls, text: str) -> _Number:
        number = super().__new__(cls, text)
        number.text = text
        return number


def looks_like_json(head: str, suffix: str) -> bool:
    """Tell JSON by its first sign; a CSV may begin with a bracket, too."""
    start = head.lstrip("\ufeff \t\r\n")
    if suffix in _SUFFIXES:
        return True
    if start[:1] == "{":
        return '"' in start[:200] or start[:2] == "{}"
    return start[:1] == "[" and start[1:].lstrip()[:1] in ('"', "{", "[", "]")


def read_json(text: str, file: str) -> Table:
    """Read JSON of any of the known shapes."""
    text = text.lstrip("\ufeff")
    lines = _json_lines(text, file)
    value = _load(text, file) if lines is None else lines
    if lines is not None:
        columns, how = _from_records(lines, file), "Read as JSON lines, one record a line."
    elif isinstance(value, list):
        columns, how = _from_records(value, file), "Read as a JSON list of records."
    elif isinstance(value, dict):
        columns, how = _from_dict(value, file)
    else:
        raise DataError("The JSON is neither a list nor an object", file=file, fix=_FIX)
    blank = "\n\n" in text or "\n\r\n" in text or text.startswith("\n")
    first = 1 if lines is not None and not blank else None
    return Table(name=file, data=_arrow(columns, file), how=how, first_line=first)


def _json_lines(text: str, file: str) -> list[Any] | None:
    """All lines as records; None where the text is one JSON value."""
    # Not splitlines: JSON strings may hold U+2028 and its like as they are.
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) == 1 and not lines[0].lstrip().startswith("{"):
        return None
    try:
        first = json.loads(lines[0])
    except (ValueError, RecursionError):
        return None
    if not isinstance(first, dict) or (len(lines) == 1 and not _is_record(first)):
        return None
    try:
        loaded: list[Any] = _loads("[" + ",".join(lines) + "]")
    except (ValueError, RecursionError):
        raise _first_fault(text, file) from None
    return loaded


def _is_record(value: Mapping[str, Any]) -> bool:
    """Whether a lone object is a record rather than a whole table of answers."""
    flat = not all(isinstance(inner, dict | list) for inner in value.values())
    return flat and any(is_role_name(key) for key in value)


def _first_fault(text: str, file: str) -> DataError:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            _loads(line)
        except (ValueError, RecursionError) as error:
            return _fault(error, file, number)
    return DataError("The lines are not JSON", file=file, fix=_FIX)


def _fault(error: Exception, file: str, line: int | None) -> DataError:
    reason = getattr(error, "msg", None) or str(error)
    if isinstance(error, RecursionError):
        reason = "it is nested too deeply"
    fix = "Repair that line, or export the file again."
    return DataError(f"The JSON is not valid: {reason}", file=file, row=line, fix=fix)


def _load(text: str, file: str) -> Any:
    try:
        return _loads(text)
    except (ValueError, RecursionError) as error:
        raise _fault(error, file, getattr(error, "lineno", None)) from None


def _loads(text: str) -> Any:
    return json.loads(text, parse_float=_Number, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that is there twice, where JSON would silently keep the last."""
    unique = dict(pairs)
    if len(unique) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} is there twice in one object")
    return unique


def _from_records(records: Sequence[Any], file: str) -> dict[str, list[str]]:
    if not records:
        raise DataError("The JSON holds no record", file=file, fix=_FIX)
    for number, record in enumerate(records, 1):
        if not isinstance(record, dict):
            what = type(record).__name__
            raise DataError(f"Record {number} is a {what}, not an object", file=file, fix=_FIX)
    keys = dict.fromkeys(key for record in records for key in record)
    return {key: [_text(record.get(key)) for record in records] for key in keys}


def _from_dict(value: Mapping[str, Any], file: str) -> tuple[dict[str, list[str]], str]:
    inner = list(value.values())
    if not inner:
        raise DataError("The JSON is an empty object", file=file, fix=_FIX)
    if all(isinstance(one, list) for one in inner):
        if len({len(one) for one in inner}) > 1:
            raise DataError("The JSON's columns differ in length", file=file, fix=_FIX)
        return _columns(value), "Read as JSON columns."
    if all(isinstance(one, dict) for one in inner):
        same = all(list(one) == list(inner[0]) for one in inner)
        if same and any(name_rank("worker", key) is not None for key in value):
            plain = {key: list(one.values()) for key, one in value.items()}
            return _columns(plain), "Read as JSON columns."
        return _from_answers(value, file), "Read as JSON of the form {item: {worker: label}}."
    if not any(isinstance(one, dict | list) for one in inner):
        columns = {"item": list(value), "answer": [_text(one) for one in inner]}
        return columns, "Read as JSON of the form {item: answer}."
    raise DataError("The JSON has values of several kinds", file=file, fix=_FIX)


def _from_answers(value: Mapping[str, Mapping[str, Any]], file: str) -> dict[str, list[str]]:
    for item, answers in value.items():
        for worker, label in answers.items():
            if isinstance(label, dict | list):
                what = f"The label of worker {worker!r} for item {item!r} is nested"
                raise DataError(what, file=file, fix=_FIX)
    pairs = [(item, worker) for item, answers in value.items() for worker in answers]
    labels = [_text(label) for answers in value.values() for label in answers.values()]
    return {
        "item": [item for item, _ in pairs],
        "worker": [worker for _, worker in pairs],
        "label": labels,
    }


def _columns(value: Mapping[str, Sequence[Any]]) -> dict[str, list[str]]:
    return {key: [_text(cell) for cell in cells] for key, cells in value.items()}


def _text(value: Any) -> str:
    """Spell a JSON value as it stood in the file; null is an empty text."""
    if type(value) is str:
        return value
    if value is None:
        return ""
    if isinstance(value, _Number):
        return value.text
    if isinstance(value, bool | dict | list):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _arrow(columns: Mapping[str, list[str]], file: str) -> Any:
    import pyarrow as pa

    names = [name.strip() or f"column {place}" for place, name in enumerate(columns, 1)]
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise DataError("Two keys have the same name", file=file, column=twice[0])
    arrays = []
    for name, values in columns.items():
        try:
            arrays.append(pa.chunked_array([pa.array(values, pa.string())]))
        except (UnicodeEncodeError, pa.ArrowException):
            raise DataError(
                "A text holds half of a surrogate pair", file=file, column=ascii(name)
            ) from None
    try:
        return pa.table(dict(zip(names, arrays, strict=True)))
    except UnicodeEncodeError:
        raise DataError("A key holds half of a surrogate pair", file=file) from None
