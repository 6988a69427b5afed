"""What decisions do to data: workers left out, classes merged, truths that act as gold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from crowdcore.data import UNKNOWN, CrowdData
from crowdcore.decisions import CHANGE_DATA, MEANING, Decision
from crowdcore.errors import DataError


@dataclass(frozen=True, kw_only=True)
class Applied:
    """Data after decisions.

    Parameters
    ----------
    data
        Without excluded workers, with merged classes, and with decided truths as gold.
    used
        The decisions that fitted the data.
    skipped
        Sentences on those that did not: their worker, item or class is not there.
    """

    data: CrowdData
    used: tuple[Decision, ...]
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
    names = {"exclude": set(data.workers), "merge": set(data.classes), "truth": set(data.items)}
    used = [decision for decision in changing if decision.subject in names[decision.action]]
    skipped = [
        f"{decision.subject!r} is not in these data: {MEANING[decision.action]}."
        for decision in changing
        if decision.subject not in names[decision.action]
    ]
    excluded = [decision.subject for decision in used if decision.action == "exclude"]
    if excluded:
        is_left_out = np.isin(np.array(data.workers, dtype=object), excluded)
        if is_left_out[data.worker].all():
            raise DataError("Without the excluded workers there is no label left")
        data = data.without_workers(excluded)
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
    return Applied(data=data, used=tuple(used), skipped=tuple(skipped))


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
    class_codes = {name: code for code, name in enumerate(data.classes)}
    unfit = []
    for decision in truths:
        try:
            answer = (
                float(decision.value)
                if data.kind == "ratings"
                else class_codes[targets.get(decision.value, decision.value)]
            )
        except (ValueError, KeyError):
            unfit.append(decision)
            continue
        gold[item_codes[decision.subject]] = answer
    return replace(data, gold=gold), unfit
