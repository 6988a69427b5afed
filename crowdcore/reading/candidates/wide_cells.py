"""The rows and cells of a wide table: what names a row, and which cells are no answer."""

from __future__ import annotations

import re
from collections.abc import Sequence

from crowdcore.reading.candidates.measures import Key, Measures, joined_name
from crowdcore.reading.columns.names import (
    is_derived_name,
    item_strength,
    label_strength,
    vocabulary,
)
from crowdcore.reading.columns.roles import name_rank

_NO_ANSWER = vocabulary("na nan <na> #n/a n/a null nil")
_WHOLE = re.compile(r"\d+(\.0*)?")


def missing_marks(measures: Measures, columns: Sequence[str]) -> tuple[str, ...]:
    """Find the cells of a matrix that mean no answer.

    Parameters
    ----------
    measures
        The table.
    columns
        The columns that hold answers.

    Returns
    -------
    tuple of str
        NA and its like; -1 only where every other cell is a whole number from 0 on, and these are
        more than 0 and 1, beside which -1 may be an answer.
    """
    values = dict.fromkeys(value for c in columns for value in measures.profile.values(c))
    marks = [value for value in values if value.strip().lower() in _NO_ANSWER]
    others = {value.strip() for value in values} - {"-1"} - {mark.strip() for mark in marks}
    whole = all(value.isdecimal() or _WHOLE.fullmatch(value) for value in others)
    if others and whole and not others <= {"0", "1", "0.0", "1.0"}:
        marks += [value for value in values if value.strip() in ("-1", "-1.0")]
    return tuple(marks) if others else ()


def row_key(measures: Measures, columns: Sequence[str]) -> tuple[Key | None, str]:
    """Find what names the rows of a wide table.

    Parameters
    ----------
    measures
        The table.
    columns
        The columns that hold answers.

    Returns
    -------
    key : tuple of str or None
        One column, or several together; None where the rows have no name.
    reason : str
        A sentence that says why.
    """
    free = [
        column
        for column in measures.profile.columns
        if column not in columns
        and measures.facts(column).n_distinct
        and name_rank("gold", column) is None
        and not is_derived_name(column)
        and label_strength(column) < 3  # noqa: PLR2004
    ]
    unique = [column for column in free if measures.facts(column).is_unique
              and measures.facts(column).filled_share == 1]  # fmt: skip
    if unique:
        name = max(unique, key=lambda column: (item_strength(column), -free.index(column)))
        return (name,), f"{name!r} is the column that names each row."
    named = [column for column in free if item_strength(column)]
    key: Key = ()
    for column in [*named, *(column for column in free if column not in named)]:
        if measures.facts(column).is_date or measures.facts(column).is_constant:
            continue
        if not key or measures.n_distinct((*key, column)) > measures.n_distinct(key):
            key = (*key, column)
        if measures.n_distinct(key) >= measures.profile.n_rows:
            return key, f"{joined_name(key)!r} names each row."
    almost = [c for c in named if measures.n_distinct((c,)) >= 0.9 * measures.profile.n_rows]
    if almost:
        return (almost[0],), f"{almost[0]!r} names nearly every row."
    return None, "No column names the items; they are numbered from 1."
