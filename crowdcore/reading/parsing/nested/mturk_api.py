"""Assignments of the Mechanical Turk API, whose answers are XML."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from crowdcore.reading.parsing.nested import Record, Row, Rows, Shape, flat

_XML = "QuestionFormAnswers"


def _matches(records: Sequence[Record]) -> bool:
    return all(
        "WorkerId" in record and "Answer" in record and _XML in str(record["Answer"])
        for record in records
    )


def _rows(records: Sequence[Record]) -> Rows:
    return [(number, _row(record)) for number, record in enumerate(records)]


def _row(record: Record) -> Row:
    row = flat({key: value for key, value in record.items() if key != "Answer"})
    try:
        root = ElementTree.fromstring(str(record["Answer"]).strip())
    except ElementTree.ParseError:
        return {**row, "Answer.unreadable": str(record["Answer"])}
    for answer in root:
        name, texts = "", []
        for part in answer:
            tag = part.tag.rpartition("}")[2]
            if tag == "QuestionIdentifier":
                name = part.text or ""
            elif part.text:
                texts.append(part.text)
        row[f"Answer.{name}"] = "\n".join(texts)
    return row


SHAPE = Shape(title="Mechanical Turk's API", matches=_matches, rows=_rows)
