"""CoNLL: one token per line with its truth, a blank line between sentences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crowdcore.export.finished import FinishedRun
from crowdcore.export.targets import ExportFile, Target


def _obstacle(run: FinishedRun) -> str:
    if run.data.kind != "sequences" or run.data.offsets is None:
        return f"It takes tokens of sentences, and these are {run.data.kind}."
    return ""


def _write(run: FinishedRun, path: Path) -> None:
    offsets = run.data.offsets
    if offsets is None:
        raise ValueError(_obstacle(run))
    tokens = run.data.details.get("token", run.texts)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for start, stop in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            for token, truth in zip(tokens[start:stop], run.truth[start:stop], strict=True):
                file.write(f"{' '.join(token.split()) or '_'} -X- _ {truth or 'O'}\n")
            file.write("\n")


def _files(run: FinishedRun) -> Sequence[ExportFile]:
    return [ExportFile(name=f"{run.name}.conll", write=lambda path: _write(run, path))]


TARGET = Target(
    id="conll",
    title="CoNLL",
    contents="Tokens and their truths, one per line, for `spacy convert` and taggers.",
    order=23,
    obstacle=_obstacle,
    files=_files,
)
