"""JSON and JSON lines: records, columns, or {item: {worker: label}}."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from crowdcore.data import DataError
from crowdcore.reading.agreement import chance_corrected
from crowdcore.reading.columns.names import worker_strength
from crowdcore.reading.columns.roles import is_role_name, name_rank
from crowdcore.reading.parsing.encoding import decode, text_encoding, text_head
from crowdcore.reading.parsing.formats import Format, ParseOptions
from crowdcore.reading.parsing.nested import find_shape, flat
from crowdcore.reading.parsing.source import Content
from crowdcore.reading.parsing.table import Table, encode_column

_SUFFIXES = (".json", ".jsonl", ".ndjson", ".manifest")
_LOOKS_LIKE_JSON = 0.5
_PAIR = 2
_SHARED = 0.8
_CLEARLY_MORE = 0.1
_MIN_KEYS = 3
_MIN_LABELS = 30
_OWN_RECORD = ("answers", "data_row", "annotations")
"""Keys of an object that is one record by itself, however many lists it holds."""

_FIX = "Give a list of records, one record per line, or {item: {worker: label}}."


class _Number(float):
    """A JSON number with decimals that remembers how it was written."""

    text: str

    def __new__(cls, text: str) -> _Number:
        number = super().__new__(cls, text)
        number.text = text
        return number


def _matches(content: Content) -> float:
    """Tell JSON by its first sign, or by the file's name; a CSV may begin with a bracket, too."""
    encoding = text_encoding(content)
    if encoding is None:
        return 0
    if PurePath(content.name).suffix.lower() in _SUFFIXES:
        return _LOOKS_LIKE_JSON
    start = content.head.decode(encoding, "replace").lstrip("\ufeff \t\r\n")
    if start[:1] == "{":
        is_json = '"' in start[:200] or start[:2] == "{}"
    else:
        is_json = start[:1] == "[" and start[1:].lstrip()[:1] in ('"', "{", "[", "]")
    return _LOOKS_LIKE_JSON if is_json else 0


def _read(content: Content, options: ParseOptions) -> Table:
    """Read JSON of any of the known shapes."""
    del options  # JSON has no header line
    file, encoding = content.name, text_encoding(content) or "utf-8"
    text_head(content, encoding)  # refuses what is blank
    text = decode(content, encoding)[0].lstrip("\ufeff")
    lines = _json_lines(text, file)
    value = _load(text, file) if lines is None else lines
    records = _as_records(value)
    source_row = None
    if records is not None:
        columns, source_row, description = _from_records(records, file)
        how = "JSON lines, one record per line" if lines is not None else "JSON records"
        description = f"Read as {how}{description}."
    elif isinstance(value, dict):
        columns, description = _from_dict(value, file)
    elif isinstance(value, list):
        columns, source_row, description = _from_records(value, file)  # says what is wrong
    else:
        raise DataError("The JSON is neither a list nor an object", file=file, fix=_FIX)
    has_blank_lines = "\n\n" in text or "\n\r\n" in text or text.startswith("\n")
    return Table(
        name=file,
        data=_arrow(columns, file),
        description=description,
        first_line=1 if lines is not None and not has_blank_lines else None,
        source_row=source_row,
        n_source_rows=0 if source_row is None or records is None else len(records),
    )


def _as_records(value: Any) -> list[Mapping[str, Any]] | None:
    """Find the records of a JSON value; None where it has none."""
    if isinstance(value, dict) and value:
        return _in_object(value)
    if not isinstance(value, list) or not value:
        return None
    if all(isinstance(member, dict) for member in value):
        return value
    if all(_is_pair(member) for member in value):
        return [{"key": key, **inner} for key, inner in value]
    return None


def _in_object(value: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    """Find the records of a JSON object."""
    if "images" in value and isinstance(value.get("annotations"), list):  # COCO
        return _as_records(value["annotations"])
    lists = [m for m in value.values() if isinstance(m, list) and m and isinstance(m[0], dict)]
    if len(lists) == 1 and not any(name in value for name in _OWN_RECORD):
        return _as_records(lists[0])
    members = list(value.values())
    if all(isinstance(member, list) and member for member in members) and all(
        isinstance(inner, dict) for member in members for inner in member
    ):  # the assignments of each task
        return [{"key": key, **inner} for key, group in value.items() for inner in group]
    if all(isinstance(member, dict) for member in members) and _are_records(members):
        return [{"key": key, **inner} for key, inner in value.items()]
    return [value] if any(name in value for name in _OWN_RECORD) else None


def _is_pair(member: Any) -> bool:
    return isinstance(member, list) and len(member) == _PAIR and isinstance(member[1], dict)


def _are_records(members: Sequence[Mapping[str, Any]]) -> bool:
    """Whether objects are records rather than the answers of workers: they share their keys."""
    keys = Counter(key for member in members for key in member)
    shared = [key for key, times in keys.items() if times >= _SHARED * len(members)]
    if len(members) == 1:
        return sum(is_role_name(key) for key in shared) > 1
    nested = any(isinstance(member.get(key), dict | list) for key in shared for member in members)
    return nested or any(is_role_name(key) for key in shared)


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
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {repeated!r} is there twice in one object")
    return unique


def _from_records(
    records: Sequence[Mapping[str, Any]], file: str
) -> tuple[dict[str, list[str]], NDArray[np.int64] | None, str]:
    """Make columns of records; of nested ones with a row per answer, and where each comes from."""
    if not records:
        raise DataError("The JSON holds no record", file=file, fix=_FIX)
    for number, record in enumerate(records, 1):
        if not isinstance(record, dict):
            kind = type(record).__name__
            raise DataError(f"Record {number} is a {kind}, not an object", file=file, fix=_FIX)
    shape = find_shape(records)
    if shape is None:
        rows = [flat(record) for record in records]
        return columns_of(rows), None, ""
    numbered = shape.rows(records)
    if not numbered:
        raise DataError("No record of the JSON has an annotation", file=file, fix=_FIX)
    source_row = np.array([number for number, _ in numbered], np.int64)
    rows = [row for _, row in numbered]
    return columns_of(rows), source_row, f", laid out as {shape.title}"


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Write rows of JSON values as columns of text."""
    keys = dict.fromkeys(key for row in rows for key in row)
    return {key: [_text(row.get(key)) for row in rows] for key in keys}


def _from_dict(value: Mapping[str, Any], file: str) -> tuple[dict[str, list[str]], str]:
    members = list(value.values())
    if not members:
        raise DataError("The JSON is an empty object", file=file, fix=_FIX)
    if all(isinstance(member, list) for member in members):
        if len({len(member) for member in members}) > 1:
            raise DataError("The JSON's columns differ in length", file=file, fix=_FIX)
        return _columns(value), "Read as JSON columns."
    if all(isinstance(member, dict) for member in members):
        same_keys = all(list(member) == list(members[0]) for member in members)
        if same_keys and any(name_rank("worker", key) is not None for key in value):
            plain = {key: list(member.values()) for key, member in value.items()}
            return _columns(plain), "Read as JSON columns."
        return _from_answers(value, file)
    if not any(isinstance(member, dict | list) for member in members):
        columns = {"item": list(value), "answer": [_text(member) for member in members]}
        return columns, "Read as JSON of the form {item: answer}."
    raise DataError("The JSON has values of several kinds", file=file, fix=_FIX)


def _from_answers(
    value: Mapping[str, Mapping[str, Any]], file: str
) -> tuple[dict[str, list[str]], str]:
    """Make rows of {item: {worker: label}}, or of {worker: {item: label}}."""
    for item, answers in value.items():
        for worker, label in answers.items():
            if isinstance(label, dict | list):
                raise DataError(
                    f"The label of worker {worker!r} for item {item!r} is nested",
                    file=file,
                    fix=_FIX,
                )
    pairs = [(item, worker) for item, answers in value.items() for worker in answers]
    labels = [_text(label) for answers in value.values() for label in answers.values()]
    outer, inner = [item for item, _ in pairs], [worker for _, worker in pairs]
    if _outer_are_workers(outer, inner, labels):
        columns = {"item": inner, "worker": outer, "label": labels}
        return columns, "Read as JSON of the form {worker: {item: label}}."
    columns = {"item": outer, "worker": inner, "label": labels}
    return columns, "Read as JSON of the form {item: {worker: label}}."


def _outer_are_workers(outer: list[str], inner: list[str], labels: list[str]) -> bool:
    """Whether the outer keys name workers: by their words, or because labels agree within inner.

    Labels of one item agree; those of one worker do not, beyond how often classes come.
    """
    by_name = [
        all(worker_strength(key.rstrip("0123456789_- ")) > 1 for key in set(keys))
        for keys in (outer, inner)
    ]
    if by_name[0] != by_name[1] or len(labels) < _MIN_LABELS:
        return by_name[0]
    codes = [
        encode_column(pa.array(texts)).codes.astype(np.int64) for texts in (outer, inner, labels)
    ]
    within_outer, within_inner = (chance_corrected(codes[at], codes[2]) for at in (0, 1))
    fewer = _MIN_KEYS <= len(set(outer)) < len(set(inner))
    return fewer and within_inner > within_outer + _CLEARLY_MORE


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
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        return "\n".join(value)  # several answers in one cell
    if isinstance(value, bool | dict | list):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _arrow(columns: Mapping[str, list[str]], file: str) -> pa.Table:
    names = [name.strip() or f"column {number}" for number, name in enumerate(columns, 1)]
    if repeated := [name for name, times in Counter(names).items() if times > 1]:
        raise DataError("Two keys have the same name", file=file, column=repeated[0])
    arrays = []
    for name, values in columns.items():
        try:
            arrays.append(pa.chunked_array([pa.array(values, pa.string())]))
        except MemoryError:
            raise
        except (UnicodeEncodeError, pa.ArrowException):
            raise DataError(
                "A text holds half of a surrogate pair", file=file, column=ascii(name)
            ) from None
    try:
        return pa.table(dict(zip(names, arrays, strict=True)))
    except UnicodeEncodeError:
        raise DataError("A key holds half of a surrogate pair", file=file) from None


FORMAT = Format(title="JSON and JSON lines", matches=_matches, read=_read)
