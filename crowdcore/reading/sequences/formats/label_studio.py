"""Label Studio: JSON with annotations of type "labels", positions by character."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crowdcore.data import DataError
from crowdcore.reading.labels.cleaning import Cleaning
from crowdcore.reading.sequences.annotated import AnnotatedText, Tally
from crowdcore.reading.sequences.files import TextFile
from crowdcore.reading.sequences.formats import TextFormat
from crowdcore.reading.sequences.records import first_record, passage, records
from crowdcore.reading.sequences.tokens import MarkedText, Passage, to_tokens


def _spans(annotation: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        entry
        for entry in annotation.get("result") or ()
        if isinstance(entry, dict) and entry.get("type") in ("labels", "hypertextlabels")
    ]


def _matches(files: Sequence[TextFile]) -> float:
    first = first_record(files[0])
    if len(files) != 1 or "data" not in first or not isinstance(first.get("annotations"), list):
        return 0.0
    return float('"labels"' in files[0].text and '"start"' in files[0].text)


def _worker(annotation: dict[str, Any]) -> str:
    by = annotation.get("completed_by")
    if isinstance(by, dict):
        by = by.get("email") or by.get("id")
    if by is None:
        raise DataError(
            "An annotation does not say who completed it",
            fix="Export the project from Label Studio as JSON, with 'completed_by'.",
        )
    return str(by)


def _read(files: Sequence[TextFile], cleaning: Cleaning, tally: Tally) -> list[AnnotatedText]:
    texts = []
    for number, task in enumerate(records(files[0]), 1):
        annotations = [a for a in task.get("annotations") or () if isinstance(a, dict)]
        field = next((s.get("to_name") for a in annotations for s in _spans(a)), None)
        fields = task.get("data") or {}
        # `to_name` names a tag of the form; its field is usually called alike.
        words = fields.get(field) or fields.get("text")
        if words is None:
            words = next((value for value in fields.values() if isinstance(value, str)), "")
        marked = MarkedText(name=str(task.get("id", number)), text=str(words))
        for annotation in annotations:
            worker = _worker(annotation)
            if annotation.get("was_cancelled"):
                where = f"{worker} on {marked.name}"
                tally.count("refused_annotations", where, left_out=1)
                continue
            passages: list[Passage] = []
            for entry in _spans(annotation):
                value = entry.get("value") or {}
                names = value.get("labels") or value.get("hypertextlabels") or ()
                passages += [
                    passage(value.get("start"), value.get("end"), name, files[0].name)
                    for name in names
                ]
            if annotation.get("ground_truth"):
                marked.gold = passages
            else:
                if worker in marked.passages:
                    tally.count("repeated_annotations", f"{worker} on {marked.name}")
                marked.passages[worker] = passages
        texts.append(to_tokens(marked, cleaning, tally))
    return texts


FORMAT = TextFormat(title="Label Studio (JSON)", matches=_matches, read=_read)
