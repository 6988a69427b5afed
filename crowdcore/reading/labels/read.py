"""read_labels: a file in, checked labels and a health report out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.codes import natural_order
from crowdcore.data import UNKNOWN, Codes, CrowdData, DataError, Floats
from crowdcore.reading.candidates.kinds import separator_of
from crowdcore.reading.columns.guess import settle_roles
from crowdcore.reading.columns.roles import Guess, Roles
from crowdcore.reading.features.pictures import DEFAULT_SIDE_PIXELS
from crowdcore.reading.features.read import column_features, read_features
from crowdcore.reading.findings import Finding, join_findings, make_finding
from crowdcore.reading.labels.answer_sets import as_sets
from crowdcore.reading.labels.checks import check_coverage, check_labels, check_personal
from crowdcore.reading.labels.cleaning import Cleaning
from crowdcore.reading.labels.coded_labels import (
    CodedLabels,
    extract,
    item_of_rows,
    match_items,
)
from crowdcore.reading.labels.gold import Gold, check_gold_classes, gold_column, gold_file
from crowdcore.reading.labels.health import HealthReport
from crowdcore.reading.labels.pair_labels import find_sides, read_comparisons
from crowdcore.reading.labels.ratings import (
    Numbers,
    check_kind,
    check_ratings,
    looks_rated,
    parse_numbers,
)
from crowdcore.reading.labels.steps import clean
from crowdcore.reading.labels.times import read_durations, read_times
from crowdcore.reading.parsing.open import open_table
from crowdcore.reading.parsing.original import Original
from crowdcore.reading.parsing.source import Source
from crowdcore.reading.parsing.table import Table
from crowdcore.wording import count, join_names

__all__ = ["Cleaning", "read_labels"]

MAX_NAME_CHARACTERS = 100_000
"""Of an item, a worker or a label; more is a text or a file, not a name."""

_MEANINGS = {"item": "what was labelled", "worker": "who gave the label", "label": "the label"}


def read_labels(
    source: Source | Table,
    *,
    name: str | None = None,
    roles: Roles | Guess | Mapping[str, Any] | None = None,
    gold: Source | Table | None = None,
    gold_name: str | None = None,
    features: Source | Table | None = None,
    features_name: str | None = None,
    feature_columns: Sequence[str] = (),
    picture_size: int = DEFAULT_SIDE_PIXELS,
    cleaning: Cleaning | None = None,
) -> CrowdData:
    r"""Read labels from a long or wide table.

    Parameters
    ----------
    source
        A path, bytes, an open binary file, or a table that `open_table` gave.
    name
        The file's name for messages; that of the source unless given.
    roles
        What the columns are: all roles, an earlier guess, or some roles by name, such as
        ``{"label": "answer"}``. What is not given is guessed.
    gold, gold_name
        A file of items and their known answers, and its name for messages.
    features, features_name
        Features of the items: a table, an NPY or NPZ, or pictures in a folder or zip.
    feature_columns
        Columns of the labels' table that are to be used as features, instead of a file.
    picture_size
        The side in pixels to which pictures are brought.
    cleaning
        What to do about faults in the file; the defaults unless given.

    Returns
    -------
    CrowdData
        Its `report`, a `HealthReport`, says what was found and done.

    Raises
    ------
    DataError
        If the file cannot be used; the message says what, where, and what to do.

    Examples
    --------
    >>> data = read_labels(b"task,worker,label\nt1,w1,cat\nt1,w2,dog\n")
    >>> data.n_labels, data.classes
    (2, ('cat', 'dog'))
    >>> data.report.reasons["worker"]
    "'worker' is a usual name for workers."
    """
    if feature_columns and features is not None:
        raise DataError("Features come from a file or from columns, not from both")
    cleaning = cleaning or Cleaning()
    table = open_table(source, name=name)
    file_findings = table.findings
    if cleaning.rows_in_cells == "split" and table.split is not None:
        table = table.split
    table, guess = settle_roles(table, roles)
    sides = find_sides(table, guess.roles) if guess.kind == "comparisons" else None
    if sides is not None and guess.roles.item not in (sides.left, sides.right):
        return _with_known_scores(read_comparisons(table, sides, guess), gold, gold_name, cleaning)
    if guess.missing and not cleaning.missing:
        cleaning = cleaning.with_option({"missing": guess.missing})
    _check_roles(table, guess.roles)
    _check_feature_columns(table, guess.roles, feature_columns)
    labels, n_answers, findings = _labels(table, guess.roles, cleaning)
    if gold is None:
        answers = gold_column(table, guess.roles, labels.items, cleaning)
    else:
        gold_table = open_table(gold, name=gold_name)
        file_findings = join_findings(file_findings, gold_table.findings, file=gold_table.name)
        answers = gold_file(gold_table, labels.items, cleaning)
    columns = dict.fromkeys([*guess.roles.details, *feature_columns])
    details, detail_findings = _details(table, guess.roles, labels.items, cleaning, tuple(columns))
    item_features = None
    if feature_columns:
        texts = {column: details[column] for column in feature_columns}
        key = guess.roles.item or ""
        item_features = column_features(texts, labels.items, key=key, file=table.name)
    elif features is not None:
        item_features = read_features(
            features,
            labels.items,
            name=features_name,
            trim=cleaning.trim_ids,
            picture_size=picture_size,
        )
    if item_features is not None:
        file_findings = join_findings(
            file_findings, item_features.file_findings, file=item_features.file
        )
    labels, gold_codes = _in_natural_order(labels, answers)
    numbers = parse_numbers(labels.classes)
    is_rated = _is_rated(labels, numbers, cleaning, table.name)
    findings = [
        *_about_guess(guess, is_rated=is_rated),
        *file_findings,
        *findings,
        *detail_findings,
    ]
    findings.append(check_kind(labels, numbers, as_ratings=is_rated))
    if is_rated:
        findings += [*check_ratings(labels, numbers), *check_coverage(labels)]
    else:
        findings += check_labels(labels, wide=guess.roles.layout == "wide")
    findings.append(check_personal(table, guess.roles, pseudonyms=cleaning.pseudonyms))
    if answers is not None:
        findings += answers.findings
        findings += [] if is_rated else [check_gold_classes(labels)]
    findings += [] if item_features is None else item_features.findings
    guess = _without_worker_names(guess) if cleaning.pseudonyms else guess
    data = CrowdData(
        item=labels.item,
        worker=labels.worker,
        label=numbers.values[labels.label] if is_rated else labels.label,
        items=labels.items,
        workers=labels.workers,
        classes=() if is_rated else labels.classes,
        kind="ratings" if is_rated else "classes",
        gold=_gold_numbers(gold_codes, numbers) if is_rated else gold_codes,
        features=None if item_features is None else item_features.values,
        feature_names=() if item_features is None else item_features.names,
        recipe=None if item_features is None else item_features.recipe,
        time=labels.time,
        duration=labels.duration,
        row=_rows_in_file(table, labels.row),
        details=details,
        original=_original(table, guess.roles, labels.items, cleaning),
        report=HealthReport(
            findings=tuple(findings),
            source=table.name,
            n_rows=table.n_rows,
            n_answers=n_answers,
            n_labels=len(labels.row),
            n_items=len(labels.items),
            n_workers=len(labels.workers),
            n_classes=0 if is_rated else len(labels.classes),
            roles=guess.roles,
            reasons=guess.reasons,
            features="" if item_features is None else item_features.description,
        ),
    )
    separator = separator_of(data.classes) if guess.kind == "sets" else None
    return data if separator is None else as_sets(data, separator)


def _with_known_scores(
    data: CrowdData, gold: Source | Table | None, gold_name: str | None, cleaning: Cleaning
) -> CrowdData:
    """Add the known scores of compared items, from a file of items and numbers."""
    if gold is None:
        return data
    table = open_table(gold, name=gold_name)
    answers = gold_file(table, data.items, cleaning)
    try:
        values = [float(answer) for answer in answers.answers]
    except ValueError:
        raise DataError(
            "Known scores of compared items must be numbers",
            file=table.name,
            fix="Give each item a number: the higher, the better.",
        ) from None
    scores = np.append(values, np.nan)[answers.codes]  # UNKNOWN, -1, is the last
    report = replace(data.report, findings=(*data.report.findings, *answers.findings))
    return replace(data, gold=scores, report=report)


def _is_rated(labels: CodedLabels, numbers: Numbers, cleaning: Cleaning, file: str) -> bool:
    """Tell whether to read labels as ratings: as asked for, else where it is beyond doubt."""
    if cleaning.kind == "auto":
        return looks_rated(labels, numbers)[0]
    if cleaning.kind == "ratings" and not numbers.are_all:
        is_number = ~np.isnan(numbers.values)
        others = [name for name, good in zip(labels.classes, is_number, strict=True) if not good]
        raise DataError(
            f"Labels that are no numbers cannot be ratings: {join_names(others)}",
            file=file,
            fix="Correct these labels, name them as missing answers, or read labels as classes.",
        )
    return cleaning.kind == "ratings"


def _gold_numbers(codes: Codes | None, numbers: Numbers) -> Floats | None:
    """The known numbers [N]; NaN where there is none."""
    if codes is None:
        return None
    values: Floats = np.append(numbers.values, np.nan)[codes]  # UNKNOWN, -1, is the last
    return values


def _check_roles(table: Table, roles: Roles) -> None:
    """Refuse roles that do not make a table of labels."""
    columns = {"item": roles.item, "worker": roles.worker, "label": roles.label}
    if roles.layout == "wide":
        columns = {"worker_columns": roles.worker_columns[0] if roles.worker_columns else None}
    missing = [role for role, column in columns.items() if column is None]
    if missing:
        raise _missing_role(table, missing[0])
    repeated = [column for column, times in Counter(columns.values()).items() if times > 1]
    if repeated:
        raise DataError("One column has two roles", file=table.name, column=repeated[0])
    if roles.layout == "wide" and roles.item is not None and roles.worker is not None:
        fix = "Give the item column or the worker column of a wide table, not both."
        raise DataError("Rows cannot be items and workers at once", file=table.name, fix=fix)


def _missing_role(table: Table, role: str) -> DataError:
    columns = ", ".join(map(repr, table.columns[:20]))
    hint = "" if table.header else " The file seems to have no header line."
    return DataError(
        f"No column says {_MEANINGS.get(role, 'which worker gave a label')}",
        file=table.name,
        fix=f"Choose the column of the role {role!r} among {columns}.{hint}",
    )


def _check_feature_columns(table: Table, roles: Roles, columns: Sequence[str]) -> None:
    taken = set(roles.used) - set(roles.details)
    free = [name for name in table.columns if name not in taken]
    for column in columns:
        if column not in free:
            why = "there is no such column" if column not in taken else "it has another role"
            raise DataError(
                f"This column cannot be a feature: {why}",
                file=table.name,
                column=column,
                fix=f"Choose among {', '.join(map(repr, free[:20]))}." if free else None,
            )
    if columns and roles.transposed:
        raise DataError("Rows are workers here, so no column is about items", file=table.name)


def _labels(
    table: Table, roles: Roles, cleaning: Cleaning
) -> tuple[CodedLabels, int, list[Finding]]:
    """Take the labels out of the table and clean them; says how many there were before."""
    labels = extract(table, roles)
    n_answers = len(labels.row)
    findings: list[Finding] = []
    time = None
    if roles.time is not None:
        time, finding = read_times(table, roles.time)
        labels = replace(labels, time=None if time is None else time[labels.row])
        findings.append(finding)
    if (duration := read_durations(table, roles, time)) is not None:
        labels = replace(labels, duration=duration[labels.row])
    _check_names(table, labels)
    labels, clean_findings = clean(table, labels, cleaning)
    if not len(labels.row):
        raise DataError(
            "No label is left after cleaning",
            file=table.name,
            column=roles.label,
            fix="Check the roles of the columns and the cleaning options.",
        )
    return labels, n_answers, [*findings, *clean_findings]


def _check_names(table: Table, labels: CodedLabels) -> None:
    """Refuse names that are too long to be names."""
    for noun, names, codes in (
        ("item", labels.items, labels.item),
        ("worker", labels.workers, labels.worker),
        ("label", labels.classes, labels.label),
    ):
        for code, name in enumerate(names):
            if len(name) > MAX_NAME_CHARACTERS:
                rows = labels.row[codes == code]
                where = f" of {table.locate(rows[0])}" if len(rows) else ""
                raise DataError(
                    f"The {noun}{where} has {count(len(name), 'character')}, and "
                    f"at most {count(MAX_NAME_CHARACTERS)} are a name",
                    file=table.name,
                    fix="Check the quotation marks of the file, and which column is what.",
                )


def _details(
    table: Table,
    roles: Roles,
    items: tuple[str, ...],
    cleaning: Cleaning,
    columns: Sequence[str],
) -> tuple[dict[str, tuple[str, ...]], list[Finding]]:
    """Take what the file says about each item besides; from the first row of the item."""
    rows = item_of_rows(table, roles, cleaning.trim_ids) if columns else None
    if rows is None:
        return {}, []
    codes, names = rows
    item_of_row = match_items(names, items)[codes]
    known_rows = np.flatnonzero(item_of_row >= 0)
    first_row = np.zeros(len(items), np.int64)
    first_row[item_of_row[known_rows][::-1]] = known_rows[::-1]
    details, varying = {}, []
    for column in columns:
        coded = table.coded(column)
        details[column] = tuple(coded.names[code] for code in coded.codes[first_row].tolist())
        first_codes = coded.codes[first_row[item_of_row[known_rows]]]
        if (coded.codes[known_rows] != first_codes).any():
            varying.append(column)
    finding = make_finding(
        "details_vary",
        len(varying),
        examples=map(repr, varying),
        done="The text of the item's first row was kept.",
    )
    return details, [finding]


def _original(
    table: Table, roles: Roles, items: tuple[str, ...], cleaning: Cleaning
) -> Original | None:
    """Keep the file for the way back, unless it holds names that are to be forgotten."""
    if table.content is None or cleaning.pseudonyms:
        return None
    rows = item_of_rows(table, roles, cleaning.trim_ids)
    item = None
    if rows is not None:
        codes, names = rows
        item = codes if names == items else _recode(names, items)[codes]
    if item is not None and table.source_row is not None:
        item = _by_row_of_file(item, table.source_row, table.n_source_rows)
    return Original(
        name=table.name,
        columns=table.source_columns or table.columns,
        item=item,
        source=table.content,
        layout=table.layout,
    )


def _rows_in_file(table: Table, rows: Codes) -> Codes:
    """Return the rows of the file that rows of the table come from."""
    return rows if table.source_row is None else table.source_row[rows].astype(np.int32)


def _by_row_of_file(item: Codes, source_row: NDArray[np.int64], n_rows: int) -> Codes | None:
    """Return the item of each row of the file; None where a row holds several items."""
    in_file = np.full(n_rows, UNKNOWN, np.int32)
    in_file[source_row] = item
    return in_file if (in_file[source_row] == item).all() else None


def _in_natural_order(labels: CodedLabels, gold: Gold | None) -> tuple[CodedLabels, Codes | None]:
    """Put the classes of labels and gold [N] into their natural order; those of neither go."""
    n_given = np.bincount(labels.label, minlength=len(labels.classes))
    names = {name for name, number in zip(labels.classes, n_given, strict=True) if number}
    if gold is not None:
        names |= {gold.answers[code] for code in np.unique(gold.codes[gold.codes != UNKNOWN])}
    classes = natural_order(names)
    label = _recode(labels.classes, classes)[labels.label]
    gold_codes = None if gold is None else _recode((*gold.answers, ""), classes)[gold.codes]
    return replace(labels, label=label, classes=classes), gold_codes


def _recode(names: tuple[str, ...], classes: tuple[str, ...]) -> Codes:
    code = {name: number for number, name in enumerate(classes)}
    return np.array([code.get(name, UNKNOWN) for name in names], np.int32)


def _about_guess(guess: Guess, *, is_rated: bool) -> list[Finding]:
    """Say so where the roles are not beyond doubt, and where the file has other questions."""
    reasons = [f"{role}: {why}" for role, why in guess.reasons.items() if hasattr(Roles, role)]
    doubts = make_finding(
        "roles",
        0 if guess.certain else len(reasons),
        severity="warning",
        examples=reasons,
        done="The columns were read like this.",
    )
    questions = make_finding(
        "questions",
        len(guess.others),
        examples=guess.others,
        done=f"The answers in {guess.roles.label!r} were read." if guess.roles.label else "",
    )
    scale = make_finding(
        "scale",
        int(guess.kind == "ratings" and not is_rated),
        examples=[guess.reasons["label"]] if guess.reasons.get("label") else (),
        done="They are read as classes without an order.",
    )
    return [doubts, questions, scale]


def _without_worker_names(guess: Guess) -> Guess:
    """Keep the headers of workers' columns out of the report."""
    columns = guess.roles.worker_columns
    if not columns or guess.roles.transposed:
        return guess
    numbered = tuple(f"worker {number}" for number in range(1, len(columns) + 1))
    reasons = guess.reasons | {"worker_columns": f"There are {len(columns)} columns of workers."}
    return replace(guess, roles=replace(guess.roles, worker_columns=numbered), reasons=reasons)
