"""Columns of ticks, one per class (one-hot): found by their names and values, and gathered."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crowdcore.reading.candidates.measures import Measures
from crowdcore.reading.parsing.derived import is_ticked

_MIN_CLASSES = 2
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
    """

    name: str
    members: dict[str, str]
    exclusive: bool


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
            share = _ticked_once(measures, list(members))
            exclusive = share >= 0.95  # noqa: PLR2004
            if pattern is _SOFT_CUT and not exclusive:
                continue
            groups.append(TickGroup(name=stem, members=members, exclusive=exclusive))
            grouped |= set(members)
    return groups


def _prefix(column: str) -> str:
    """What a platform puts before the names of all answers."""
    return next((prefix for prefix in _PREFIXES if column.startswith(prefix)), "")


def _is_tick(measures: Measures, column: str) -> bool:
    facts = measures.facts(column)
    return facts.is_ticks and (facts.n_distinct == 2 or is_ticked(facts.values[0]))  # noqa: PLR2004


def _ticked_once(measures: Measures, columns: Sequence[str]) -> float:
    """Return the share of rows in which exactly one column is ticked."""
    total = np.zeros(measures.profile.n_rows, np.int64)
    for column in columns:
        coded = measures.profile.coded(column)
        total += np.array([is_ticked(value) for value in coded.names], bool)[coded.codes]
    return float((total == 1).mean())
