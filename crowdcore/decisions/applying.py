"""What decisions do to data: labels left out, groups that vote once, classes merged, gold set."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import UNKNOWN, CrowdData, Kind
from crowdcore.decisions import CHANGE_DATA, MEANING, MIN_GROUP, Decision, names_in
from crowdcore.errors import DataError
from crowdcore.wording import count, join_names

DECIDABLE: frozenset[Kind] = frozenset({"classes", "ratings", "sets"})
"""Kinds of labels of which a person can decide the answer of a single item."""


@dataclass(frozen=True, kw_only=True)
class Applied:
    """Data after decisions.

    Parameters
    ----------
    data
        Without excluded workers and labels, with one vote for each group of workers who answer
        alike, with merged classes, and with decided truths as gold.
    used
        The decisions that fitted the data.
    effects
        Sentences on labels that went although their worker stays.
    skipped
        Sentences on those that did not: their worker, item or class is not there.
    """

    data: CrowdData
    used: tuple[Decision, ...]
    effects: tuple[str, ...]
    skipped: tuple[str, ...]


def apply(data: CrowdData, decisions: Iterable[Decision]) -> Applied:
    """Change data as decided.

    Parameters
    ----------
    data
        The labels.
    decisions
        What holds, such as `Standing.changing_data`; other kinds are passed over.

    Returns
    -------
    Applied
        The changed data, and which decisions were used.

    Raises
    ------
    DataError
        If nobody's labels are left.
    """
    changing = [decision for decision in decisions if decision.action in CHANGE_DATA]
    workers = set(data.workers)
    subjects = {"merge": set(data.classes), "truth": set(data.items)}

    def fits(decision: Decision) -> bool:
        if decision.action == "one_vote":
            return len(workers.intersection(names_in(decision.subject))) >= MIN_GROUP
        return decision.subject in subjects.get(decision.action, workers)

    used = [decision for decision in changing if fits(decision)]
    skipped = [
        f"{decision.subject!r} is not in these data: {MEANING[decision.action]}."
        for decision in changing
        if not fits(decision)
    ]
    excluded = [decision.subject for decision in used if decision.action == "exclude"]
    if excluded:
        is_left_out = np.isin(np.array(data.workers, dtype=object), excluded)
        if is_left_out[data.worker].all():
            raise DataError("Without the excluded workers there is no label left")
        data = data.without_workers(excluded)
    data, effects = _without_labels(data, [made for made in used if made.action == "leave_out"])
    data, once = _with_one_vote(data, [made for made in used if made.action == "one_vote"])
    data, targets = _merge_classes(
        data, {decision.subject: decision.value for decision in used if decision.action == "merge"}
    )
    data, unfit = _set_truths(
        data, [decision for decision in used if decision.action == "truth"], targets
    )
    skipped += [
        f"{decision.value!r}, the decided truth of {decision.subject!r}, is no answer here."
        for decision in unfit
    ]
    used = [decision for decision in used if decision not in unfit]
    return Applied(data=data, used=tuple(used), effects=(*effects, *once), skipped=tuple(skipped))


def labels_of(data: CrowdData, worker: str, items: Iterable[str]) -> NDArray[np.bool_]:
    """Find the labels of a worker on some items.

    Parameters
    ----------
    data
        The labels.
    worker
        The worker's name.
    items
        The items' names; those that are not there are passed over.

    Returns
    -------
    numpy.ndarray
        Whether each label is one of them [L].
    """
    rows = np.flatnonzero(data.worker == data.workers.index(worker))
    wanted = np.isin(np.array(data.items, dtype=object)[data.item[rows]], list(items))
    is_wanted = np.zeros(data.n_labels, bool)
    is_wanted[rows[wanted]] = True
    return is_wanted


def surplus_votes(data: CrowdData, workers: Iterable[str]) -> NDArray[np.bool_]:
    """Find the labels that go if some workers vote once per item.

    On each item the labels of the member with the most labels in all stay, whoever copied:
    members of such a group mostly give the same answer.

    Parameters
    ----------
    data
        The labels.
    workers
        Names of the group; those that are not there are passed over.

    Returns
    -------
    numpy.ndarray
        Whether each label goes [L].
    """
    names = set(workers)
    is_member = np.array([name in names for name in data.workers], bool)
    rows = np.flatnonzero(is_member[data.worker])
    subject = data.item[rows].astype(np.int64)
    if data.other is not None:  # a comparison is about two items
        both = np.sort(np.stack([subject, data.other[rows].astype(np.int64)]), axis=0)
        subject = both[0] * data.n_items + both[1]
    _, subject = np.unique(subject, return_inverse=True)
    rank = np.argsort(np.argsort(-data.labels_per_worker, kind="stable"))[data.worker[rows]]
    first = np.full(int(subject.max(initial=-1)) + 1, data.n_workers)
    np.minimum.at(first, subject, rank)
    surplus = np.zeros(data.n_labels, bool)
    surplus[rows[rank > first[subject]]] = True
    return surplus


def _without_labels(data: CrowdData, decisions: Iterable[Decision]) -> tuple[CrowdData, list[str]]:
    effects = []
    for decision in decisions:
        goes = labels_of(data, decision.subject, names_in(decision.value))
        if goes.all():
            raise DataError("Without the labels that are left out there is none")
        data = data.only(~goes)
        effects.append(f"Left out by decision: {count(goes.sum(), 'label')} of {decision.subject}.")
    return data, effects


def _with_one_vote(data: CrowdData, decisions: Iterable[Decision]) -> tuple[CrowdData, list[str]]:
    """Let groups vote once; those that share a worker are one group."""
    groups: list[set[str]] = []
    for decision in decisions:
        group = set(names_in(decision.subject))
        joined = [other for other in groups if other & group]
        groups = [other for other in groups if not other & group]
        groups.append(group.union(*joined))
    effects = []
    for group in groups:
        goes = surplus_votes(data, group)
        data = data.only(~goes)
        names = join_names(sorted(group))
        effects.append(
            f"By decision {names} vote once per item: {count(goes.sum(), 'label')} left out."
        )
    return data, effects


def _merge_classes(data: CrowdData, merges: Mapping[str, str]) -> tuple[CrowdData, dict[str, str]]:
    """Count classes as others; also return what each class has become."""
    targets = {name: _final(name, merges) for name in (*data.classes, *merges.values())}
    if not merges:
        return data, targets
    classes = tuple(dict.fromkeys(targets[name] for name in data.classes))
    code = {name: index for index, name in enumerate(classes)}
    codes = np.array([*(code[targets[name]] for name in data.classes), UNKNOWN], np.int32)
    gold = None if data.gold is None else codes[data.gold]  # UNKNOWN, -1, is the last
    return replace(data, label=codes[data.label], gold=gold, classes=classes), targets


def _final(name: str, merges: Mapping[str, str]) -> str:
    """Follow merges to their end; a circle ends where it began."""
    passed = [name]
    while merges.get(passed[-1], passed[-1]) not in passed:
        passed.append(merges[passed[-1]])
    return passed[-1]


def _set_truths(
    data: CrowdData, truths: Sequence[Decision], targets: Mapping[str, str]
) -> tuple[CrowdData, list[Decision]]:
    """Let decided truths be gold; also return the decisions whose answer does not fit."""
    if not truths:
        return data, []
    item_codes = {name: code for code, name in enumerate(data.items)}
    unknown: float = np.nan if data.kind == "ratings" else UNKNOWN
    gold = np.full(data.n_items, unknown) if data.gold is None else data.gold.copy()
    sets = None if data.sets is None else list(data.sets)
    unfit = []
    for decision in truths:
        try:
            answer = parse_answer(data, targets.get(decision.value, decision.value))
        except DataError:
            unfit.append(decision)
            continue
        if sets is not None:  # a set that nobody gave becomes a further row
            same = [code for code, row in enumerate(sets) if np.array_equal(row, answer)]
            answer = same[0] if same else len(sets)
            sets += [] if same else [parse_answer(data, decision.value)]
        gold[item_codes[decision.subject]] = answer
    return replace(data, gold=gold, sets=None if sets is None else np.stack(sets)), unfit


def parse_answer(data: CrowdData, text: str) -> Any:
    """Read the right answer of an item as a person wrote it.

    Parameters
    ----------
    data
        The labels that it must fit.
    text
        The name of a class, a number, or a JSON list of the classes of a set.

    Returns
    -------
    int, float or numpy.ndarray
        The code of the class, the number, or which classes the set holds [K].

    Raises
    ------
    DataError
        If it is no answer here.
    """
    if data.kind not in DECIDABLE:
        raise DataError(f"The answer of an item cannot be decided where labels are {data.kind}")
    if data.kind == "ratings":
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise DataError(f"{text!r} is no number", fix="Give a rating such as 3.5.")
        return number
    if data.kind == "classes":
        if text not in data.classes:
            raise DataError(f"{text!r} is none of the classes", fix=_choices(data))
        return data.classes.index(text)
    try:
        names = json.loads(text)
    except ValueError:
        names = None
    if not isinstance(names, list) or not all(name in data.classes for name in names):
        raise DataError(f"{text!r} is no list of the classes", fix=_choices(data))
    return np.isin(np.array(data.classes, dtype=object), names)


def _choices(data: CrowdData) -> str:
    return f"Classes: {join_names(data.classes)}."
