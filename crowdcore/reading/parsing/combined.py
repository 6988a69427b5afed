"""Several tables of one file made one: sheets of a workbook, files of an archive or a folder."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from crowdcore.data import DataError
from crowdcore.reading.columns.names import worker_strength
from crowdcore.reading.findings import Finding, make_finding
from crowdcore.reading.parsing.table import Table
from crowdcore.wording import count, join_names

ANNOTATOR = "annotator"
"""The column that the name of a file or sheet becomes, where each is one annotator's."""

_SHARED = 0.8
_OTHERWISE_SHARED = 0.5
_MANY = 20
_TIME = re.compile(r"\d{4}-\d\d-\d\d[_T ]\d\d")
"""A session that nobody named is called by its time."""


def combine(
    tables: Sequence[tuple[str, Table]],
    *,
    name: str,
    noun: str,
    faults: Sequence[tuple[str, DataError]] = (),
) -> Table:
    """Make one table of several.

    Parameters
    ----------
    tables
        Each with what it is called: the stem of a file, or a sheet.
    name
        The name of the file that holds them all.
    noun
        What each of them is: "file" or "sheet".
    faults
        Those that cannot be read, with the reason; they are named.

    Returns
    -------
    Table
        Tables of one shape below each other, with a column of their names, which are the
        annotators where no column says who labelled. Of tables that differ the largest group of
        one shape is taken, and the others are named.

    Raises
    ------
    DataError
        If there is none.
    """
    if not tables and faults:
        raise faults[0][1]
    if not tables:
        problem = f"This is not a table: no {noun} in it holds one"
        raise DataError(problem, file=name, fix="Give a CSV, TSV, JSON, Parquet or XLSX file.")
    groups: list[list[tuple[str, Table]]] = []
    for title, table in tables:
        for group in groups:
            if _alike(group[0][1], table):
                group.append((title, table))
                break
        else:
            groups.append([(title, table)])
    groups.sort(key=lambda group: -sum(table.n_rows for _, table in group))
    main = groups[0]
    rest = [title for group in groups[1:] for title, _ in group]
    left = f" Not read, because of another shape: {join_names(rest)}." if rest else ""
    if faults:
        left += f" Not read, because they are no tables: {join_names([f for f, _ in faults])}."
    findings: tuple[Finding, ...] = (
        make_finding(
            "other_tables",
            len(rest) + len(faults),
            severity="warning" if rest else "notice",
            examples=[*map(repr, rest), *(f"{file}: {fault.problem}" for file, fault in faults)],
            done="They were left out.",
        ),
    )
    if len(main) == 1:
        title, table = main[0]
        where = f" It is the {noun} {title!r}." if len(tables) > 1 else ""
        described = f"{table.description}{where}{left}"
        findings = (*table.findings, *findings) if len(tables) + len(faults) > 1 else table.findings
        return replace(table, name=name, description=described, findings=findings)
    together = _below_each_other(main, name=name, noun=noun, left=left)
    return replace(together, findings=findings)


def _alike(first: Table, second: Table) -> bool:
    a, b = set(first.columns), set(second.columns)
    within = len(a & b) == min(len(a), len(b)) > 1  # one has a further column, such as remarks
    return len(a & b) >= (_OTHERWISE_SHARED if within else _SHARED) * max(len(a), len(b))


def _share_rows(
    tables: Sequence[tuple[str, Table]], columns: Sequence[str], people: Collection[str]
) -> bool:
    """Whether tables are about the same things: a column of many values that they have in common.

    Parts of one annotator's work have different things in them.
    """
    for column in columns:
        values = [set(table.coded(column).names) for _, table in tables if column in table.columns]
        if column in people or len(values) < len(tables):
            continue
        union = set.union(*values)
        if len(union) > _MANY and sum(map(len, values)) >= (1 + _SHARED / 2) * len(union):
            return True
    return False


def _below_each_other(
    tables: Sequence[tuple[str, Table]], *, name: str, noun: str, left: str
) -> Table:
    columns = list(dict.fromkeys(column for _, table in tables for column in table.columns))
    people = {
        column: {value for _, table in tables if column in table.columns
                 for value in table.coded(column).names if value.strip() and not _TIME.match(value)}
        for column in columns
        if worker_strength(column) > 1
    }  # fmt: skip
    says_who = any(len(values) > 1 for values in people.values())
    parts: dict[str, list[pa.Array]] = {column: [] for column in columns}
    names: list[str] = []
    for title, table in tables:
        blank = pa.array([""] * table.n_rows, pa.string())
        for column in columns:
            has = column in table.columns
            parts[column].append(table.text(column).combine_chunks() if has else blank)
        names += [title] * table.n_rows
    data = {column: pa.concat_arrays(arrays) for column, arrays in parts.items()}
    title, who = (
        (noun, "") if says_who else (ANNOTATOR, f" The annotator is the name of the {noun}.")
    )
    if (
        people
        and not says_who
        and (not any(people.values()) or _share_rows(tables, columns, people))
    ):
        # Everybody exported under one account, or under none: the same items in every file tell.
        for column in people:
            data[column] = pa.array(names, pa.string())
        who = f"{who[:-1]}, which stands in {join_names(list(people))}."
    elif people and not says_who:
        data[noun], who = pa.array(names, pa.string()), ""
    else:
        data[title] = pa.array(names, pa.string())
    return Table(
        name=name,
        data=pa.table(data),
        description=f"{tables[0][1].description} {count(len(tables), noun)} of one shape were put "
        f"together.{who}{left}",
        n_source_rows=len(names),
        source_row=np.arange(len(names)),
    )
