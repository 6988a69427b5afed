"""Rows of a table that are no data: further header rows, headers that come again, totals."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from crowdcore.reading.columns.names import vocabulary
from crowdcore.reading.findings import make_finding
from crowdcore.reading.parsing.derived import choose_rows
from crowdcore.reading.parsing.table import Table
from crowdcore.wording import count

IMPORT_ID = '{"ImportId"'
"""How the cells of a survey tool's third header row begin."""

_TOTALS = vocabulary(
    "total totals sum sums average avg mean median count std sd stdev percentage percent overall "
    "subtotal gesamt summe mittelwert kappa agreement"
)
_NUMBER = re.compile(r"[+-]?[\d.,]+\s*%?")
_LAST_ROWS = 5
_MIN_ROWS = 5
_MIN_NUMBERS = 2
_HEADER_ROWS = 2
_QUESTION_WORDS = 3


def without_extra_rows(table: Table) -> Table:
    """Leave out rows that are no data, and say so in a finding.

    Parameters
    ----------
    table
        A table as it was parsed.

    Returns
    -------
    Table
        Its rows remember where in the file they stand.
    """
    if not table.header or table.source_row is not None:
        return table
    further = _further_header_rows(table)
    if further:
        table = _named_by_questions(table)
    again = _headers_again(table)
    totals = _totals(table)
    extra = [*range(further), *again, *totals]
    if not extra or len(extra) >= table.n_rows:
        return table
    examples = [f"{table.locate(row)}: a further row of headers" for row in range(further)]
    examples += [f"{table.locate(row)}: the header again" for row in again]
    examples += [f"{table.locate(row)}: {_first_text(table, row)!r}" for row in totals]
    finding = make_finding(
        "extra_rows",
        len(extra),
        examples=examples,
        done=f"{count(len(extra), 'row')} left out before anything else was read.",
    )
    kept = np.setdiff1d(np.arange(table.n_rows), extra)
    return replace(choose_rows(table, kept), findings=(*table.findings, finding))


def is_import_row(cells: Sequence[str]) -> bool:
    """Tell whether a row is the third header row of a survey tool: {"ImportId":…} in each cell."""
    filled = [cell for cell in cells if cell.strip()]
    return bool(filled) and all(cell.lstrip().startswith(IMPORT_ID) for cell in filled)


def _cells(table: Table, row: int) -> list[str]:
    rows = replace(table, data=table.data.slice(row, 1), _coded={})
    return [rows.text(column)[0].as_py() for column in table.columns]


def _further_header_rows(table: Table) -> int:
    """How many rows below the header name the columns again: two in exports of Qualtrics."""
    if table.n_rows <= _HEADER_ROWS:
        return 0
    return next((at + 1 for at in range(_HEADER_ROWS) if is_import_row(_cells(table, at))), 0)


def _named_by_questions(table: Table) -> Table:
    """Name columns by the question in the second row, where it says more than the first."""
    names: list[str] = []
    for name, question in zip(table.columns, _cells(table, 0), strict=True):
        plain = " ".join(question.split())
        is_question = len(plain.split()) > _QUESTION_WORDS and not plain.startswith(IMPORT_ID)
        names.append(f"{name}: {plain}" if is_question else name)
    return replace(
        table, data=table.data.rename_columns(names), source_columns=table.columns, _coded={}
    )


def _headers_again(table: Table) -> list[int]:
    """The rows that are the header once more, as where files were put below each other."""
    columns = table.source_columns or table.columns
    coded = table.coded(table.columns[0])
    if columns[0] not in coded.names:
        return []
    first = np.flatnonzero(coded.codes == coded.names.index(columns[0]))[:1000].tolist()
    return [row for row in first if [c.strip() for c in _cells(table, row)] == [*columns]]


def _totals(table: Table) -> list[int]:
    """The last rows, where they name a total and hold numbers besides."""
    rows: list[int] = []
    if table.n_rows < _MIN_ROWS:
        return rows
    for row in range(table.n_rows - 1, max(0, table.n_rows - _LAST_ROWS) - 1, -1):
        cells = [cell.strip() for cell in _cells(table, row)]
        filled = [cell for cell in cells if cell]
        if not filled:
            continue
        texts = [cell for cell in filled if not _NUMBER.fullmatch(cell)]
        says_total = bool(texts) and set(re.findall(r"\w+", texts[0].lower())) & _TOTALS
        if not says_total or len(texts) > 1 or len(filled) - 1 < _MIN_NUMBERS:
            break
        rows.append(row)
    return sorted(rows)


def _first_text(table: Table, row: int) -> str:
    return next((cell for cell in _cells(table, row) if cell.strip()), "")
