"""spaCy: texts with the probability of every class, to train a text classifier on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from crowdcore.export.finished import FinishedRun
from crowdcore.export.targets import ExportFile, Target, needs_classes, span_file
from crowdcore.export.targets._jsonl import write_records


def _records(run: FinishedRun, *, soft: bool) -> Iterator[dict[str, Any]]:
    for item, name in enumerate(run.data.items):
        truth = run.truth[item]
        if not truth:
            continue
        cats = {label: float(label == truth) for label in run.data.classes}
        if soft and run.posterior is not None:
            shares = run.posterior[item].tolist()
            cats = dict(zip(run.data.classes, map(float, shares), strict=True))
        yield {"text": run.texts[item], "cats": cats, "meta": {"item": name}}


def _files(run: FinishedRun) -> Sequence[ExportFile]:
    files = [
        ExportFile(
            name="textcat.jsonl", write=lambda path: write_records(_records(run, soft=False), path)
        )
    ]
    if run.posterior is not None:
        soft = ExportFile(
            name="textcat-soft.jsonl",
            write=lambda path: write_records(_records(run, soft=True), path),
        )
        files.append(soft)
    return files


TARGET = Target(
    id="spacy",
    title="spaCy",
    contents="JSON lines with text and cats, for a text classifier: once with the truth as 1, once "
    "with the probability of every class. Undecided items are left out. Spans become entities.",
    order=22,
    obstacle=needs_classes,
    files=_files,
    span_files=lambda run: span_file(run, "spacy.jsonl"),
)
