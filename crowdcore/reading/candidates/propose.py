"""propose_readings: every complete reading of a file, with a score by stated rules."""

from __future__ import annotations

from collections.abc import Sequence

from crowdcore.reading.candidates.long_readings import long_readings
from crowdcore.reading.candidates.reading import DECLINED, KINDS, Candidate, Readings, Refusal
from crowdcore.reading.candidates.refusals import describe
from crowdcore.reading.candidates.regions import region_kind
from crowdcore.reading.candidates.source_file import look_at
from crowdcore.reading.candidates.wide_readings import wide_readings
from crowdcore.reading.columns.names import worker_strength
from crowdcore.reading.columns.platforms import find_platform
from crowdcore.reading.parsing.open import open_table
from crowdcore.reading.parsing.source import Source
from crowdcore.reading.parsing.table import Table


def propose_readings(source: Source | Table, *, name: str | None = None) -> Readings:
    r"""Make every complete reading of a file and score each by stated rules.

    Parameters
    ----------
    source
        A path, bytes, an open binary file, or a table that `open_table` gave.
    name
        The file's name for messages; that of the source unless given.

    Returns
    -------
    Readings
        The candidates, the best first; or why there is nothing to audit.

    Examples
    --------
    >>> readings = propose_readings(b"task,worker,label\nt1,w1,cat\nt1,w2,dog\nt2,w1,cat\n")
    >>> readings.best.roles.worker
    'worker'
    """
    table = open_table(source, name=name)
    platform = find_platform(table.columns)
    if platform is not None and platform.hints is None:
        refused = Refusal(seems=platform.seems, advice=platform.refusal)
        return Readings(table=table, refusal=refused)
    file = look_at(table, platform)
    candidates = [*long_readings(file), *wide_readings(file)]
    readable = [candidate for candidate in candidates if candidate.kind not in DECLINED]
    readable.sort(key=lambda candidate: -candidate.score)
    best_read = readable[0] if readable else None
    people = candidates or any(worker_strength(column) > 1 for column in file.table.columns)
    if (kind := region_kind(file.measures, best_read)) and (people or kind == "boxes"):
        return Readings(table=table, candidates=tuple(readable), refusal=_not_supported(kind))
    if readable:
        best = readable[0]
        refusal = _declined(candidates, best) or _single_worker(best)
        return Readings(table=table, candidates=tuple(readable), refusal=refusal)
    if candidates:
        best = max(candidates, key=lambda candidate: candidate.score)
        return Readings(table=table, refusal=_not_supported(best.kind))
    return Readings(table=table, refusal=describe(file.measures))


def _declined(candidates: Sequence[Candidate], best: Candidate) -> Refusal | None:
    """Refuse a file whose main answers are of a kind that is not read."""
    declined = [candidate for candidate in candidates if candidate.kind in DECLINED]
    top = max(declined, key=lambda candidate: candidate.score, default=None)
    return None if top is None or top.score <= best.score else _not_supported(top.kind)


def _not_supported(kind: str) -> Refusal:
    advice = {
        "rankings": "Orders of several things cannot be audited yet. Compare them two at a time, "
        "or keep the first choice of each as a class.",
        "boxes": "Boxes, points, masks and drawings cannot be audited. Export the classes that "
        "were given to whole items.",
        "spans": "Export the spans as one tag per token (CoNLL), with the annotator.",
        "free text": "Answers in free words cannot be compared. Choose a column with a few classes "
        "by hand, if there is one.",
    }
    return Refusal(seems=f"answers that are {KINDS[kind]}", advice=advice[kind], kind=kind)


def _single_worker(best: Candidate) -> Refusal | None:
    if best.counts.workers != 1:
        return None
    worker = next((name for name in best.labels.workers if name.strip()), "")
    return Refusal(
        seems=f"the work of one annotator, {worker!r}: {best.counts.describe()}",
        advice="One annotator cannot be checked against others. Give the files of all annotators "
        "together, in a zip or a folder.",
        kind=best.kind,
        readable=True,
    )
