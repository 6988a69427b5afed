"""Gold: known answers, as a column of the labels or as a file of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crowdcore.data import UNKNOWN, Codes, DataError
from crowdcore.reading.columns.roles import Roles, name_rank
from crowdcore.reading.findings import MAX_EXAMPLES, Finding, make_finding
from crowdcore.reading.labels.cleaning import Cleaning
from crowdcore.reading.labels.coded_labels import CodedLabels, item_of_rows, match_items, rename
from crowdcore.reading.labels.steps import is_blank
from crowdcore.reading.parsing.table import Table

_OVERLAP_ROWS = 20_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Gold:
    """The known answer of each item.

    Parameters
    ----------
    codes
        Codes [N] into `answers`; UNKNOWN where there is none.
    answers
        The answers.
    findings
        What was found while they were read.
    """

    codes: Codes
    answers: tuple[str, ...]
    findings: tuple[Finding, ...] = ()


def gold_column(
    table: Table, roles: Roles, items: tuple[str, ...], cleaning: Cleaning
) -> Gold | None:
    """Read the gold column of a table of labels.

    Parameters
    ----------
    table
        The table of labels.
    roles
        What its columns are.
    items
        The items that have labels.
    cleaning
        Spellings and missing marks apply to gold as they do to labels.

    Returns
    -------
    Gold or None
        None where no column is gold.

    Raises
    ------
    DataError
        If rows are workers.
    """
    if roles.gold is None:
        return None
    rows = item_of_rows(table, roles, cleaning.trim_ids)
    if rows is None:
        fix = "Give gold as a file of its own."
        raise DataError("Rows are workers, so gold cannot be a column", file=table.name, fix=fix)
    return _match(table, rows, roles.gold, items, cleaning)


def gold_file(table: Table, items: tuple[str, ...], cleaning: Cleaning) -> Gold:
    """Read a file of items and their answers, under any usual names.

    Parameters
    ----------
    table
        The parsed file.
    items
        The items that have labels.
    cleaning
        Spellings and missing marks apply to gold as they do to labels.

    Returns
    -------
    Gold

    Raises
    ------
    DataError
        If no column is the answer, or no item has a label.
    """
    item, answer = _columns(table, items, cleaning)
    rows = item_of_rows(table, Roles(item=item), cleaning.trim_ids)
    assert rows is not None  # rows of a long table are never workers
    gold = _match(table, rows, answer, items, cleaning)
    labelled = set(items)
    named = [name for name in rows[1] if name.strip()]
    unlabelled = [name for name in named if name not in labelled]
    if len(unlabelled) == len(named):
        example = f" gold has {named[0]!r}, the labels {items[0]!r}" if named else ""
        raise DataError(
            f"No item in gold has a label;{example}",
            file=table.name,
            column=item,
            fix="Check that both files use the same item ids.",
        )
    finding = make_finding(
        "gold_without_labels",
        len(unlabelled),
        examples=(f"item {name!r}" for name in unlabelled),
        done="Their answers were left out.",
    )
    return Gold(codes=gold.codes, answers=gold.answers, findings=(*gold.findings, finding))


def _columns(table: Table, items: tuple[str, ...], cleaning: Cleaning) -> tuple[str, str]:
    """Decide which column names the item and which the answer."""
    if len(table.columns) < 2:  # noqa: PLR2004
        fix = "Give an item and its answer in each row."
        raise DataError("The gold file has one column only", file=table.name, fix=fix)
    labelled = set(items)
    sample = table.first_rows(_OVERLAP_ROWS)
    overlap = {
        column: sum(
            (name.strip() if cleaning.trim_ids else name) in labelled
            for name in sample.coded(column).names
        )
        for column in table.columns
    }
    named = _best_named(table.columns, "item")
    item = named if named and overlap[named] else max(table.columns, key=overlap.__getitem__)
    free = [column for column in table.columns if column != item]
    answer = _best_named(free, "gold") or _best_named(free, "label")
    if answer is None and len(free) > 1:
        raise DataError(
            "No column of the gold file is called gold, truth, answer or label",
            file=table.name,
            fix=f"Rename the column of the answers; the columns are {', '.join(free[:10])}.",
        )
    return item, answer or free[0]


def _best_named(columns: Sequence[str], role: str) -> str | None:
    ranks = [(rank, c) for c in columns if (rank := name_rank(role, c)) is not None]
    return min(ranks, key=lambda pair: pair[0])[1] if ranks else None


def _match(
    table: Table,
    item_rows: tuple[Codes, tuple[str, ...]],
    column: str,
    items: tuple[str, ...],
    cleaning: Cleaning,
) -> Gold:
    item_codes, item_names = item_rows
    coded = table.coded(column)
    codes, answers = rename(coded.codes, coded.names, cleaning.spell)
    missing = np.array([name in cleaning.missing for name in answers], bool)
    is_answer = ~is_blank(answers) & ~missing
    item_of_row = match_items(item_names, items)[item_codes]
    rows = np.flatnonzero(is_answer[codes] & (item_of_row >= 0))
    gold = np.full(len(items), UNKNOWN, np.int32)
    gold[item_of_row[rows][::-1]] = codes[rows][::-1]  # the first row of an item is written last
    conflicting = rows[codes[rows] != gold[item_of_row[rows]]]
    finding = make_finding(
        "gold_conflicts",
        len(np.unique(item_of_row[conflicting])),
        severity="warning",
        examples=(
            f"item {items[item_of_row[row]]!r}: {answers[gold[item_of_row[row]]]!r}, "
            f"then {answers[codes[row]]!r} ({table.locate(row)})"
            for row in conflicting[:MAX_EXAMPLES].tolist()
        ),
        done="The first answer was kept.",
    )
    return Gold(codes=gold, answers=answers, findings=(finding,))


def check_gold_classes(labels: CodedLabels) -> Finding:
    """Look for classes that no worker ever gave: they come from gold.

    Parameters
    ----------
    labels
        The labels, whose classes are those of gold, too.

    Returns
    -------
    Finding
    """
    never_given = [labels.classes[code] for code in np.flatnonzero(labels.labels_per_class == 0)]
    return make_finding(
        "gold_only_classes",
        len(never_given),
        severity="warning",
        examples=map(repr, never_given),
        done="They were added to the classes.",
    )
