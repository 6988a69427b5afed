"""Zooniverse: classifications of a highlighter task."""

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


def _matches(files: Sequence[TextFile]) -> float:
    columns = table_columns(files[0])
    is_export = {"subject_ids", "user_name", "annotations"} <= set(columns)
    return float(len(files) == 1 and is_export and "labelInformation" in files[0].text)


def _read(files: Sequence[TextFile], cleaning: Cleaning, tally: Tally) -> list[AnnotatedText]:
    file = files[0]
    marked: dict[str, MarkedText] = {}
    for row in table_rows(file):
        subject, worker = row["subject_ids"], row["user_name"]
        text = marked.get(subject)
        if text is None:
            text = marked[subject] = MarkedText(name=subject, text=_text(row, subject, file.name))
        if worker in text.passages:
            tally.count("repeated_annotations", f"{worker} on {subject}")
        text.passages[worker] = list(_passages(json_cell(row["annotations"]), file.name))
    return [to_tokens(text, cleaning, tally) for text in marked.values()]


def _text(row: dict[str, str], subject: str, file: str) -> str:
    data = json_cell(row.get("subject_data", "")) or {}
    fields = data.get(subject, data) if isinstance(data, dict) else {}
    for name, value in fields.items():
        if isinstance(value, str) and name.lower().strip("#! ") in ("text", "content", "sentence"):
            return value
    raise DataError(
        f"The subject {subject} has no text",
        file=file,
        column="subject_data",
        fix="Put the text of a subject into its manifest, in a column 'text'.",
    )


def _passages(tasks: Any, file: str) -> Iterator[Passage]:
    for task in tasks if isinstance(tasks, list) else ():
        values = task.get("value") if isinstance(task, dict) else None
        for mark in values if isinstance(values, list) else ():
            information = mark.get("labelInformation") if isinstance(mark, dict) else None
            if isinstance(information, dict):
                name = information.get("label") or information.get("id")
                yield passage(mark.get("start"), mark.get("end"), name, file)


FORMAT = TextFormat(title="Zooniverse text highlights", matches=_matches, read=_read)
