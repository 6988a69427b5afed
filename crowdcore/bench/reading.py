"""How well files are read without help: against a manifest of what a right reading is."""

from __future__ import annotations

import csv
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdcore.data import DataError
from crowdcore.reading.candidates.propose import propose_readings
from crowdcore.reading.candidates.reading import DECLINED, Candidate, Counts, Readings

MANIFEST = "manifest.csv"

PROTOCOL = (
    "A reading is right if it finds the manifest's numbers of items, workers, labels and distinct "
    "answers, for the question that is read or for one that is listed beside it. Also right: to "
    "refuse a file that is to be refused, or the work of one annotator, and to decline rankings, "
    "drawings, spans and free text by name. Everything else that is read is wrong: silent if the "
    "reader has no doubt."
)

_OUTCOMES = ("right", "asked", "refused", "wrong in doubt", "wrong in silence")
_DECLINED_KINDS = {
    "ranking": ("rankings",),
    "spans": ("spans", "boxes"),
    "boxes": ("boxes", "spans"),
    "drawing": ("boxes",),
    "text": ("free text",),
    "free text": ("free text",),
}
"""For kinds of the manifest that are declined, by which name."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one file.

    Parameters
    ----------
    file, platform, kind
        Those of the manifest.
    outcome
        "right", "asked" in a close call, "refused", "wrong in doubt" or "wrong in silence".
    read_as
        The reading in words, or why there is none.
    counts
        What was found; None where nothing was read.
    wanted
        What was to be found; None for a file that is to be refused.
    seconds
        How long it took.
    """

    file: str
    platform: str
    kind: str
    outcome: str
    read_as: str
    counts: Counts | None
    wanted: Counts | None
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as plain JSON values."""
        return {
            "file": self.file,
            "platform": self.platform,
            "kind": self.kind,
            "outcome": self.outcome,
            "read_as": self.read_as,
            "counts": None if self.counts is None else vars(self.counts),
            "wanted": None if self.wanted is None else vars(self.wanted),
            "seconds": round(self.seconds, 2),
        }


def read_manifest(folder: Path) -> list[dict[str, str]]:
    """Read the manifest of a folder of files.

    Parameters
    ----------
    folder
        The folder.

    Returns
    -------
    list of dict
        Its rows.

    Raises
    ------
    DataError
        If there is no manifest.
    """
    path = folder / MANIFEST
    if not path.is_file():
        raise DataError(
            f"There is no {MANIFEST} in {str(folder)!r}",
            fix="It says for each file what a right reading is.",
        )
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def judge_file(folder: Path, row: dict[str, str]) -> Outcome:
    """Read a file without any hint and compare with the manifest.

    Parameters
    ----------
    folder
        The folder of the files.
    row
        The file's row of the manifest.

    Returns
    -------
    Outcome
    """
    began = time.perf_counter()
    wanted = None if row["want"] == "refuse" else _wanted(row)
    counts: Counts | None = None
    try:
        readings = propose_readings(folder / row["file"])
    except DataError as error:
        outcome, read_as = ("right" if wanted is None else "refused"), str(error)
    else:
        best = readings.best
        counts = None if best is None else best.counts
        outcome, read_as = _judge(readings, row, wanted)
    return Outcome(
        file=row["file"],
        platform=row.get("platform", ""),
        kind=row.get("kind", ""),
        outcome=outcome,
        read_as=read_as,
        counts=counts,
        wanted=wanted,
        seconds=time.perf_counter() - began,
    )


def _wanted(row: dict[str, str]) -> Counts:
    numbers = {name: int(row[name] or 0) for name in ("items", "workers", "labels", "classes")}
    return Counts(**numbers)


def _judge(readings: Readings, row: dict[str, str], wanted: Counts | None) -> tuple[str, str]:
    best, refusal = readings.best, readings.refusal
    if refusal is not None:
        is_right = wanted is None or _rightly_refused(row, wanted, refusal.kind)
        return ("right" if is_right else "refused"), f"refused: {refusal.seems}"
    if best is None:
        return "refused", "no reading"
    if not readings.settled:
        return "asked", best.title
    matching = _matching(best, wanted)
    if matching is not None:
        return "right", matching
    in_doubt = bool(best.doubt)
    return ("wrong in doubt" if in_doubt else "wrong in silence"), best.title


def _rightly_refused(row: dict[str, str], wanted: Counts, kind: str) -> bool:
    if wanted.workers == 1:
        return True
    return kind in DECLINED and kind in _DECLINED_KINDS.get(row.get("kind", ""), ())


def _matching(best: Candidate, wanted: Counts | None) -> str | None:
    """The reading that finds what was wanted, among the questions of the best."""
    if wanted is None:
        return None
    for question in best.questions or ():
        if not question.readable:
            continue
        candidate = best.ask(question.name)
        if candidate.counts == wanted:
            return candidate.title
    return None


def summary(outcomes: list[Outcome]) -> str:
    """Sum up in one line."""
    counts = {name: sum(o.outcome == name for o in outcomes) for name in _OUTCOMES}
    n_right = counts.pop("right")
    rest = ", ".join(f"{number} {name}" for name, number in counts.items())
    return f"{n_right} of {len(outcomes)} right without help, {rest}."
