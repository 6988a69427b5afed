"""Several tables of one file made one: sheets of a workbook, files of an archive or a folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from crowdcore.data import DataError
from crowdcore.reading.columns.names import worker_strength
from crowdcore.reading.parsing.table import Table
from crowdcore.wording import count, join_names

ANNOTATOR = "annotator"
"""The column that the name of a file or sheet becomes, where each is one annotator's."""

_SHARED = 0.8


def combine(tables: Sequence[tuple[str, Table]], *, name: str, noun: str) -> Table:
    """Make one table of several.

    Parameters
    ----------
    tables
        Each with what it is called: the stem of a file, or a sheet.
    name
        The name of the file that holds them all.
    noun
        What each of them is: "file" or "sheet".

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
    if len(main) == 1:
        title, table = main[0]
        where = f" It is the {noun} {title!r}." if len(tables) > 1 else ""
        return replace(table, name=name, description=f"{table.description}{where}{left}")
    return _below_each_other(main, name=name, noun=noun, left=left)


def _alike(first: Table, second: Table) -> bool:
    a, b = set(first.columns), set(second.columns)
    return len(a & b) >= _SHARED * max(len(a), len(b))


def _below_each_other(
    tables: Sequence[tuple[str, Table]], *, name: str, noun: str, left: str
) -> Table:
    columns = list(dict.fromkeys(column for _, table in tables for column in table.columns))
    named = [column for column in columns if worker_strength(column) > 1]
    says_who = any(
        len({value for _, table in tables if column in table.columns
             for value in table.coded(column).names if value.strip()}) > 1
        for column in named
    )  # fmt: skip
    parts: dict[str, list[pa.Array]] = {column: [] for column in columns}
    names: list[str] = []
    for title, table in tables:
        blank = pa.array([""] * table.n_rows, pa.string())
        for column in columns:
            has = column in table.columns
            parts[column].append(table.text(column).combine_chunks() if has else blank)
        names += [title] * table.n_rows
    data = {column: pa.concat_arrays(arrays) for column, arrays in parts.items()}
    title = noun if says_who or ANNOTATOR in data else ANNOTATOR
    data[title] = pa.array(names, pa.string())
    who = "" if title != ANNOTATOR else f" The annotator is the name of the {noun}."
    return Table(
        name=name,
        data=pa.table(data),
        description=f"{tables[0][1].description} {count(len(tables), noun)} of one shape were put "
        f"together.{who}{left}",
        n_source_rows=len(names),
        source_row=np.arange(len(names)),
    )
