"""The health report of prepared labels: counts of all tasks and buckets, added up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import DataError, Kind
from crowdcore.prepared.coding import CodedBucket, CodeTables, components
from crowdcore.prepared.sources import Columns
from crowdcore.reading.columns.roles import Guess, Roles
from crowdcore.reading.finding_kinds import FEW_LABELS
from crowdcore.reading.findings import MAX_EXAMPLES, Finding, make_finding
from crowdcore.reading.labels.health import HealthReport
from crowdcore.reading.labels.spelling import check_spellings
from crowdcore.wording import count

_LEFT_OUT = ("rejected", "missing_ids", "blank_rows", "empty_labels")


def row_findings(rows: Counter[str], buckets: Sequence[CodedBucket]) -> list[Finding]:
    """Say which rows were left out, and why.

    Parameters
    ----------
    rows
        Counts of the first pass, by the id of the finding.
    buckets
        What the second pass found.

    Returns
    -------
    list of Finding
    """
    findings = [
        make_finding(
            "trimmed_ids",
            rows["trimmed_ids"],
            examples=("Counted by rows.",),
            done="The blanks were cut off; ids that became equal are one.",
        )
    ]
    findings += [
        make_finding(
            name,
            rows[name],
            severity="warning" if name == "missing_ids" else "notice",
            done="They were left out.",
            left_out=rows[name],
        )
        for name in _LEFT_OUT
    ]
    for name in ("exact_duplicates", "contradictions"):
        found = [bucket.findings[name] for bucket in buckets if bucket.findings[name]["count"]]
        if not found:
            findings.append(make_finding(name, 0))
            continue
        findings.append(
            make_finding(
                name,
                sum(each["count"] for each in found),
                severity=found[0]["severity"],
                examples=[text for each in found for text in each["examples"]][:MAX_EXAMPLES],
                done=found[0]["done"],
                left_out=sum(each["left_out"] for each in found),
            )
        )
    return findings


def label_findings(key_counts: NDArray[np.int64], tables: CodeTables, kind: Kind) -> list[Finding]:
    """Check the classes: other spellings of one another, and a single one."""
    if kind == "ratings":
        return []
    given = dict(zip(tables.classes, key_counts.sum(0).tolist(), strict=True))
    used = [name for name, number in given.items() if number]
    return [
        check_spellings(given),
        make_finding(
            "one_class",
            given[used[0]] if len(used) == 1 else 0,
            severity="warning",
            examples=map(repr, used),
        ),
    ]


def coverage_findings(
    buckets: Sequence[CodedBucket],
    per_worker: NDArray[np.int64],
    workers: Sequence[str],
    links: Sequence[NDArray[np.int32]],
) -> list[Finding]:
    """Check who labelled what: single labels, thin workers, islands.

    Parameters
    ----------
    buckets
        What the second pass found.
    per_worker
        Labels of each worker [W].
    workers
        Their names.
    links
        For each bucket the lowest code among those that each worker [W] is linked to.

    Returns
    -------
    list of Finding
    """
    n_single, n_items = sum(b.n_single for b in buckets), sum(b.sizes.n_items for b in buckets)
    thin = np.flatnonzero(per_worker < FEW_LABELS)
    everybody = np.arange(len(workers), dtype=np.int32)
    firsts = np.concatenate([np.flatnonzero(link != everybody) for link in links])
    seconds = np.concatenate([link[link != everybody] for link in links])
    island, sizes = np.unique(
        components(firsts.astype(np.int32), seconds, len(workers)), return_counts=True
    )
    order = np.argsort(-sizes, kind="stable")[:MAX_EXAMPLES]
    return [
        make_finding(
            "single_label_items",
            n_single,
            severity="warning" if 2 * n_single > n_items else "notice",
        ),
        make_finding(
            "thin_workers",
            len(thin),
            examples=(f"worker {workers[at]!r}: {per_worker[at]}" for at in thin[:MAX_EXAMPLES]),
        ),
        make_finding(
            "islands",
            len(island) if len(island) > 1 else 0,
            severity="warning",
            examples=(
                f"{count(sizes[at], 'worker')}, such as worker {workers[island[at]]!r}"
                for at in order
            ),
        ),
    ]


def gold_findings(
    buckets: Sequence[CodedBucket], tables: CodeTables, of_file: Sequence[Finding]
) -> list[Finding]:
    """Say which known answers clash, and which belong to no item."""
    conflicts = sum(bucket.gold_conflicts for bucket in buckets)
    findings = [*of_file]
    if conflicts:
        findings.append(
            make_finding(
                "gold_conflicts", conflicts, severity="warning", done="The first answer was kept."
            )
        )
    if tables.gold:
        matched = sum(bucket.gold_matched for bucket in buckets)
        if not matched:
            raise DataError(
                f"No item in gold has a label; gold has {next(iter(tables.gold))!r}",
                fix="Check that both files use the same item ids.",
            )
        findings.append(
            make_finding(
                "gold_without_labels",
                len(tables.gold) - matched,
                done="Their answers were left out.",
            )
        )
    return findings


def make_report(
    files: Sequence[Path],
    columns: Columns,
    guess: Guess,
    tables: CodeTables,
    buckets: Sequence[CodedBucket],
    *,
    findings: Sequence[Finding],
    n_rows: int,
) -> HealthReport:
    """Put the health report together; every row is accounted for."""
    roles = Roles(item=columns.item, worker=columns.worker, label=columns.label, gold=columns.gold)
    name = files[0].name if len(files) == 1 else f"{files[0].name} and {len(files) - 1} more"
    return HealthReport(
        findings=tuple(findings),
        source=name,
        n_rows=n_rows,
        n_answers=n_rows,
        n_labels=sum(bucket.sizes.n_labels for bucket in buckets),
        n_items=sum(bucket.sizes.n_items for bucket in buckets),
        n_workers=len(tables.workers),
        n_classes=0 if columns.kind == "ratings" else len(tables.classes),
        roles=roles,
        reasons=dict(guess.reasons),
    )
