"""Prodigy: one task per line with the truth as the accepted option."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from crowdcore.export.finished import FinishedRun
from crowdcore.export.targets import ExportFile, Target, needs_classes
from crowdcore.export.targets._jsonl import write_records


def _records(run: FinishedRun) -> Iterator[dict[str, Any]]:
    options = [{"id": name, "text": name} for name in run.data.classes]
    shown = "image" if run.shows_pictures else "text"
    for item, name in enumerate(run.data.items):
        truth = run.truth[item]
        meta: dict[str, Any] = {"item": name}
        if truth:
            meta |= {"confidence": round(float(run.confidence[item]), 4), "method": run.model}
        yield {
            shown: name if run.shows_pictures else run.texts[item],
            "options": options,
            "accept": [truth] if truth else [],
            "answer": "accept" if truth else "ignore",
            "_view_id": "choice",
            "meta": meta,
        }


def _files(run: FinishedRun) -> Sequence[ExportFile]:
    return [
        ExportFile(
            name=f"{run.name}-prodigy.jsonl", write=lambda path: write_records(_records(run), path)
        )
    ]


TARGET = Target(
    id="prodigy",
    title="Prodigy",
    contents="JSON lines for `prodigy db-in`: each item with all classes as options and the truth "
    "accepted; undecided items are marked ignore.",
    order=20,
    obstacle=needs_classes,
    files=_files,
)
