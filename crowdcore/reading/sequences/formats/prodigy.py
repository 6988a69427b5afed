"""Prodigy: JSON lines with text, spans and who annotated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crowdcore.data import DataError
from crowdcore.reading.labels.cleaning import Cleaning
from crowdcore.reading.sequences.annotated import AnnotatedText, Tally, is_gold
from crowdcore.reading.sequences.files import TextFile
from crowdcore.reading.sequences.formats import TextFormat
from crowdcore.reading.sequences.records import first_record, passage, records
from crowdcore.reading.sequences.tokens import MarkedText, to_tokens


def _matches(files: Sequence[TextFile]) -> float:
    first = first_record(files[0])
    has_spans = "spans" in first or '"spans"' in files[0].text
    return float("text" in first and has_spans and ("answer" in first or "_input_hash" in first))


def _read(files: Sequence[TextFile], cleaning: Cleaning, tally: Tally) -> list[AnnotatedText]:
    by_text: dict[str, MarkedText] = {}
    for file in files:
        for number, record in enumerate(records(file), 1):
            words = str(record.get("text", ""))
            key = str(record.get("_input_hash", words))
            marked = by_text.get(key)
            if marked is None:
                meta = record.get("meta") if isinstance(record.get("meta"), dict) else {}
                name = str(record.get("id") or (meta or {}).get("id") or len(by_text) + 1)
                marked = by_text[key] = MarkedText(
                    name=name, text=words, tokens=_tokens(record), document=_document(meta)
                )
            worker = record.get("_annotator_id") or record.get("_session_id")
            if not worker and len(files) > 1:
                worker = file.path.stem
            if not worker:
                raise DataError(
                    "A line does not say who annotated it",
                    file=file.name,
                    row=number,
                    fix="Export it with '_annotator_id' or '_session_id', or give a file per "
                    "worker in a folder or zip.",
                )
            if record.get("answer", "accept") != "accept":
                where = f"{worker} on {marked.name}: {record['answer']}"
                tally.count("refused_annotations", where, left_out=1)
                continue
            passages = [
                passage(span.get("start"), span.get("end"), span.get("label"), file.name)
                for span in record.get("spans") or ()
            ]
            if is_gold(str(worker)):
                marked.gold = passages
                continue
            if str(worker) in marked.passages:
                tally.count("repeated_annotations", f"{worker} on {marked.name}")
            marked.passages[str(worker)] = passages
    return [to_tokens(marked, cleaning, tally) for marked in by_text.values()]


def _document(meta: Any) -> str:
    return str((meta or {}).get("doc") or (meta or {}).get("document") or "")


def _tokens(record: dict[str, Any]) -> list[tuple[int, int]] | None:
    tokens = record.get("tokens")
    if not isinstance(tokens, list) or not tokens:
        return None
    return [(int(token["start"]), int(token["end"])) for token in tokens]


FORMAT = TextFormat(title="Prodigy", matches=_matches, read=_read)
