"""Answers that hold several classes in one cell, split into sets of classes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crowdcore.building import tick_rows
from crowdcore.codes import natural_order
from crowdcore.data import UNKNOWN, CrowdData
from crowdcore.reading.candidates.kinds import atoms
from crowdcore.reading.findings import make_finding
from crowdcore.reading.labels.health import HealthReport

_NOT_ABOUT_SETS = ("spellings", "many_classes", "ratings")
"""Findings about classes that combinations of classes would set off."""


def as_sets(data: CrowdData, separator: str) -> CrowdData:
    """Turn labels whose classes are combinations into sets of classes.

    Parameters
    ----------
    data
        Labels as they were read, a combination for a class.
    separator
        What stands between the classes of one answer, see `candidates.kinds.separator_of`.

    Returns
    -------
    CrowdData
        The same labels of the kind "sets", with a finding that says so.
    """
    answers = [tuple(dict.fromkeys(_classes(cell, separator))) for cell in data.classes]
    classes = natural_order({part for answer in answers for part in answer})
    different = list(dict.fromkeys(map(frozenset, answers)))
    place = {answer: code for code, answer in enumerate(different)}
    code = np.array([place[frozenset(answer)] for answer in answers], np.int32)
    gold = None if data.gold is None else np.append(code, UNKNOWN)[data.gold]
    sets = replace(
        data,
        label=code[data.label],
        gold=gold,
        classes=classes,
        kind="sets",
        sets=tick_rows([sorted(answer) for answer in different], classes),
    )
    if not isinstance(data.report, HealthReport):
        return sets
    sign = {"\n": "new lines", "json": "the entries of lists", "[]": "brackets"}.get(
        separator, repr(separator)
    )
    finding = make_finding(
        "several_classes",
        len(different),
        examples=(cell.replace("\n", " + ") for cell in data.classes if len(cell) > 1),
        done=f"Answers were split at {sign} into {len(classes)} classes.",
    )
    kept = tuple(each for each in data.report.findings if each.id not in _NOT_ABOUT_SETS)
    report = replace(data.report, findings=(*kept, finding), n_classes=len(classes))
    return replace(sets, report=report)


def _classes(cell: str, separator: str) -> list[str]:
    """The classes of one cell; an empty cell, or list, is an answer without any."""
    return atoms(cell, separator) if cell.strip() else []
