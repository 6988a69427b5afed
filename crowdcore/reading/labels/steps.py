"""The steps from the cells of a file to labels that can be used; each accounts for its rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from crowdcore.reading.columns.platforms import find_platform
from crowdcore.reading.findings import Finding, make_finding
from crowdcore.reading.labels.cleaning import Cleaning
from crowdcore.reading.labels.coded_labels import CodedLabels, remove_names, rename
from crowdcore.reading.labels.duplicates import settle_repeats
from crowdcore.reading.parsing.table import Table
from crowdcore.wording import count

Step = Callable[[Table, CodedLabels, Cleaning], tuple[CodedLabels, list[Finding]]]


def clean(
    table: Table, labels: CodedLabels, cleaning: Cleaning
) -> tuple[CodedLabels, list[Finding]]:
    """Take every step of cleaning.

    Parameters
    ----------
    table
        The table that the labels come from.
    labels
        The labels as they stand in the file.
    cleaning
        What to do about faults.

    Returns
    -------
    CodedLabels
        What is left.
    list of Finding
        What was found and done.

    Raises
    ------
    AssertionError
        If a step leaves out labels without a finding that counts them: a bug.
    """
    findings: list[Finding] = []
    for step in STEPS:
        n_before = len(labels.row)
        labels, step_findings = step(table, labels, cleaning)
        n_reported = sum(finding.left_out for finding in step_findings)
        if n_before - len(labels.row) != n_reported:
            raise AssertionError(
                f"{step.__name__} left out {n_before - len(labels.row)} of {n_before} labels "
                f"and reports {n_reported}"
            )
        findings += step_findings
    return labels, findings


def is_blank(names: Sequence[str]) -> NDArray[np.bool_]:
    """Tell which names are empty or only blanks."""
    return np.array([not name.strip() for name in names], bool)


def drop_rejected(
    table: Table, labels: CodedLabels, cleaning: Cleaning
) -> tuple[CodedLabels, list[Finding]]:
    """Leave out the rows that the platform itself marks as rejected."""
    platform = find_platform(table.columns)
    marks = dict(platform.rejected) if platform else {}
    drop = cleaning.rejected == "drop"
    findings = []
    for column, values in marks.items():
        if column not in table.columns:
            continue
        coded = table.coded(column)
        refused = np.array([name in values for name in coded.names], bool)[coded.codes]
        rows = labels.row[refused[labels.row]]
        findings.append(
            make_finding(
                "rejected",
                len(rows),
                examples=(f"{table.locate(row)}: {column} = {values[0]}" for row in rows[:5]),
                done="They were left out." if drop else "",
                fix=None if drop else "Leave them out.",
                option={"rejected": "keep" if drop else "drop"},
                left_out=len(rows) if drop else 0,
            )
        )
        labels = labels.only(~refused[labels.row]) if drop else labels
    return labels, findings


def count_tests(
    table: Table, labels: CodedLabels, cleaning: Cleaning
) -> tuple[CodedLabels, list[Finding]]:
    """Count the rows that the platform marks as questions with known answers; they are kept."""
    platform = find_platform(table.columns)
    marked = np.zeros(table.n_rows, bool)
    shown = []
    for name, values in platform.tests.items() if platform else ():
        columns = [c for c in table.columns if c == name or c.startswith(name.rstrip("*"))]
        for column in columns if name.endswith("*") else [c for c in columns if c == name]:
            coded = table.coded(column)
            is_test = [n in values if values else bool(n.strip()) for n in coded.names]
            marked |= np.array(is_test, bool)[coded.codes]
            shown.append(column)
    n_tests = int(marked[labels.row].sum())
    finding = make_finding(
        "platform_tests",
        n_tests,
        examples=(f"marked in {column!r}" for column in shown),
        done="They were kept, like all others.",
    )
    return labels, [finding]


def trim_ids(
    table: Table, labels: CodedLabels, cleaning: Cleaning
) -> tuple[CodedLabels, list[Finding]]:
    """Cut blanks around the ids, so that 'w1 ' and 'w1' are one worker."""
    if not cleaning.trim_ids:
        return labels, []
    padded = [
        (noun, name)
        for noun, names in (("item", labels.items), ("worker", labels.workers))
        for name in names
        if name != name.strip()
    ]
    finding = make_finding(
        "trimmed_ids",
        len(padded),
        examples=(
            f"{noun} {name!r}" for noun, name in padded if noun == "item" or not cleaning.pseudonyms
        ),
        done="The blanks were cut off; ids that became equal are one.",
        option={"trim_ids": False},
    )
    if padded:
        item, items = rename(labels.item, labels.items, str.strip)
        worker, workers = rename(labels.worker, labels.workers, str.strip)
        labels = replace(labels, item=item, items=items, worker=worker, workers=workers)
    return labels, [finding]


def apply_pseudonyms(
    table: Table, labels: CodedLabels, cleaning: Cleaning
) -> tuple[CodedLabels, list[Finding]]:
    """Call the workers by number, before any report can quote their ids."""
    if not cleaning.pseudonyms:
        return labels, []
    named = ~is_blank(labels.workers)
    numbers = np.cumsum(named).tolist()
    pseudonyms = tuple(
        f"worker {number}" if has_name else ""
        for number, has_name in zip(numbers, named.tolist(), strict=True)
    )
    finding = make_finding(
        "pseudonyms",
        int(named.sum()),
        done="Their ids were replaced in the order in which they appear, as you asked.",
    )
    # Two blank names may be left when ids were not trimmed; renaming makes them one.
    worker, workers = rename(labels.worker, pseudonyms, str)
    return replace(labels, worker=worker, workers=workers), [finding]


def drop_nameless(
    table: Table, labels: CodedLabels, cleaning: Cleaning
) -> tuple[CodedLabels, list[Finding]]:
    """Leave out rows without an item or a worker: wholly blank ones, and faulty ones."""
    blank_items, blank_workers = is_blank(labels.items), is_blank(labels.workers)
    no_item, no_worker = blank_items[labels.item], blank_workers[labels.worker]
    empty = no_item & no_worker & is_blank(labels.classes)[labels.label]
    faulty = (no_item | no_worker) & ~empty
    rows = labels.row[faulty]
    findings = [
        make_finding(
            "missing_ids",
            len(rows),
            severity="warning",
            examples=(
                f"{table.locate(row)}: no {'item' if lacks_item else 'worker'}"
                for row, lacks_item in zip(rows[:5], no_item[faulty][:5], strict=True)
            ),
            done="They were left out.",
            left_out=len(rows),
        )
    ]
    if empty.any():
        rows = labels.row[empty]
        findings.append(
            make_finding(
                "blank_rows",
                len(rows),
                examples=(table.locate(row) for row in rows[:5]),
                done="They were left out.",
                left_out=len(rows),
            )
        )
    labels = labels.only(~(faulty | empty))
    item, items = remove_names(labels.item, labels.items, blank_items)
    worker, workers = remove_names(labels.worker, labels.workers, blank_workers)
    return replace(labels, item=item, items=items, worker=worker, workers=workers), findings


def drop_empty(
    table: Table, labels: CodedLabels, cleaning: Cleaning
) -> tuple[CodedLabels, list[Finding]]:
    """Leave out labels that are no answer: empty ones, and those that the user calls missing."""
    empty = is_blank(labels.classes)
    rows = labels.row[empty[labels.label]]
    drop = cleaning.empty_labels == "drop"
    findings = [
        make_finding(
            "empty_labels",
            len(rows),
            examples=(table.locate(row) for row in rows[:5]),
            done="They were left out: no answer is no label." if drop else "",
            fix=None if drop else "Leave them out.",
            option={"empty_labels": "keep" if drop else "drop"},
            left_out=len(rows) if drop else 0,
        )
    ]
    labels = labels.only(~empty[labels.label]) if drop else labels
    absent = np.array([name in cleaning.missing for name in labels.classes], bool)
    n_absent = int(absent[labels.label].sum())
    if n_absent:
        marks = [name for name, is_mark in zip(labels.classes, absent, strict=True) if is_mark]
        findings.append(
            make_finding(
                "missing",
                n_absent,
                examples=map(repr, marks),
                done="They were left out: no answer is no label.",
                left_out=n_absent,
            )
        )
        labels = labels.only(~absent[labels.label])
    return labels, findings


def apply_spellings(
    table: Table, labels: CodedLabels, cleaning: Cleaning
) -> tuple[CodedLabels, list[Finding]]:
    """Write labels as the user asked; nothing is merged unasked."""
    changed = [name for name in labels.classes if cleaning.spell(name) != name]
    if not changed:
        return labels, []
    counts = np.bincount(labels.label, minlength=len(labels.classes))
    n_labels = dict(zip(labels.classes, counts.tolist(), strict=True))
    finding = make_finding(
        "spellings_applied",
        sum(n_labels[name] for name in changed),
        examples=(
            f"{name!r} is now {cleaning.spell(name)!r} ({count(n_labels[name], 'label')})"
            for name in changed
        ),
        done="They were merged, as you asked.",
    )
    label, classes = rename(labels.label, labels.classes, cleaning.spell)
    return replace(labels, label=label, classes=classes), [finding]


def drop_idle_workers(
    table: Table, labels: CodedLabels, cleaning: Cleaning
) -> tuple[CodedLabels, list[Finding]]:
    """Leave out workers whose every label was left out, or who gave none."""
    idle = np.bincount(labels.worker, minlength=len(labels.workers)) == 0
    if not idle.any():
        return labels, []
    finding = make_finding(
        "idle_workers",
        int(idle.sum()),
        examples=(f"worker {labels.workers[at]!r}" for at in np.flatnonzero(idle)[:5]),
        done="They were left out: nothing can be said about them.",
    )
    worker, workers = remove_names(labels.worker, labels.workers, idle)
    return replace(labels, worker=worker, workers=workers), [finding]


STEPS: tuple[Step, ...] = (
    drop_rejected,
    count_tests,
    trim_ids,
    apply_pseudonyms,
    drop_nameless,
    drop_empty,
    apply_spellings,
    settle_repeats,
    drop_idle_workers,
)
"""In this order: ids are settled before labels, and repeats are judged by the final spelling."""
