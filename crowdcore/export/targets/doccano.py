"""doccano: one document per line with the truth as its label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from crowdcore.export.finished import FinishedRun
from crowdcore.export.targets import ExportFile, Target, needs_classes
from crowdcore.export.targets._jsonl import write_records


def _records(run: FinishedRun) -> Iterator[dict[str, Any]]:
    for item, name in enumerate(run.data.items):
        truth = run.truth[item]
        yield {
            "text": run.texts[item],
            "label": [truth] if truth else [],
            "item": name,
            "confidence": round(float(run.confidence[item]), 4) if truth else None,
        }


def _files(run: FinishedRun) -> Sequence[ExportFile]:
    return [
        ExportFile(
            name=f"{run.name}-doccano.jsonl", write=lambda path: write_records(_records(run), path)
        )
    ]


TARGET = Target(
    id="doccano",
    title="doccano",
    contents="JSON lines for Import Dataset (JSONL, text classification): text and label; item and "
    "confidence become metadata.",
    order=21,
    obstacle=needs_classes,
    files=_files,
)
