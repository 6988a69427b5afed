"""Cleaning: what is done to the rows of a file before they become labels, and the proof of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import DataError
from crowdcore.io.health import Finding, check, counted
from crowdcore.io.platforms import find_platform
from crowdcore.io.table import Table
from crowdcore.io.triples import Triples, forget, rename

Keep = Literal["drop", "keep"]
Contradictions = Literal["all", "last", "first", "drop"]


@dataclass(frozen=True, kw_only=True)
class Cleaning:
    """What to do about faults in a file; each step that changes anything is reported."""

    exact_duplicates: Keep = "drop"
    contradictions: Contradictions = "last"
    spellings: Mapping[str, str] = field(default_factory=dict)  # variant -> what to write instead
    empty_labels: Keep = "drop"
    missing: tuple[str, ...] = ()  # labels that mean "no answer", such as NA
    rejected: Keep = "drop"  # rows that the platform marked as rejected
    trim_ids: bool = True  # blanks around ids of items and workers
    pseudonyms: bool = False  # worker 1, worker 2, … instead of the workers' ids

    def __post_init__(self) -> None:
        words = {"contradictions": get_args(Contradictions)}
        words |= dict.fromkeys(("exact_duplicates", "empty_labels", "rejected"), get_args(Keep))
        for name, allowed in words.items():
            if getattr(self, name) not in allowed:
                raise DataError(
                    f"{name} is {getattr(self, name)!r}", fix=f"Choose one of {', '.join(allowed)}."
                )
        object.__setattr__(self, "missing", tuple(self.missing))

    def with_option(self, option: Mapping[str, Any]) -> Cleaning:
        """Add the fix that a finding proposes; spellings and missing marks are added up."""
        known = {field.name for field in fields(self)}
        if unknown := sorted(set(option) - known):
            raise DataError(f"There is no cleaning option {unknown[0]!r}")
        values = dict(option)
        if "spellings" in values:
            values["spellings"] = {**self.spellings, **values["spellings"]}
        if "missing" in values:
            values["missing"] = tuple(dict.fromkeys([*self.missing, *values["missing"]]))
        return replace(self, **values)


def blank(names: Sequence[str]) -> NDArray[np.bool_]:
    """Which names are empty or only blanks."""
    return np.array([not name.strip() for name in names], bool)


def drop_rejected(
    table: Table, triples: Triples, cleaning: Cleaning
) -> tuple[Triples, list[Finding]]:
    """Leave out the rows that the platform itself marks as rejected."""
    platform = find_platform(table.columns)
    marks = dict(platform.rejected) if platform else {}
    findings = []
    for column, values in marks.items():
        if column not in table.columns:
            continue
        coded = table.coded(column)
        out = np.array([name in values for name in coded.names], bool)[coded.codes][triples.row]
        rows = triples.row[out]
        drop = cleaning.rejected == "drop"
        findings.append(
            check(
                "rejected",
                "Rows that the platform marks as rejected",
                len(rows),
                examples=(f"{table.place(row)}: {column} = {values[0]}" for row in rows[:5]),
                done="They were left out." if drop else "",
                fix="Keep them." if drop else "Leave them out.",
                option={"rejected": "keep" if drop else "drop"},
            )
        )
        triples = triples.only(~out) if drop and len(rows) else triples
    return triples, findings


def trim_ids(triples: Triples, cleaning: Cleaning) -> tuple[Triples, list[Finding]]:
    """Cut blanks around the ids, so that 'w1 ' and 'w1' are one worker."""
    if not cleaning.trim_ids:
        return triples, []
    padded = [
        (what, name)
        for what, names in (("item", triples.items), ("worker", triples.workers))
        for name in names
        if name != name.strip()
    ]
    finding = check(
        "trimmed_ids",
        "Blanks around ids",
        len(padded),
        examples=(
            f"{what} {name!r}" for what, name in padded if what == "item" or not cleaning.pseudonyms
        ),
        done="The blanks were cut off; ids that became equal are one.",
        fix="Read the ids as they are.",
        option={"trim_ids": False},
    )
    if padded:
        item, items = rename(triples.item, triples.items, str.strip)
        worker, workers = rename(triples.worker, triples.workers, str.strip)
        triples = replace(triples, item=item, items=items, worker=worker, workers=workers)
    return triples, [finding]


def apply_pseudonyms(triples: Triples, cleaning: Cleaning) -> tuple[Triples, list[Finding]]:
    """Call the workers by number, before any report can quote their ids."""
    if not cleaning.pseudonyms:
        return triples, []
    named = [bool(name.strip()) for name in triples.workers]
    numbers = np.cumsum(named).tolist()
    workers = tuple(
        f"worker {number}" if there else "" for number, there in zip(numbers, named, strict=True)
    )
    finding = check(
        "pseudonyms",
        "Workers who are called by number",
        sum(named),
        done="Their ids were replaced in the order in which they appear, as you asked.",
    )
    # Two blank names may be left when ids were not trimmed; renaming makes them one.
    worker, workers = rename(triples.worker, workers, str)
    return replace(triples, worker=worker, workers=workers), [finding]


def drop_nameless(table: Table, triples: Triples) -> tuple[Triples, list[Finding]]:
    """Leave out rows without an item or a worker: wholly blank ones, and faulty ones."""
    blank_items, blank_workers = blank(triples.items), blank(triples.workers)
    no_item, no_worker = blank_items[triples.item], blank_workers[triples.worker]
    empty = no_item & no_worker & blank(triples.labels)[triples.label]
    faulty = (no_item | no_worker) & ~empty
    rows = triples.row[faulty]
    findings = [
        check(
            "missing_ids",
            "Rows without an item or a worker",
            len(rows),
            severity="warning",
            examples=(
                f"{table.place(row)}: no {'item' if without else 'worker'}"
                for row, without in zip(rows[:5], no_item[faulty][:5], strict=True)
            ),
            done="They were left out.",
            fix="Complete them in the file.",
        )
    ]
    if empty.any():
        rows = triples.row[empty]
        findings.append(
            check(
                "blank_rows",
                "Blank rows",
                len(rows),
                examples=(table.place(row) for row in rows[:5]),
                done="They were left out.",
            )
        )
    triples = triples.only(~(faulty | empty))
    item, items = forget(triples.item, triples.items, blank_items)
    worker, workers = forget(triples.worker, triples.workers, blank_workers)
    return replace(triples, item=item, items=items, worker=worker, workers=workers), findings


def drop_idle_workers(triples: Triples) -> tuple[Triples, list[Finding]]:
    """Leave out workers whose every label was left out, or who gave none."""
    idle = np.bincount(triples.worker, minlength=len(triples.workers)) == 0
    if not idle.any():
        return triples, []
    finding = check(
        "idle_workers",
        "Workers without a label",
        int(idle.sum()),
        examples=(f"worker {triples.workers[at]!r}" for at in np.flatnonzero(idle)[:5]),
        done="They were left out: nothing can be said about them.",
    )
    worker, workers = forget(triples.worker, triples.workers, idle)
    return replace(triples, worker=worker, workers=workers), [finding]


def drop_empty(table: Table, triples: Triples, cleaning: Cleaning) -> tuple[Triples, list[Finding]]:
    """Leave out labels that are no answer: empty ones, and those that the user calls missing."""
    empty = blank(triples.labels)
    absent = np.array([name in cleaning.missing for name in triples.labels], bool)
    rows = triples.row[empty[triples.label]]
    drop = cleaning.empty_labels == "drop"
    findings = [
        check(
            "empty_labels",
            "Empty labels",
            len(rows),
            examples=(table.place(row) for row in rows[:5]),
            done="They were left out: no answer is no label." if drop else "",
            fix="Keep them as a class of their own." if drop else "Leave them out.",
            option={"empty_labels": "keep" if drop else "drop"},
        )
    ]
    out = (empty & drop) | absent
    marked = int(absent[triples.label].sum())
    if marked:
        names = [name for name, gone in zip(triples.labels, absent, strict=True) if gone]
        findings.append(
            check(
                "missing",
                "Labels that mean no answer",
                marked,
                examples=(repr(name) for name in names),
                done="They were left out, as you asked.",
            )
        )
    return triples.only(~out[triples.label]), findings


def apply_spellings(triples: Triples, cleaning: Cleaning) -> tuple[Triples, list[Finding]]:
    """Write labels as the user asked; nothing is merged unasked."""
    changed = [name for name in triples.labels if canonical(name, cleaning.spellings) != name]
    if not changed:
        return triples, []
    counts = np.bincount(triples.label, minlength=len(triples.labels))
    count = dict(zip(triples.labels, counts.tolist(), strict=True))
    finding = check(
        "spellings_applied",
        "Labels that were spelled anew",
        sum(count[name] for name in changed),
        examples=(
            f"{name!r} is now {canonical(name, cleaning.spellings)!r} "
            f"({counted(count[name], 'label')})"
            for name in changed
        ),
        done="They were merged, as you asked.",
    )
    label, labels = rename(
        triples.label, triples.labels, lambda name: canonical(name, cleaning.spellings)
    )
    return replace(triples, label=label, labels=labels), [finding]


def canonical(name: str, spellings: Mapping[str, str]) -> str:
    """What a label is to be called, also over several steps."""
    seen = {name}
    while name in spellings:
        name = spellings[name]
        if name in seen:
            break
        seen.add(name)
    return name
