"""Columns of ticks, one per class (one-hot): found by their names and values, and gathered."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdcore.reading.candidates.measures import Measures
from crowdcore.reading.columns.names import is_metadata_name
from crowdcore.reading.parsing.derived import is_ticked

_MIN_CLASSES = 2
_MIN_LOOSE = 4
_NEARLY_ALL = 0.95
_FEW_TICKS = 0.3
_SIGNS = frozenset(".:/_ -")
_PREFIXES = ("Answer.", "OUTPUT:")
_CUT = re.compile(r"^(?P<stem>.+?)(?:[.:/]|__)(?P<answer>[^.:/]+)$")
_LAST_CUT = re.compile(r"^(?P<stem>.+)(?:[.:/]|__)(?P<answer>.+?)$")
_SOFT_CUT = re.compile(r"^(?P<stem>.+)[_ -](?P<answer>[^_ ]+)$")


@dataclass(frozen=True, kw_only=True)
class TickGroup:
    """Columns of ticks that belong to one question.

    Parameters
    ----------
    name
        The question.
    members
        For each column the class that it stands for.
    exclusive
        Whether exactly one is ticked in nearly every row.
    loose
        Whether nothing but their place says that the columns belong together: each may as well
        be a question of its own.
    first
        Of loose columns: whether they act like answers to one question, few ticks in each row.
    """

    name: str
    members: dict[str, str]
    exclusive: bool
    loose: bool = False
    first: bool = True


def find_ticks(measures: Measures, columns: Sequence[str]) -> list[TickGroup]:
    """Find groups of columns that hold a tick per class.

    Parameters
    ----------
    measures
        The table.
    columns
        The columns that may be ticks.

    Returns
    -------
    list of TickGroup
        Columns with a common beginning before a dot, colon or slash; before an underscore only
        where exactly one of them is ticked in each row.
    """
    ticks = [column for column in columns if _is_tick(measures, column)]
    ticks += [
        column for column in columns if column not in ticks and _names_itself(measures, column)
    ]
    groups: list[TickGroup] = []
    grouped: set[str] = set()
    for pattern in (_LAST_CUT, _CUT, _SOFT_CUT):
        stems: dict[str, dict[str, str]] = defaultdict(dict)
        for column in ticks:
            name = column[len(_prefix(column)) :]
            if column not in grouped and (match := pattern.match(name)):
                stems[_prefix(column) + match["stem"]][column] = match["answer"]
        for stem, members in stems.items():
            if len(members) < _MIN_CLASSES:
                continue
            exclusive = float((n_ticked(measures, members) == 1).mean()) >= _NEARLY_ALL
            if pattern is _SOFT_CUT and not exclusive:
                continue
            name = stem.rstrip(":_./ ")
            groups.append(TickGroup(name=name, members=members, exclusive=exclusive))
            grouped |= set(members)
    return groups


def find_loose_ticks(measures: Measures, columns: Sequence[str]) -> TickGroup | None:
    """Find columns of ticks that stand side by side, each headed by a class.

    Parameters
    ----------
    measures
        The table.
    columns
        The columns that may be ticks and belong to no other group.

    Returns
    -------
    TickGroup or None
    """
    order = measures.profile.columns
    runs: list[list[str]] = [[]]
    for column in order:
        ticks = column in columns and measures.facts(column).is_ticks
        if ticks and not is_metadata_name(column):
            runs[-1].append(column)
        elif runs[-1]:
            runs.append([])
    longest = max(runs, key=len)
    used = [column for column in longest if _is_tick(measures, column)]
    if len(longest) < _MIN_LOOSE or len(used) < _MIN_LOOSE - 1:
        return None
    members = {column: column for column in longest}
    ticked = n_ticked(measures, members)
    share = float(ticked.mean()) / len(longest)
    return TickGroup(
        name=f"{longest[0]} … {longest[-1]}",
        members=members,
        exclusive=float((ticked == 1).mean()) >= _NEARLY_ALL,
        loose=True,
        first=float((ticked > 0).mean()) >= _NEARLY_ALL or share < _FEW_TICKS,
    )


def _prefix(column: str) -> str:
    """What a platform puts before the names of all answers."""
    return next((prefix for prefix in _PREFIXES if column.startswith(prefix)), "")


def _is_tick(measures: Measures, column: str) -> bool:
    facts = measures.facts(column)
    return facts.is_ticks and (facts.n_distinct == 2 or is_ticked(facts.values[0]))  # noqa: PLR2004


def _names_itself(measures: Measures, column: str) -> bool:
    """Whether the only value of a column ends its name: colour:red holds red, or nothing."""
    facts = measures.facts(column)
    value = facts.values[0].lower() if facts.n_distinct == 1 else ""
    end = column.lower().removesuffix(value) if value else column
    return bool(value) and facts.filled_share < 1 and end != column.lower() and end[-1:] in _SIGNS


def n_ticked(measures: Measures, members: Mapping[str, str]) -> NDArray[np.int64]:
    """Count the ticks of each row [rows].

    Parameters
    ----------
    measures
        The table.
    members
        For each column of ticks the class that it stands for.

    Returns
    -------
    ndarray
    """
    total = np.zeros(measures.profile.n_rows, np.int64)
    for column, answer in members.items():
        coded = measures.profile.coded(column)
        total += np.array([is_ticked(name, answer) for name in coded.names], bool)[coded.codes]
    return total
