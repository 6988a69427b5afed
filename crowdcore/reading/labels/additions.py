"""Adding to data that are there already: gold answers, item features, more labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from crowdcore.codes import natural_order
from crowdcore.data import UNKNOWN, Codes, CrowdData, DataError
from crowdcore.reading.features.pictures import DEFAULT_SIDE_PIXELS
from crowdcore.reading.features.read import read_features
from crowdcore.reading.findings import Finding
from crowdcore.reading.labels.checks import check_labels
from crowdcore.reading.labels.cleaning import Cleaning
from crowdcore.reading.labels.coded_labels import CodedLabels
from crowdcore.reading.labels.duplicates import settle_repeats
from crowdcore.reading.labels.gold import gold_file
from crowdcore.reading.labels.health import HealthReport
from crowdcore.reading.labels.read import read_labels
from crowdcore.reading.parsing.open import open_table
from crowdcore.reading.parsing.source import Source
from crowdcore.reading.parsing.table import Table


@dataclass(frozen=True, kw_only=True, eq=False)
class Extended:
    """Data with something added.

    Parameters
    ----------
    data
        All of the data, the old and the new, with a report on all of them.
    added
        How many of what is new, by its noun in the singular; what stayed out is not among them.
    findings
        What was found while the addition was read.
    """

    data: CrowdData
    added: Mapping[str, int]
    findings: tuple[Finding, ...] = ()


def add_gold(data: CrowdData, source: Source, *, name: str | None = None) -> Extended:
    """Add known answers; an item's new answer takes the place of its old one.

    Parameters
    ----------
    data
        Labels of classes.
    source
        A file of items and their answers.
    name
        The file's name for messages; that of the source unless given.

    Returns
    -------
    Extended
        With the number of items that have an answer now and had none, and of changed answers.

    Raises
    ------
    DataError
        If the file cannot be used, or says nothing new.
    """
    _check_kind(data, "Gold answers")
    table = open_table(source, name=name)
    gold = gold_file(table, data.items, Cleaning())
    answers = [gold.answers[code] if code != UNKNOWN else None for code in gold.codes.tolist()]
    new_classes = {answer for answer in answers if answer is not None} - set(data.classes)
    data = _with_classes(data, natural_order({*data.classes, *new_classes}))
    code_of = {name: code for code, name in enumerate(data.classes)}
    new = np.array([UNKNOWN if a is None else code_of[a] for a in answers], np.int32)
    old = np.full(data.n_items, UNKNOWN, np.int32) if data.gold is None else data.gold
    is_new = (new != UNKNOWN) & (old == UNKNOWN)
    is_changed = (new != UNKNOWN) & (old != UNKNOWN) & (new != old)
    added = _counts({"gold answer": is_new, "changed gold answer": is_changed})
    if not added:
        raise DataError("Every gold answer of this file is there already", file=table.name)
    merged = replace(data, gold=np.where(new == UNKNOWN, old, new))
    findings = (*table.findings, *gold.findings)
    return Extended(data=_with_counts(merged), added=added, findings=findings)


def add_features(
    data: CrowdData,
    source: Source,
    *,
    name: str | None = None,
    picture_size: int = DEFAULT_SIDE_PIXELS,
) -> Extended:
    """Add what is known about the items; it takes the place of earlier features.

    Parameters
    ----------
    data
        Labels.
    source
        A table, an NPY or NPZ, or a folder or zip of pictures.
    name
        The file's name for messages; that of the source unless given.
    picture_size
        The side in pixels to which pictures are brought.

    Returns
    -------
    Extended
        With the number of features that an item has now.

    Raises
    ------
    DataError
        If the file cannot be used.
    """
    features = read_features(source, data.items, name=name, picture_size=picture_size)
    extended = replace(
        data, features=features.values, feature_names=features.names, recipe=features.recipe
    )
    if data.report is not None:
        extended = replace(extended, report=replace(data.report, features=features.description))
    findings = (*features.file_findings, *features.findings)
    added = {"item feature": extended.n_features}
    return Extended(data=extended, added=added, findings=findings)


def add_labels(data: CrowdData, source: Source, *, name: str | None = None) -> Extended:
    """Add labels of another file, of items and workers that are known or new.

    A label that is there already is kept once. Where a worker's new label of an item differs from
    the old one, the later one counts: by time where both files have times, else the new one.

    Parameters
    ----------
    data
        Labels of classes.
    source
        A file of labels. Its columns are read like those of the first file where they have the
        same names.
    name
        The file's name for messages; that of the source unless given.

    Returns
    -------
    Extended
        With the numbers of new labels, items, workers and gold answers.

    Raises
    ------
    DataError
        If the file cannot be used, or says nothing new.
    """
    _check_kind(data, "Labels")
    table = open_table(source, name=name)
    more = read_labels(table, roles=_same_roles(data.report, table))
    if more.kind != data.kind:
        raise DataError(
            f"These labels are {more.kind}, and those of the data set are {data.kind}",
            file=table.name,
            fix="Bring them in as a project of their own.",
        )
    classes = natural_order({*data.classes, *more.classes})
    parts = (_with_classes(data, classes), _with_classes(more, classes))
    joined, findings = settle_repeats(*_joined(*parts), Cleaning())
    merged = _merged(*parts, joined)
    n_left_out = sum(finding.left_out for finding in findings)
    added = {
        "label": more.n_labels - n_left_out,
        "item": merged.n_items - data.n_items,
        "worker": merged.n_workers - data.n_workers,
        "gold answer": merged.n_gold - data.n_gold,
    }
    added = {noun: n for noun, n in added.items() if n > 0}
    if not added and not findings[1].left_out:
        raise DataError("Every label of this file is there already", file=table.name)
    report = _report(data, more, joined, findings)
    return Extended(
        data=replace(merged, report=report), added=added, findings=tuple(more.report.findings)
    )


def _check_kind(data: CrowdData, what: str) -> None:
    if data.kind != "classes":
        raise DataError(
            f"{what} can only be added to labels that are classes, and these are {data.kind}",
            fix="Bring everything in again as one file.",
        )


def _counts(masks: Mapping[str, Any]) -> dict[str, int]:
    return {noun: int(mask.sum()) for noun, mask in masks.items() if mask.any()}


def _same_roles(report: HealthReport | None, table: Table) -> dict[str, str] | None:
    """The roles of the first file, where the second has the same columns."""
    roles = None if report is None else report.roles
    if roles is None or roles.layout != "long":
        return None
    names = {role: getattr(roles, role) for role in ("item", "worker", "label")}
    return names if all(name in table.columns for name in names.values()) else None


def _with_classes(data: CrowdData, classes: tuple[str, ...]) -> CrowdData:
    """The same data with codes of more classes."""
    if classes == data.classes:
        return data
    code_of = {name: code for code, name in enumerate(classes)}
    mapping = np.array([code_of[name] for name in data.classes] + [UNKNOWN], np.int32)
    gold = None if data.gold is None else mapping[data.gold]
    return replace(data, classes=classes, label=mapping[data.label], gold=gold)


def _with_counts(data: CrowdData) -> CrowdData:
    if data.report is None:
        return data
    return replace(data, report=replace(data.report, n_classes=data.n_classes))


def _codes(names: tuple[str, ...], others: tuple[str, ...]) -> tuple[Codes, tuple[str, ...]]:
    """The codes of other names [others] among all names, and all names."""
    code_of = {name: code for code, name in enumerate(names)}
    codes = [code_of.setdefault(name, len(code_of)) for name in others]
    return np.array(codes, np.int32), tuple(code_of)


def _joined(data: CrowdData, more: CrowdData) -> tuple[Table, CodedLabels]:
    """All labels, the new ones last, and a table that says so in messages."""
    item_codes, items = _codes(data.items, more.items)
    worker_codes, workers = _codes(data.workers, more.workers)
    n_labels = data.n_labels + more.n_labels
    has_times = data.time is not None and more.time is not None
    labels = CodedLabels(
        row=np.arange(n_labels, dtype=np.int32),
        item=np.concatenate([data.item, item_codes[more.item]]),
        worker=np.concatenate([data.worker, worker_codes[more.worker]]),
        label=np.concatenate([data.label, more.label]),
        items=items,
        workers=workers,
        classes=data.classes,
        time=np.concatenate([data.time, more.time]) if has_times else None,
    )
    return Table(name="all labels", data=pa.table({"row": np.arange(n_labels)})), labels


def _merged(data: CrowdData, more: CrowdData, labels: CodedLabels) -> CrowdData:
    """Data of the labels that are left; what belongs to items is taken from both."""
    position, _ = _codes(data.items, more.items)
    gold = None
    if data.gold is not None or more.gold is not None:
        gold = np.full(len(labels.items), UNKNOWN, np.int32)
        if more.gold is not None:
            gold[position] = more.gold
        if data.gold is not None:
            known = np.flatnonzero(data.gold != UNKNOWN)
            gold[known] = data.gold[known]
    features = None
    if data.features is not None:
        features = np.full((len(labels.items), *data.features.shape[1:]), np.nan, np.float32)
        features[: data.n_items] = data.features
    n_new = len(labels.items) - data.n_items
    details = {name: (*texts, *[""] * n_new) for name, texts in data.details.items()}
    kept = labels.row
    durations = [
        np.full(part.n_labels, np.nan) if part.duration is None else part.duration
        for part in (data, more)
    ]
    has_duration = data.duration is not None or more.duration is not None
    return CrowdData(
        item=labels.item,
        worker=labels.worker,
        label=labels.label,
        items=labels.items,
        workers=labels.workers,
        classes=labels.classes,
        gold=gold,
        features=features,
        feature_names=data.feature_names,
        recipe=data.recipe,
        time=labels.time,
        duration=np.concatenate(durations)[kept] if has_duration else None,
        details=details,
    )


def _report(
    data: CrowdData, more: CrowdData, labels: CodedLabels, findings: list[Finding]
) -> HealthReport:
    """A report on all labels; what each file held is in the report of its own."""
    first: HealthReport = data.report or more.report
    return replace(
        first,
        findings=(*findings, *check_labels(labels, wide=False)),
        source=f"{first.source}, {more.report.source}",
        n_rows=data.n_labels + more.n_labels,
        n_answers=data.n_labels + more.n_labels,
        n_labels=len(labels.row),
        n_items=len(labels.items),
        n_workers=len(labels.workers),
        n_classes=len(labels.classes),
    )
