"""CoNLL: one token per line with its truth, a blank line between sentences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crowdcore.export.finished import FinishedRun
from crowdcore.export.targets import ExportFile, Target


def _obstacle(run: FinishedRun) -> str:
    return f"It takes texts with spans, and these are {run.data.kind}."


def _write(run: FinishedRun, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for line in run.span_files["tags.conll"]().splitlines():
            if line.startswith("# id = ") and "\t" not in line:
                continue
            token, _, rest = line.partition("\t")
            tag = rest.partition("\t")[0]
            file.write(f"{' '.join(token.split()) or '_'} -X- _ {tag}\n" if rest else "\n")


def _files(run: FinishedRun) -> Sequence[ExportFile]:
    return [ExportFile(name=f"{run.name}.conll", write=lambda path: _write(run, path))]


TARGET = Target(
    id="conll",
    title="CoNLL",
    contents="Tokens and their truths, one per line, for `spacy convert` and taggers.",
    order=23,
    obstacle=_obstacle,
    files=_files,
    span_files=_files,
)
