"""read_labels: a file in, checked labels and a health report out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from crowdcore.data import UNKNOWN, Codes, CrowdData, DataError, Floats, natural_order
from crowdcore.io.checks import check_labels, check_personal
from crowdcore.io.cleaning import (
    Cleaning,
    apply_pseudonyms,
    apply_spellings,
    drop_empty,
    drop_idle_workers,
    drop_nameless,
    drop_rejected,
    trim_ids,
)
from crowdcore.io.features import Features, column_features, read_features
from crowdcore.io.gold import Gold, gold_checks, gold_column, gold_file, places
from crowdcore.io.guess import guess_roles
from crowdcore.io.health import Finding, HealthReport, check
from crowdcore.io.pictures import SIZE
from crowdcore.io.platforms import find_platform
from crowdcore.io.repeats import settle_repeats
from crowdcore.io.roles import Guess, Roles, override
from crowdcore.io.source import Source
from crowdcore.io.table import Table, open_table
from crowdcore.io.times import read_times
from crowdcore.io.triples import Triples, extract, item_of_rows, rename

__all__ = ["Cleaning", "read_labels"]

_WHO = {"item": "what was labelled", "worker": "who gave the label", "label": "the label"}


def read_labels(
    source: Source | Table,
    *,
    name: str | None = None,
    roles: Roles | Mapping[str, Any] | None = None,
    gold: Source | Table | None = None,
    gold_name: str | None = None,
    features: Source | Table | None = None,
    features_name: str | None = None,
    feature_columns: Sequence[str] = (),
    picture_size: int = SIZE,
    cleaning: Cleaning | None = None,
) -> CrowdData:
    """Read labels from a long or wide table; `data.report` says what was found and done.

    The roles of the columns are guessed; `roles` overrides the guess in whole or in part.
    Features come from a file of their own, or from `feature_columns` of the labels' table.
    """
    cleaning = cleaning or Cleaning()
    table = open_table(source, name=name)
    guess = override(guess_roles(table), roles, table.columns, file=table.name)
    _check_roles(table, guess)
    _check_feature_columns(table, guess.roles, feature_columns)
    if feature_columns and features is not None:
        raise DataError("Features come from a file or from columns, not from both")
    triples, time, findings = _clean(table, guess.roles, cleaning)
    if not len(triples.row):
        raise DataError(
            "No label is left after cleaning",
            file=table.name,
            column=guess.roles.label,
            fix="Check the roles of the columns and the cleaning options.",
        )
    if gold is None:
        known = gold_column(table, guess.roles, triples.items, cleaning)
    else:
        known = gold_file(open_table(gold, name=gold_name), triples.items, cleaning)
    details, varied = _details(table, guess.roles, triples.items, cleaning, feature_columns)
    extra = None
    if feature_columns:
        texts = {column: details[column] for column in feature_columns}
        extra = column_features(texts, triples.items, key=guess.roles.item or "", file=table.name)
    elif features is not None:
        extra = read_features(
            features,
            triples.items,
            name=features_name,
            trim=cleaning.trim_ids,
            picture_size=picture_size,
        )
    when = None if time is None else time[triples.row]
    data = _assemble(triples, known, extra, when, details)
    findings = [_doubts(guess), *findings, *varied]
    findings += check_labels(data, wide=guess.roles.layout == "wide")
    findings.append(check_personal(table, guess.roles, pseudonyms=cleaning.pseudonyms))
    findings += [] if known is None else gold_checks(known, data)
    findings += [] if extra is None else extra.findings
    if cleaning.pseudonyms:
        guess = _discreet(guess)
    report = _report(data, table, guess, findings)
    return replace(data, report=replace(report, features="" if extra is None else extra.words))


def _check_roles(table: Table, guess: Guess) -> None:
    roles = guess.roles
    found = {"item": roles.item, "worker": roles.worker, "label": roles.label}
    if roles.layout == "wide":
        found = {"worker_columns": roles.worker_columns[0] if roles.worker_columns else None}
    missing = [role for role, column in found.items() if column is None]
    if missing:
        raise _gap(table, missing[0])
    twice = [column for column, times in Counter(found.values()).items() if times > 1]
    if twice:
        raise DataError("One column has two roles", file=table.name, column=twice[0])
    if roles.layout == "wide" and roles.item is not None and roles.worker is not None:
        fix = "Give the item column or the worker column of a wide table, not both."
        raise DataError("Rows cannot be items and workers at once", file=table.name, fix=fix)


def _gap(table: Table, role: str) -> DataError:
    platform = find_platform(table.columns)
    if platform is not None and platform.refusal:
        return DataError(
            f"A file with the headers of {platform.title} holds no table of labels",
            file=table.name,
            fix=platform.refusal,
        )
    columns = ", ".join(map(repr, table.columns[:20]))
    bare = "" if table.header else " The file seems to have no header line."
    return DataError(
        f"No column says {_WHO.get(role, 'which worker gave a label')}",
        file=table.name,
        fix=f"Choose the column of the role {role!r} among {columns}.{bare}",
    )


def _clean(
    table: Table, roles: Roles, cleaning: Cleaning
) -> tuple[Triples, Floats | None, list[Finding]]:
    """Take every step from the cells of the file to labels that can be used."""
    findings: list[Finding] = []
    time: Floats | None = None
    if roles.time is not None:
        time, finding = read_times(table, roles.time)
        findings.append(finding)
    triples = extract(table, roles)
    triples, found = _unwrap(table, roles, triples)
    findings += found
    triples, found = drop_rejected(table, triples, cleaning)
    findings += found
    triples, found = trim_ids(triples, cleaning)
    findings += found
    triples, found = apply_pseudonyms(triples, cleaning)
    findings += found
    triples, found = drop_nameless(table, triples)
    findings += found
    triples, found = drop_empty(table, triples, cleaning)
    findings += found
    triples, found = apply_spellings(triples, cleaning)
    findings += found
    triples, found = settle_repeats(table, triples, cleaning, time)
    findings += found
    triples, found = drop_idle_workers(triples)
    return triples, time, findings + found


def _doubts(guess: Guess) -> Finding:
    """Say so where the roles are not beyond doubt."""
    reasons = [f"{role}: {why}" for role, why in guess.reasons.items() if hasattr(Roles, role)]
    return check(
        "roles",
        "Columns whose role was guessed with doubt",
        0 if guess.certain else len(reasons),
        severity="warning",
        examples=reasons,
        done="The columns were read like this.",
        fix="Check the roles of the columns, and choose others where they are wrong.",
    )


def _unwrap(table: Table, roles: Roles, triples: Triples) -> tuple[Triples, list[Finding]]:
    """Take plain answers out of the cells of a platform that wraps them."""
    platform = find_platform(table.columns)
    if platform is None or platform.unwrap is None or roles.label != platform.wrapped:
        return triples, []
    opened = [(name, platform.unwrap(name)) for name in triples.labels]
    changed = [(name, plain) for name, plain in opened if name != plain]
    finding = check(
        "unwrapped",
        "Answers that were taken out of their cells",
        len(changed),
        examples=(f"{name} is {plain!r}" for name, plain in changed),
        done="The plain answer is the label.",
    )
    label, labels = rename(triples.label, triples.labels, platform.unwrap)
    return replace(triples, label=label, labels=labels), [finding]


def _assemble(
    triples: Triples,
    gold: Gold | None,
    features: Features | None,
    time: Floats | None,
    details: Mapping[str, tuple[str, ...]],
) -> CrowdData:
    """Put classes in their natural order and everything into one object."""
    given = np.bincount(triples.label, minlength=len(triples.labels)) > 0
    names = {name for name, there in zip(triples.labels, given, strict=True) if there}
    if gold is not None:
        names |= {gold.answers[code] for code in np.unique(gold.codes[gold.codes != UNKNOWN])}
    classes = natural_order(names)
    return CrowdData(
        item=triples.item,
        worker=triples.worker,
        label=_recode(triples.labels, classes)[triples.label],
        items=triples.items,
        workers=triples.workers,
        classes=classes,
        gold=None if gold is None else _recode((*gold.answers, ""), classes)[gold.codes],
        features=None if features is None else features.values,
        feature_names=() if features is None else features.names,
        recipe=None if features is None else features.recipe,
        time=time,
        details=details,
    )


def _recode(names: tuple[str, ...], classes: tuple[str, ...]) -> Codes:
    code = {name: place for place, name in enumerate(classes)}
    return np.array([code.get(name, UNKNOWN) for name in names], np.int32)


def _check_feature_columns(table: Table, roles: Roles, columns: Sequence[str]) -> None:
    taken = set(roles.used) - set(roles.details)
    free = [name for name in table.columns if name not in taken]
    for column in columns:
        if column not in free:
            why = "There is no such column" if column not in taken else "It has another role"
            raise DataError(
                f"This column cannot be a feature: {why.lower()}",
                file=table.name,
                column=column,
                fix=f"Choose among {', '.join(map(repr, free[:20]))}." if free else None,
            )
    if columns and roles.transposed:
        raise DataError("Rows are workers here, so no column is about items", file=table.name)


def _details(
    table: Table,
    roles: Roles,
    items: tuple[str, ...],
    cleaning: Cleaning,
    more: Sequence[str],
) -> tuple[dict[str, tuple[str, ...]], list[Finding]]:
    """What the file says about each item besides; from the first row of the item."""
    columns = dict.fromkeys([*roles.details, *more])
    rows = item_of_rows(table, roles, cleaning.trim_ids) if columns else None
    if rows is None:
        return {}, []
    place = places(rows[1], items)[rows[0]]
    inside = np.flatnonzero(place >= 0)
    first = np.zeros(len(items), np.int64)
    first[place[inside][::-1]] = inside[::-1]
    details, varied = {}, []
    for column in columns:
        coded = table.coded(column)
        details[column] = tuple(coded.names[code] for code in coded.codes[first].tolist())
        if (coded.codes[inside] != coded.codes[first[place[inside]]]).any():
            varied.append(column)
    finding = check(
        "details_vary",
        "Details that differ within an item",
        len(varied),
        examples=map(repr, varied),
        done="The text of the item's first row was kept.",
        fix="Leave these columns out of the details.",
    )
    return details, [finding]


def _discreet(guess: Guess) -> Guess:
    """Keep the headers of workers' columns out of the report."""
    columns = guess.roles.worker_columns
    if not columns or guess.roles.transposed:
        return guess
    numbered = tuple(f"worker {number}" for number in range(1, len(columns) + 1))
    reasons = guess.reasons | {"worker_columns": f"There are {len(columns)} columns of workers."}
    return replace(guess, roles=replace(guess.roles, worker_columns=numbered), reasons=reasons)


def _report(data: CrowdData, table: Table, guess: Guess, findings: list[Finding]) -> HealthReport:
    return HealthReport(
        findings=tuple(findings),
        source=table.name,
        n_rows=table.n_rows,
        n_labels=data.n_labels,
        n_items=data.n_items,
        n_workers=data.n_workers,
        n_classes=data.n_classes,
        roles=guess.roles,
        reasons=guess.reasons,
    )
