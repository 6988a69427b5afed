"""CrowdFlower, Figure Eight, Appen: judgments whose cells hold highlighted passages as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from crowdcore.data import DataError
from crowdcore.reading.labels.cleaning import Cleaning
from crowdcore.reading.sequences.annotated import AnnotatedText, Tally
from crowdcore.reading.sequences.files import TextFile
from crowdcore.reading.sequences.formats import TextFormat
from crowdcore.reading.sequences.records import passage
from crowdcore.reading.sequences.tables import json_cell, table_columns, table_rows
from crowdcore.reading.sequences.tokens import MarkedText, Passage, to_tokens

_ROWS_LOOKED_AT = 50


def _entries(cell: str) -> list[dict[str, Any]] | None:
    """The highlighted passages of a cell; None where it holds something else."""
    value = json_cell(cell)
    entries = value if isinstance(value, list) else [value]
    found = [entry for entry in entries if isinstance(entry, dict) and _bounds(entry)]
    return found if found and len(found) == len(entries) else None


def _bounds(entry: dict[str, Any]) -> tuple[Any, Any] | None:
    for start, end in (("startIndex", "endIndex"), ("start", "end"), ("begin", "end")):
        if start in entry and end in entry:
            return entry[start], entry[end]
    return None


def _marked_column(file: TextFile) -> str | None:
    columns = table_columns(file)
    if not {"_unit_id", "_worker_id"} <= set(columns):
        return None
    for row, _ in zip(table_rows(file), range(_ROWS_LOOKED_AT), strict=False):
        for column in columns:
            if not column.startswith("_") and _entries(row.get(column, "")):
                return column
    return None


def _matches(files: Sequence[TextFile]) -> float:
    return float(len(files) == 1 and _marked_column(files[0]) is not None)


def _read(files: Sequence[TextFile], cleaning: Cleaning, tally: Tally) -> list[AnnotatedText]:
    file = files[0]
    column, columns = _marked_column(file), table_columns(file)
    text_column = next((c for c in ("text", "sentence", "content", "tweet") if c in columns), None)
    if text_column is None or column is None:
        raise DataError(
            "No column holds the text that was highlighted",
            file=file.name,
            fix="Add the source data to the export, in a column 'text'.",
        )
    marked: dict[str, MarkedText] = {}
    for row in table_rows(file):
        unit, worker = row["_unit_id"], row["_worker_id"]
        text = marked.setdefault(unit, MarkedText(name=unit, text=row[text_column]))
        if row.get("_tainted", "").lower() == "true":
            tally.count("refused_annotations", f"{worker} on {unit}", left_out=1)
            continue
        if worker in text.passages:
            tally.count("repeated_annotations", f"{worker} on {unit}")
        text.passages[worker] = list(_passages(row.get(column, ""), column, file.name))
    return [to_tokens(text, cleaning, tally) for text in marked.values()]


def _passages(cell: str, column: str, file: str) -> Iterator[Passage]:
    for entry in _entries(cell) or ():
        start, end = _bounds(entry) or (None, None)
        name = entry.get("label") or entry.get("class") or entry.get("type") or column
        yield passage(start, end, name, file)


FORMAT = TextFormat(title="CrowdFlower text highlights", matches=_matches, read=_read)
