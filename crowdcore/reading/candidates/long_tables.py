"""Long tables: one row per label. Which columns are item and worker, alone or together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from crowdcore.reading.candidates.measures import Crossing, Key, Measures, joined_name
from crowdcore.reading.candidates.reading import Rule
from crowdcore.reading.columns.names import (
    is_derived_name,
    is_metadata_name,
    is_order_name,
    is_time_name,
    item_strength,
    label_strength,
    worker_strength,
)
from crowdcore.reading.columns.roles import is_numbered_worker, name_rank
from crowdcore.wording import count, percent

MAX_KEY = 6
"""How many columns may name an item together."""

_WORKERS_TRIED = 4
_BASES_TRIED = 4
_UNIQUE_ENOUGH = 0.9
_JOINED_UNIQUE = 0.93
_MIN_GAIN = 0.0002
_KEPT_SHARED = 0.75
_MIN_SHARED = 0.05
_MAX_ID_CHARACTERS = 100
_STILL_SHARED = 0.9
_MAX_SPLIT = 0.1
_FEW_ROWS = 10
_FEW_VALUES = 20
_TRIPLE = 3
_SPEAKING = {
    "item": re.compile(r"(t|task|item|i|q|question|img|image|doc|unit|hit|ex)[_\- ]?\d+", re.I),
    "worker": re.compile(r"(w|worker|a|ann|annotator|u|user|r|rater|coder|judge)[_\- ]?\d+", re.I),
}
"""Ids that say what they name."""
_SLACK = 1.02


@dataclass(frozen=True, kw_only=True)
class Cross:
    """A choice of item and worker, with what speaks for it."""

    item: Key
    worker: str
    crossing: Crossing
    rules: tuple[Rule, ...]

    @property
    def score(self) -> float:
        """The sum of what the rules say."""
        return sum(rule.points for rule in self.rules)


def find_crosses(measures: Measures, *, worker: str | None, items: Sequence[Key]) -> list[Cross]:
    """Find the choices of item and worker, the best first.

    Parameters
    ----------
    measures
        The table.
    worker
        The worker, where it is known.
    items
        What may name the items, where that is known.

    Returns
    -------
    list of Cross
        At most one for each way to cut the rows into items.
    """
    workers = [worker] if worker is not None else _workers(measures)
    crosses: list[Cross] = []
    for name in workers:
        keys = list(items) or list(_items(measures, name))
        crosses += [judge(measures, key, name) for key in keys]
    crosses = [cross for cross in crosses if cross.crossing.n_items > 1]
    if not items:
        crosses += by_names(measures, worker)
    order = measures.profile.columns.index
    crosses.sort(key=lambda cross: (-round(cross.score, 6), order(cross.item[0])))
    different: list[Cross] = []
    for cross in crosses:
        if not any(
            _same_worker(measures, other.worker, cross.worker)
            and measures.same_partition(other.item, cross.item, 1.06)
            for other in different
        ):
            different.append(cross)
    return [
        cross
        for cross in different
        if not any(_is_finer(measures, other, cross) for other in different if other is not cross)
    ]


def _same_worker(measures: Measures, one: str, other: str) -> bool:
    """Whether two columns name the same people: by id and by name, some without an id."""
    if one == other:
        return True
    together = measures.n_distinct((one, other))
    return together <= _SLACK * max(measures.n_distinct((one,)), measures.n_distinct((other,)))


def _is_finer(measures: Measures, one: Cross, other: Cross) -> bool:
    """Whether one names parts of what the other names, and several workers saw these parts.

    The item is the finest thing that several workers saw: a document rather than its topic.
    """
    if one.worker != other.worker or one.crossing.n_items <= other.crossing.n_items:
        return False
    if one.crossing.unique_share < other.crossing.unique_share:
        return False
    if one.crossing.shared_share < _STILL_SHARED * other.crossing.shared_share:
        return False
    together = measures.n_distinct(tuple(dict.fromkeys((*one.item, *other.item))))
    return together <= _SLACK * measures.n_distinct(one.item)


def by_names(measures: Measures, worker: str | None) -> list[Cross]:
    """Take item and worker by their names alone, however little their values say.

    Parameters
    ----------
    measures
        The table.
    worker
        The worker, where it is known.

    Returns
    -------
    list of Cross
        One; none where no names say both.
    """
    columns = [column for column in measures.profile.columns if measures.facts(column).n_distinct]
    if worker is None:
        named = [c for c in columns if worker_strength(c) > 1 and not is_member(measures, c)]
        worker = max(named, key=worker_strength, default=None)
        if worker is None:
            return []
    free = [column for column in columns if column != worker]
    repeated = [column for column in free if not measures.facts(column).is_unique]
    item = max(repeated, key=item_strength, default="")
    if item_strength(item) < 2:  # noqa: PLR2004
        item = max(free, key=item_strength, default="")
    return [judge(measures, (item,), worker)] if item_strength(item) else []


def _workers(measures: Measures) -> list[str]:
    """Columns that may name workers: by name, and where no name says so by their values."""
    named = sorted(
        (c for c in measures.profile.columns if worker_strength(c) and may_be_worker(measures, c)),
        key=lambda column: -worker_strength(column),
    )
    strong = [column for column in named if worker_strength(column) > 1]
    if strong:
        return strong[:_WORKERS_TRIED]
    n_columns = len(measures.profile.columns)
    if measures.profile.n_rows < _FEW_ROWS and n_columns != _TRIPLE:
        return named
    by_values = [
        column
        for column in measures.profile.columns
        if column not in named
        and may_be_worker(measures, column)
        and _codes_people(measures, column)
    ]
    by_values.sort(key=lambda column: measures.facts(column).n_distinct)
    return [*named, *by_values][: 2 * _WORKERS_TRIED]


def may_be_worker(measures: Measures, column: str) -> bool:
    """Tell whether the values of a column may name workers, one in each row."""
    facts = measures.facts(column)
    return not (
        is_member(measures, column)
        or facts.is_constant
        or facts.is_unique
        or facts.is_date
        or facts.is_prose
        or facts.is_json
        or facts.decimals > 0.2  # noqa: PLR2004
        or facts.mean_length > _MAX_ID_CHARACTERS
    )


def is_member(measures: Measures, column: str) -> bool:
    """Whether a column is one of several workers rather than the column of workers."""
    unclear = is_numbered_worker(column) or worker_strength(column) < 3  # noqa: PLR2004
    return unclear and _has_siblings(measures, column)


def _has_siblings(measures: Measures, column: str) -> bool:
    """Whether other columns hold the same few values: then it is one of several workers."""
    values = set(measures.facts(column).values)
    if not values or len(values) > _FEW_VALUES:
        return False
    alike = 0
    for other in measures.profile.columns:
        others = set(measures.facts(other).values)
        same_size = len(others) <= 2 * len(values) + 1 and len(values) <= 2 * len(others) + 1
        shared = 2 * len(values & others) >= min(len(values), len(others))
        if other != column and others and same_size and shared:
            alike += 1
    few = measures.profile.n_rows < _FEW_ROWS or is_numbered_worker(column)
    return alike >= (1 if few else 2)


def _codes_people(measures: Measures, column: str) -> bool:
    """Whether a column without a telling name may hold ids of people all the same."""
    return not (
        label_strength(column) > 1
        or item_strength(column) > 1
        or is_time_name(column)
        or is_metadata_name(column)
        or is_derived_name(column)
        or measures.facts(column).is_url
    )


def _items(measures: Measures, worker: str) -> Iterator[Key]:
    """Columns that may name items, and columns that do so together."""
    singles: list[tuple[float, str]] = []
    has_named = any(item_strength(column) > 1 for column in measures.profile.columns)
    for column in measures.profile.columns:
        facts = measures.facts(column)
        if has_named and label_strength(column) == 3:  # noqa: PLR2004
            continue  # what is called the label is the item in no file that also names an item
        if name_rank("gold", column) is not None or (has_named and is_order_name(column)):
            continue
        if column == worker or facts.is_constant or facts.is_unique or facts.is_date:
            continue
        if facts.filled_share < 0.5:  # noqa: PLR2004
            continue
        crossing = measures.crossing((column,), worker)
        if crossing.shared_share < _MIN_SHARED or crossing.items_per_worker <= 1:
            continue
        singles.append((_structure(crossing) + 3 * item_strength(column), column))
    singles.sort(key=lambda scored: -scored[0])
    yield from ((column,) for _, column in singles[: 2 * _BASES_TRIED])
    named = [column for _, column in singles if item_strength(column) >= 2]  # noqa: PLR2004
    bases = dict.fromkeys([column for _, column in singles[:_BASES_TRIED]] + named[:_BASES_TRIED])
    for base in bases:
        if measures.crossing((base,), worker).unique_share < _UNIQUE_ENOUGH:
            key = _extend(measures, base, worker, [column for _, column in singles])
            if key is not None:
                yield key


def _extend(measures: Measures, base: str, worker: str, columns: Sequence[str]) -> Key | None:
    """Add columns until item and worker hardly ever meet twice."""
    key: Key = (base,)
    crossing = measures.crossing(key, worker)
    allowed = [
        column
        for column in columns
        if column != base
        and not is_time_name(column)
        and (measures.facts(column).is_prose or not is_metadata_name(column))
        and not is_derived_name(column)
        and label_strength(column) < 2  # noqa: PLR2004
        and measures.facts(column).decimals < 0.2  # noqa: PLR2004
    ]
    while len(key) < MAX_KEY and crossing.unique_share < 1:
        grown = [(measures.crossing((*key, c), worker), c) for c in allowed if c not in key]
        grown = [
            (found, column)
            for found, column in grown
            if found.shared_share >= _KEPT_SHARED * crossing.shared_share
            and found.unique_share >= crossing.unique_share + _MIN_GAIN
            and measures.splits(column, key, worker) <= _MAX_SPLIT
        ]
        if not grown:
            break
        crossing, column = max(grown, key=lambda pair: pair[0].unique_share + pair[0].shared_share)
        key = (*key, column)
    if crossing.unique_share < _JOINED_UNIQUE:
        return None
    key = _without_answers(measures, key, worker)
    order = measures.profile.columns.index
    return tuple(sorted(key, key=order)) if len(key) > 1 else None


def _without_answers(measures: Measures, key: Key, worker: str) -> Key:
    """Take columns out of a key that tell no more items apart, and those that are answers."""
    for column in key:
        rest = tuple(other for other in key if other != column)
        if not rest:
            break
        gain = (
            measures.crossing(key, worker).unique_share
            - measures.crossing(rest, worker).unique_share
        )
        if gain <= _MIN_GAIN or measures.splits(column, rest, worker) > _MAX_SPLIT:
            return _without_answers(measures, rest, worker)
    return key


def speaks(measures: Measures, column: str, role: str) -> bool:
    """Tell whether ids speak for themselves: w1 and w2 are workers, task-7 is an item."""
    values = measures.facts(column).values[:20]
    return bool(values) and all(_SPEAKING[role].fullmatch(value) for value in values)


def _structure(crossing: Crossing) -> float:
    return 40 * max(0.0, crossing.unique_share - 0.5) + 20 * crossing.shared_share


def judge(measures: Measures, item: Key, worker: str) -> Cross:
    """Say what speaks for a choice of item and worker."""
    crossing = measures.crossing(item, worker)
    name, strength = joined_name(item), max(item_strength(column) for column in item)
    rules = [
        Rule(
            points=5.0 * worker_strength(worker),
            sentence=f"{worker!r} is a usual name for workers."
            if worker_strength(worker)
            else f"{worker!r} does not say by its name that it is the worker.",
        ),
        Rule(
            points=3.0 * strength,
            sentence=f"{name!r} is a usual name for items."
            if strength
            else f"{name!r} does not say by its name that it is the item.",
        ),
        Rule(
            points=40 * max(0.0, crossing.unique_share - 0.5),
            sentence=f"A worker meets an item once in {percent(crossing.unique_share, 0)} of the "
            "rows.",
        ),
        Rule(
            points=20 * crossing.shared_share,
            sentence=f"{percent(crossing.shared_share, 0)} of the labels are of items that "
            "several workers labelled.",
        ),
        Rule(
            points=min(5.0, 2 * max(0.0, crossing.items_per_worker - 1)),
            sentence=f"{count(crossing.n_workers, 'worker')} with "
            f"{crossing.items_per_worker:.1f} items each on average.",
        ),
    ]
    for role, column in (("worker", worker), ("item", item[0])):
        if speaks(measures, column, role):
            rules.append(Rule(points=6.0, sentence=f"The values of {column!r} name {role}s."))
    facts = [measures.facts(column) for column in item]
    if any(fact.is_prose for fact in facts):
        rules.append(Rule(points=-4.0, sentence="The item is named by a long text."))
    if len(item) > 1:
        points = -1.0 * (len(item) - 1)
        rules.append(Rule(points=points, sentence=f"{len(item)} columns name the item together."))
    return Cross(item=item, worker=worker, crossing=crossing, rules=tuple(rules))
