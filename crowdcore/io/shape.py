"""What columns are, told by their values alone."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations

from crowdcore.io.glance import Glance
from crowdcore.io.health import counted
from crowdcore.io.roles import Roles, is_role_name

_MOST_CLASSES = 50
_MOST_CANDIDATES = 8
_LONGEST_ID = 100
_SHORT = 12
_FEWEST_WIDE = 3
_FEW_ROWS = 10
_ALL_BUT = 0.98
_HINTS = {
    "item": re.compile(r"(t|task|item|i|q|question|img|image|doc|unit|hit|ex)[_\- ]?\d+", re.I),
    "worker": re.compile(r"(w|worker|a|ann|annotator|u|user|r|rater|coder|judge)[_\- ]?\d+", re.I),
}


def same_values(
    glance: Glance, columns: Sequence[str], *, named: bool
) -> tuple[tuple[str, ...], bool]:
    """The columns that share one small set of values, and whether that is beyond doubt.

    Unless the rows are `named` by another column, one that never repeats may be their name.
    """
    small = [
        column
        for column in columns
        if 1 <= glance.distinct(column) <= _MOST_CLASSES
        and (named or not looks_distinct(glance, column, fewest=_FEWEST_WIDE))
    ]
    group = _largest_group(glance, small)
    if len(group) <= 1:
        return (), False
    names = {value for column in group for value in glance.values(column)}
    longest = max(2 * max(map(len, names)), _SHORT)
    place = {column: at for at, column in enumerate(glance.columns)}
    left, right = place[group[0]] - 1, place[group[-1]] + 1
    members = set(group)
    grown = [
        column
        for column in columns
        if column in members
        or (
            left <= place[column] <= right
            and not is_role_name(column)
            and not looks_distinct(glance, column)
            and glance.longest(column) <= longest
            and glance.distinct(column) <= max(len(names), _FEWEST_WIDE)
        )
    ]
    return tuple(grown), len(group) >= _FEWEST_WIDE and len(grown) == len(group)


def could_be_long(glance: Glance) -> bool:
    """Whether two columns of codes never repeat a pair, as items and workers do not."""
    columns = glance.columns
    if len(columns) < _FEWEST_WIDE or len(columns) > _MOST_CANDIDATES:
        return False
    if glance.n_rows < _FEW_ROWS:
        return len(columns) == _FEWEST_WIDE
    few = glance.top(2_000)
    repeated = [column for column in columns if few.repeats(column)]
    return any(few.unique_pairs(*pair) >= _ALL_BUT for pair in combinations(repeated, 2))


def looks_distinct(glance: Glance, column: str, *, fewest: int = 2) -> bool:
    """Whether a column may name the rows: no blank, no value twice."""
    return glance.n_rows >= fewest and glance.distinct(column) == glance.n_rows


def _largest_group(glance: Glance, columns: Sequence[str]) -> list[str]:
    """Grow a group from each column by those that share half of their values with it."""
    values = {column: set(glance.values(column)) for column in columns}
    best: list[str] = []
    for seed in sorted(columns, key=lambda column: -len(values[column]))[:_MOST_CANDIDATES]:
        union = values[seed]
        group = [
            column for column in columns if 2 * len(values[column] & union) >= len(values[column])
        ]
        if len(group) > len(best):
            best = group
    return best if len(best) > 1 else []


def best_long(
    glance: Glance, given: Mapping[str, str | None], columns: Sequence[str]
) -> dict[str, tuple[str, str]]:
    """The most plausible columns for the roles that are not given, with a sentence each."""
    open_roles = [role for role, column in given.items() if column is None]
    taken = [column for column in given.values() if column is not None]
    free = [column for column in columns if column not in taken and glance.values(column)]
    free = sorted(free, key=lambda column: not _could_be_any(glance, column))[:_MOST_CANDIDATES]
    best: dict[str, str] = {}
    best_score = -math.inf
    few = glance.top(2_000)
    for choice in _choices(few, open_roles, free):
        whole = {role: column for role, column in given.items() if column} | choice
        score = _plausibility(few, whole)
        if score > best_score:
            best, best_score = choice, score
    return {role: (column, _why(glance, role, column)) for role, column in best.items()}


def _could_be_any(glance: Glance, column: str) -> bool:
    return glance.longest(column) <= _LONGEST_ID and glance.distinct(column) > 1


def _choices(glance: Glance, roles: Sequence[str], free: Sequence[str]) -> Iterator[dict[str, str]]:
    """Every way to give the open roles to free columns that could play them."""
    if not roles or len(free) < len(roles):
        return
    for columns in permutations(free, len(roles)):
        choice = dict(zip(roles, columns, strict=True))
        label = choice.get("label")
        if label is not None and glance.distinct(label) > max(_MOST_CLASSES, glance.n_rows // 20):
            continue
        worker = choice.get("worker")
        if worker is not None and glance.longest(worker) > _LONGEST_ID:
            continue
        yield choice


def _plausibility(glance: Glance, roles: Mapping[str, str]) -> float:
    """Score an assignment: distinct pairs, few classes, labels that differ within an item."""
    item, worker, label = (roles.get(role) for role in ("item", "worker", "label"))
    score = 0.0
    size = math.log(glance.n_rows + 2)
    if item and worker:
        score += 4 * glance.unique_pairs(item, worker)
        score += 0.5 * (glance.distinct(item) >= glance.distinct(worker))
        score += glance.repeats(item) + glance.repeats(worker)
    if item and label:
        score += (glance.varies_within(label, item) > 0) + 0.5 * glance.repeats(item)
    if label:
        score -= 2 * math.log(glance.distinct(label) + 1) / size
        score -= 0.5 * (glance.distinct(label) < 2)  # noqa: PLR2004
        score += 0.1 * glance.columns.index(label) / len(glance.columns)  # labels stand right
    if item:
        score -= 0.1 * glance.columns.index(item) / len(glance.columns)
    for role, pattern in _HINTS.items():
        if column := roles.get(role):
            values = glance.values(column)[:20]
            score += 2 * all(pattern.fullmatch(value) for value in values)
    return score


def _why(glance: Glance, role: str, column: str) -> str:
    many = counted(glance.distinct(column), "distinct value")
    meaning = {
        "item": "shared by several rows like things that were labelled",
        "worker": "coming back for many items like people",
        "label": "few enough to be classes",
    }
    return f"{column!r} has {many}, {meaning[role]}."


def gold_by_shape(glance: Glance, roles: Roles) -> str | None:
    """A column of labels that never differs within an item, in a file without a header."""
    if roles.item is None or roles.label is None or not glance.repeats(roles.item):
        return None
    labels = set(glance.values(roles.label))
    for column in glance.columns:
        values = glance.values(column)
        if column in roles.used or not values or not labels.issuperset(values):
            continue
        if len(values) > 1 and glance.varies_within(column, roles.item) == 0:
            return column
    return None
