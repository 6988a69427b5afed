"""Columns that belong together, told by their values alone."""

from __future__ import annotations

from collections.abc import Sequence

from crowdcore.reading.columns.profile import TableProfile
from crowdcore.reading.columns.roles import is_role_name

_MAX_CLASSES = 50
_MAX_CANDIDATES = 8
_SHORT_CHARACTERS = 12
_MIN_WIDE_COLUMNS = 3


def same_values(
    profile: TableProfile, columns: Sequence[str], *, rows_have_name: bool
) -> tuple[tuple[str, ...], bool]:
    """Find the columns that share one small set of values.

    Parameters
    ----------
    profile
        Facts about the table.
    columns
        The columns that have no role yet.
    rows_have_name
        Whether another column names the rows; otherwise a column that never repeats may be
        their name, and is left out.

    Returns
    -------
    tuple of str
        The columns, in the order of the table; empty where there are not two.
    bool
        Whether that is beyond doubt.
    """
    small = [
        column
        for column in columns
        if 1 <= profile.n_distinct(column) <= _MAX_CLASSES
        and (rows_have_name or not looks_distinct(profile, column, min_rows=_MIN_WIDE_COLUMNS))
    ]
    group = _largest_group(profile, small)
    if len(group) <= 1:
        return (), False
    names = {value for column in group for value in profile.values(column)}
    max_length = max(2 * max(map(len, names)), _SHORT_CHARACTERS)
    position = {column: at for at, column in enumerate(profile.columns)}
    first, last = position[group[0]] - 1, position[group[-1]] + 1
    members = set(group)
    numeric = all(_is_number(name) for name in names)
    grown = [
        column
        for column in columns
        if column in members
        or (
            first <= position[column] <= last
            and not is_role_name(column)
            and not looks_distinct(profile, column)
            and not (numeric and not all(map(_is_number, profile.values(column))))
            and profile.max_length(column) <= max_length
            and profile.n_distinct(column) <= max(len(names), _MIN_WIDE_COLUMNS)
        )
    ]
    return tuple(grown), len(group) >= _MIN_WIDE_COLUMNS and len(grown) == len(group)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def looks_distinct(profile: TableProfile, column: str, *, min_rows: int = 2) -> bool:
    """Tell whether a column may name the rows: no blank, no value twice."""
    return profile.n_rows >= min_rows and profile.n_distinct(column) == profile.n_rows


def _largest_group(profile: TableProfile, columns: Sequence[str]) -> list[str]:
    """Grow a group from each column by those that share half of their values with it."""
    values = {column: set(profile.values(column)) for column in columns}
    best: list[str] = []
    for seed in sorted(columns, key=lambda column: -len(values[column]))[:_MAX_CANDIDATES]:
        union = values[seed]
        group = [
            column for column in columns if 2 * len(values[column] & union) >= len(values[column])
        ]
        if len(group) > len(best):
            best = group
    return best if len(best) > 1 else []
