"""doccano: JSON lines with text and spans, one file per member in a folder or zip."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crowdcore.data import DataError
from crowdcore.reading.labels.cleaning import Cleaning
from crowdcore.reading.sequences.annotated import AnnotatedText, Tally, is_gold
from crowdcore.reading.sequences.files import TextFile
from crowdcore.reading.sequences.formats import TextFormat
from crowdcore.reading.sequences.records import first_record, passage, records
from crowdcore.reading.sequences.tokens import MarkedText, Passage, to_tokens

_COLLABORATIVE = frozenset({"all", "admin", "unknown"})


def _spans(record: dict[str, Any]) -> list[Any] | None:
    for name in ("entities", "label", "labels"):
        if isinstance(record.get(name), list):
            return list(record[name])
    return None


def _is_span(entry: Any) -> bool:
    is_triple = isinstance(entry, list) and len(entry) == 3 and isinstance(entry[0], int)  # noqa: PLR2004
    return is_triple or (isinstance(entry, dict) and "start_offset" in entry)


def _matches(files: Sequence[TextFile]) -> float:
    if not all(first_record(file).get("text") is not None for file in files):
        return 0.0
    entries = [entry for record in records(files[0]) for entry in _spans(record) or ()]
    return 0.8 if entries and all(_is_span(entry) for entry in entries) else 0.0


def _read(files: Sequence[TextFile], cleaning: Cleaning, tally: Tally) -> list[AnnotatedText]:
    by_text: dict[str, MarkedText] = {}
    for file in files:
        for record in records(file):
            words = str(record.get("text", ""))
            marked = by_text.setdefault(
                words, MarkedText(name=str(record.get("id", len(by_text) + 1)), text=words)
            )
            worker = str(record.get("annotator") or record.get("username") or file.path.stem)
            if worker.lower() in _COLLABORATIVE or (
                len(files) == 1 and worker == file.path.stem and "annotator" not in record
            ):
                raise DataError(
                    "The file does not say who annotated: doccano's collaborative mode keeps no "
                    "worker",
                    file=file.name,
                    fix="Switch it off and export again: each member then has a file, "
                    "and the zip can be read.",
                )
            passages = [_passage(entry, file.name) for entry in _spans(record) or ()]
            if is_gold(worker):
                marked.gold = passages
                continue
            if worker in marked.passages:
                tally.count("repeated_annotations", f"{worker} on {marked.name}")
            marked.passages[worker] = passages
    return [to_tokens(marked, cleaning, tally) for marked in by_text.values()]


def _passage(entry: Any, file: str) -> Passage:
    if isinstance(entry, dict):
        return passage(entry.get("start_offset"), entry.get("end_offset"), entry.get("label"), file)
    return passage(entry[0], entry[1], entry[2], file)


FORMAT = TextFormat(title="doccano", matches=_matches, read=_read)
