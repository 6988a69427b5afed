"""Comparisons of two: which columns hold the two, and that the label is the winner."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from crowdcore.reading.candidates.measures import Measures
from crowdcore.reading.columns.names import label_strength, vocabulary, words_of

_TIES = vocabulary("tie equal same draw both neither none undecided bothbad tie_(bothbad)")
_SIDES = (("left", "right"), ("a", "b"), ("1", "2"), ("first", "second"), ("x", "y"))
_WINNER = vocabulary("winner preferred preference prefer better best")
_MOST = 0.95


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two columns that are compared.

    Parameters
    ----------
    left, right
        The columns.
    reason
        A sentence that says why.
    """

    left: str
    right: str
    reason: str


def find_pair(measures: Measures, label: str) -> Pair | None:
    """Find the two columns of which a label names the winner.

    Parameters
    ----------
    measures
        The table.
    label
        The column of answers.

    Returns
    -------
    Pair or None
        None where the label is not the winner of two.
    """
    columns = [c for c in measures.profile.columns if c != label]
    pairs = _sided(columns)
    for left, right in pairs:
        if _names_a_value(measures, left, right, label):
            return Pair(
                left=left, right=right, reason=f"{label!r} is always {left!r} or {right!r}."
            )
    answers = {value.lower().replace(" ", "") for value in measures.facts(label).values}
    decided = answers - _TIES - {"tie(bothbad)"}
    for left, right in pairs:
        sides = {_plain(left), _plain(right)}
        short = {words_of(left)[-1], words_of(right)[-1]}
        both = len(decided) == len(sides)
        if both and (decided == sides or (decided == short and _says_winner(label))):
            return Pair(
                left=left,
                right=right,
                reason=f"{label!r} says which of {left!r} and {right!r} is better.",
            )
    return None


def _says_winner(label: str) -> bool:
    """Whether a name means an answer: 1 and 2 alone may be anything."""
    return label_strength(label) > 0 or bool(_WINNER & set(words_of(label)))


def _plain(name: str) -> str:
    return name.lower().replace(" ", "")


def _sided(columns: list[str]) -> list[tuple[str, str]]:
    """Pairs of columns whose names differ by a side: left and right, model_a and model_b."""
    stems: dict[tuple[tuple[str, ...], tuple[str, str]], dict[str, str]] = defaultdict(dict)
    for column in columns:
        words = words_of(column)
        for sides in _SIDES:
            for side in sides:
                if side in words:
                    at = words.index(side)
                    stems[(*words[:at], *words[at + 1 :]), sides][side] = column
    return [
        (members[sides[0]], members[sides[1]])
        for (_, sides), members in stems.items()
        if len(members) == 2  # noqa: PLR2004
    ]


def _names_a_value(measures: Measures, left: str, right: str, label: str) -> bool:
    """Whether the label of each row is the value of one of two columns, and of both at times."""
    profile = measures.profile
    texts = [profile.coded(column) for column in (left, right, label)]
    numbers: dict[str, int] = {}
    codes = []
    for coded in texts:
        code_of = np.array([numbers.setdefault(name.strip(), len(numbers)) for name in coded.names])
        codes.append(code_of[coded.codes])
    filled = profile.filled(label)
    is_left, is_right = (codes[2] == codes[0])[filled], (codes[2] == codes[1])[filled]
    if not len(is_left):
        return False
    if (codes[0] != codes[1])[filled].mean() < _MOST:
        return False  # nothing is compared with itself
    either = (is_left | is_right).mean()
    return bool(either >= _MOST and is_left.any() and is_right.any())
