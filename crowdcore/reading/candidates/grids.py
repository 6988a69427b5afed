"""Columns that are named by a worker and a question: anna_topic, anna_tone, ben_topic, ben_tone."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations

from crowdcore.reading.candidates.measures import Measures
from crowdcore.reading.columns.names import is_remark_name, label_strength

Grid = dict[str, dict[str, str]]
"""For each question the column of each worker."""

ANSWER = "answer"
"""The question of columns that are headed by a worker alone."""

_SIGN = r"[ _.:/-]+"
_MIN_MEMBERS = 2
_INITIALS = re.compile(r"[A-Za-z]{1,2}\d?")
_ALIKE = 0.5
_CLEARLY = 0.2


def find_grid(measures: Measures, columns: Sequence[str]) -> Grid:
    """Find columns that are named by a worker and a question.

    Columns of one question share their values, and columns of one worker do not: that tells
    workers from questions.

    Parameters
    ----------
    measures
        The table.
    columns
        The columns that may hold answers.

    Returns
    -------
    dict
        Empty where there are no such columns, or nothing tells workers from questions.
    """
    best: Grid = {}
    best_gain = _CLEARLY
    for split in (_first_part, _last_part):
        for grid in _grids(columns, split):
            turned = _turned(grid)
            if len(turned) < _MIN_MEMBERS or len(grid) < _MIN_MEMBERS:
                continue
            within, across = _overlap(measures, grid), _overlap(measures, turned)
            gain = within - across
            if all(_INITIALS.fullmatch(name) for name in turned) and gain > -_CLEARLY:
                gain += 1.0  # initials of people, behind every question
            if within >= _ALIKE and gain > best_gain:
                best, best_gain = grid, gain
    questions = {
        question: members
        for question, members in best.items()
        if not all(measures.facts(column).is_prose for column in members.values())
    }
    # Remarks and how sure a worker is come behind what was asked.
    return dict(sorted(questions.items(), key=lambda pair: _rank(pair[0])))


def _rank(question: str) -> tuple[bool, bool]:
    aside = is_remark_name(question) or bool(re.match("conf|cert|sure|time", question.lower()))
    return aside, not (question == ANSWER or label_strength(question))


def _first_part(name: str) -> tuple[str, str]:
    parts = re.split(_SIGN, name.strip(), maxsplit=1)
    return parts[0], parts[1] if len(parts) > 1 else ""


def _last_part(name: str) -> tuple[str, str]:
    match = re.fullmatch(f"(.+?){_SIGN}([^ _.:/-]+)", name.strip())
    return (match[1], match[2]) if match else (name.strip(), "")


def _grids(columns: Sequence[str], split: Callable[[str], tuple[str, str]]) -> list[Grid]:
    """Both ways to read the parts of names: worker first, and question first."""
    parts = {column: split(column) for column in columns}
    heads = {head for head, tail in parts.values() if tail}
    found: Grid = defaultdict(dict)
    for column, (head, tail) in parts.items():
        if tail or head in heads:
            found[tail or ANSWER][head] = column
    complete = max((set(members) for members in found.values()), key=len, default=set())
    rows = {tail: members for tail, members in found.items() if set(members) == complete}
    bare = ANSWER in rows and any(not tail for _, tail in parts.values())
    return [rows] if bare else [rows, _turned(rows)]


def _turned(grid: Grid) -> Grid:
    turned: Grid = defaultdict(dict)
    for row, members in grid.items():
        for name, column in members.items():
            turned[name][row] = column
    return dict(turned)


def _overlap(measures: Measures, grid: Grid) -> float:
    """How many of their values two columns of a row of the grid share, on average."""
    shares = []
    for members in grid.values():
        values = [set(measures.facts(column).values) for column in members.values()]
        for a, b in list(combinations(values, 2))[:20]:
            shares.append(len(a & b) / max(1, min(len(a), len(b))))
    return sum(shares) / len(shares) if shares else 0.0
