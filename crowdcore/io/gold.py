"""Gold: known answers, as a column of the labels or as a file of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import UNKNOWN, Codes, CrowdData, DataError
from crowdcore.io.cleaning import Cleaning, blank, canonical
from crowdcore.io.health import Finding, check
from crowdcore.io.roles import Roles, name_rank
from crowdcore.io.table import Table
from crowdcore.io.triples import item_of_rows, rename


@dataclass(frozen=True, kw_only=True, eq=False)
class Gold:
    """The known answer of each item: codes [N] into `answers`, UNKNOWN where there is none."""

    codes: Codes
    answers: tuple[str, ...]
    findings: tuple[Finding, ...] = ()


def gold_column(
    table: Table, roles: Roles, items: tuple[str, ...], cleaning: Cleaning
) -> Gold | None:
    """Read the gold column of a table of labels."""
    if roles.gold is None:
        return None
    rows = item_of_rows(table, roles, cleaning.trim_ids)
    if rows is None:
        fix = "Give gold as a file of its own."
        raise DataError("Rows are workers, so gold cannot be a column", file=table.name, fix=fix)
    return _match(table, rows, roles.gold, items, cleaning)


def gold_file(table: Table, items: tuple[str, ...], cleaning: Cleaning) -> Gold:
    """Read a file of items and their answers, under any usual names."""
    item, answer = _columns(table, items, cleaning)
    roles = Roles(item=item)
    rows = item_of_rows(table, roles, cleaning.trim_ids)
    assert rows is not None  # rows of a long table are never workers
    gold = _match(table, rows, answer, items, cleaning)
    there = set(items)
    named = [name for name in rows[1] if name.strip()]
    strangers = [name for name in named if name not in there]
    if len(strangers) == len(named):
        found = f" gold has {named[0]!r}, the labels {items[0]!r}" if named else ""
        raise DataError(
            f"No item in gold has a label;{found}",
            file=table.name,
            column=item,
            fix="Check that both files use the same item ids.",
        )
    unknown = check(
        "gold_without_labels",
        "Items in gold that nobody labelled",
        len(strangers),
        examples=(f"item {name!r}" for name in strangers),
        done="Their answers were left out.",
        fix="Check the spelling of the ids.",
    )
    return Gold(codes=gold.codes, answers=gold.answers, findings=(*gold.findings, unknown))


def _columns(table: Table, items: tuple[str, ...], cleaning: Cleaning) -> tuple[str, str]:
    """Which column names the item and which the answer."""
    if len(table.columns) < 2:  # noqa: PLR2004
        fix = "Give an item and its answer in each row."
        raise DataError("The gold file has one column only", file=table.name, fix=fix)
    there = set(items)
    overlap = {
        column: sum(
            (name.strip() if cleaning.trim_ids else name) in there
            for name in table.top(20_000).coded(column).names
        )
        for column in table.columns
    }
    named = _best_named(table.columns, "item")
    item = named if named and overlap[named] else max(table.columns, key=overlap.__getitem__)
    rest = [column for column in table.columns if column != item]
    answer = _best_named(rest, "gold") or _best_named(rest, "label")
    if answer is None and len(rest) > 1:
        raise DataError(
            "No column of the gold file is called gold, truth, answer or label",
            file=table.name,
            fix=f"Rename the column of the answers; the columns are {', '.join(rest[:10])}.",
        )
    return item, answer or rest[0]


def _best_named(columns: tuple[str, ...] | list[str], role: str) -> str | None:
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
    codes, answers = rename(
        coded.codes, coded.names, lambda name: canonical(name, cleaning.spellings)
    )
    known = ~blank(answers) & ~np.array([name in cleaning.missing for name in answers], bool)
    place = places(item_names, items)
    rows = np.flatnonzero(known[codes] & (place[item_codes] >= 0))
    item = place[item_codes[rows]]
    gold = np.full(len(items), UNKNOWN, np.int32)
    gold[item[::-1]] = codes[rows][::-1]  # the first row of an item is written last
    other = rows[codes[rows] != gold[item]]
    conflicts = check(
        "gold_conflicts",
        "Items with several gold answers",
        len(np.unique(place[item_codes[other]])),
        severity="warning",
        examples=(
            f"item {items[place[item_codes[row]]]!r}: "
            f"{answers[gold[place[item_codes[row]]]]!r}, then {answers[codes[row]]!r} "
            f"({table.place(row)})"
            for row in other[:5].tolist()
        ),
        done="The first answer was kept.",
        fix="Leave one answer for each item.",
    )
    return Gold(codes=gold, answers=answers, findings=(conflicts,))


def places(names: tuple[str, ...], items: tuple[str, ...]) -> NDArray[np.int64]:
    """Where each name is among the items; -1 where it is not."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.index_in(pa.array(names, pa.string()), value_set=pa.array(items, pa.string()))
    return np.asarray(found.fill_null(-1).to_numpy(zero_copy_only=False), np.int64)


def gold_checks(gold: Gold, data: CrowdData) -> list[Finding]:
    """Gold answers that no worker ever gave; all other classes come from labels."""
    given = np.bincount(data.label.astype(np.int64), minlength=data.n_classes)
    alien = [data.classes[code] for code in np.flatnonzero(given == 0)]
    finding = check(
        "gold_only_classes",
        "Gold answers that nobody gave",
        len(alien),
        severity="warning",
        examples=(repr(name) for name in alien),
        done="They were added to the classes.",
        fix="Check their spelling.",
    )
    return [*gold.findings, finding]
