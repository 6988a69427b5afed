"""The columns beside item, worker and label: gold, times, and what describes the items."""

from __future__ import annotations

import re
from collections.abc import Sequence

from crowdcore.reading.candidates.kinds import numbers_of
from crowdcore.reading.candidates.measures import Key, Measures
from crowdcore.reading.columns.names import is_metadata_name, words_of
from crowdcore.reading.columns.personal import personal_kind
from crowdcore.reading.columns.platforms import Hints
from crowdcore.reading.columns.roles import Roles, name_rank

_PERSONAL_VALUES = 200
_MAX_DETAILS = 20
_MAX_VARYING = 0.6
_FEW_ROWS = 50
_MAX_SECONDS = 10_000_000
_DURATION = re.compile("duration|seconds|secs|elapsed|lead_time|time_spent|work_?time|time_taken")


def name_gold(measures: Measures, item: Key) -> str | None:
    """Find the column that by its name holds known answers, and seldom varies within an item."""
    named = sorted(
        (rank, at, column)
        for at, column in enumerate(measures.profile.columns)
        if column not in item and (rank := name_rank("gold", column)) is not None
    )
    for _, _, column in named:
        facts = measures.facts(column)
        if (
            facts.n_distinct
            and not facts.is_prose
            and (
                not item
                or measures.profile.n_rows < _FEW_ROWS
                or measures.variation(column, item) <= _MAX_VARYING
            )
        ):
            return column
    return None


def gold_by_values(measures: Measures, item: Key, label: str) -> str | None:
    """Find a column of labels that never differs within an item, as gold does not.

    Only for a file without names: with names, known answers are called so.
    """
    if measures.profile.table.header:
        return None
    labels = set(measures.profile.values(label))
    for column in measures.profile.columns:
        values = measures.profile.values(column)
        if column in (*item, label) or len(values) < 2 or not labels.issuperset(values):  # noqa: PLR2004
            continue
        if measures.variation(column, item) == 0:
            return column
    return None


def name_time(measures: Measures) -> str | None:
    """Find the column that says when a label was given: by its name, best also by its values."""
    named = [column for column in _named_time(measures) if not _is_duration(measures, column)]
    dated = [column for column in named if measures.facts(column).is_date]
    return next(iter(dated or named), None)


def name_duration(measures: Measures) -> str | None:
    """Find the column that says how many seconds a label took."""
    columns = [c for c in measures.profile.columns if _DURATION.search("_".join(words_of(c)))]
    columns = [*columns, *_named_time(measures)]
    return next((column for column in columns if _is_duration(measures, column)), None)


def _named_time(measures: Measures) -> list[str]:
    ranks = {column: name_rank("time", column) for column in measures.profile.columns}
    named = [c for c, rank in ranks.items() if rank is not None and measures.facts(c).n_distinct]
    return sorted(named, key=lambda column: ranks[column] or 0)


def _is_duration(measures: Measures, column: str) -> bool:
    numbers = numbers_of(measures.facts(column).values)
    return numbers is not None and min(numbers) >= 0 and max(numbers) < _MAX_SECONDS


def about_items(
    measures: Measures, item: Key, roles: Roles, hints: Hints, answers: Sequence[str]
) -> tuple[str, ...]:
    """List the columns that describe the items; personal data are never among them.

    Parameters
    ----------
    measures
        The table.
    item
        What names the items; empty where `roles` already lists what may describe them.
    roles
        The columns that have a role.
    hints
        What the platform says.
    answers
        The answers to other questions.

    Returns
    -------
    tuple of str
    """
    taken = {*roles.used, *item, *answers} if item else set()
    columns = [column for column in measures.profile.columns if column not in taken]
    kept = list(roles.details) if not item else []
    for column in columns if item else ():
        facts = measures.facts(column)
        if not facts.n_distinct:
            continue
        given = column in hints.answers and measures.variation(column, item) == 0
        if column in hints.details or given or _describes(measures, column, item, roles):
            kept.append(column)
    return tuple(
        column
        for column in kept
        if not personal_kind(column, measures.profile.values(column)[:_PERSONAL_VALUES])
    )[:_MAX_DETAILS]


def _describes(measures: Measures, column: str, item: Key, roles: Roles) -> bool:
    if is_metadata_name(column) and len(words_of(column)) == 1:
        return False
    if measures.n_distinct(item) >= measures.profile.n_rows:
        return False
    if measures.variation(column, item) > 0:
        return False
    # What never varies within a worker either is about the worker, or about the whole file.
    return roles.worker is None or measures.variation(column, (roles.worker,)) > 0
