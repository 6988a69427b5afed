"""What the answers of a question are: classes, ratings, several classes, rankings and more."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from crowdcore.reading.agreement import chance_corrected, numeric_agreement
from crowdcore.reading.candidates.measures import (
    Key,
    Measures,
)
from crowdcore.reading.columns.names import label_strength

SEPARATORS = ("\n", "|", ";", "#", ",", " ")
"""What may stand between several answers in one cell, the surest first."""

_BRACKETED = re.compile(r"\s*\[[^\[\]]+\](?:[\s,;]*\[[^\[\]]+\])*\s*")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_TAG = re.compile(r"[BIESLU]-\S+|O")
_MAX_RATING_STEPS = 11
_MIN_RATING_STEPS = 3
_MANY_NUMBERS = 20
_ORDER_GAIN = 0.1
"""Numbers are ratings if agreement rises by so much when near misses count as such."""

_MIN_RATINGS = 100
_DRAWN = ('"x"', "pathX", "points", "bbox", "bounding", "polygon", "rle", "brush", '"left"', "xmin",
          '"x1"', "segmentation", "coordinates", "geometry")  # fmt: skip
_RANKED_ATOMS = 3
_MAX_ATOM_WORDS = 8
_LIKERT = (
    ("disagree", "agree"),
    ("never", "always"),
    ("poor", "excellent"),
    ("bad", "good"),
    ("unlikely", "likely"),
    ("dissatisfied", "satisfied"),
    ("low", "high"),
    ("not at all", "extremely"),
    ("not at all", "very"),
)
_LEADING_NUMBER = re.compile(r"\s*(\d+)\s*[-–:.)=]\s*\S")


def atoms(cell: str, separator: str) -> list[str]:
    """Split one cell into its answers.

    Parameters
    ----------
    cell
        The cell.
    separator
        One of `SEPARATORS`, "json" or "[]".

    Returns
    -------
    list of str
        The answers, in the order of the cell.
    """
    if separator == "json":
        try:
            values = json.loads(cell)
        except (ValueError, RecursionError):
            return [cell]
        if isinstance(values, dict) and len(values) == 1:
            values = next(iter(values.values()))
        if not isinstance(values, list):
            return [cell]
        return [value if isinstance(value, str) else json.dumps(value) for value in values]
    if separator == "[]":
        return [part.strip() for part in re.findall(r"\[([^\[\]]+)\]", cell)] or [cell]
    return [part.strip() for part in cell.split(separator) if part.strip()]


def separator_of(values: Sequence[str]) -> str | None:
    """Find what stands between several answers in one cell.

    A few answers must explain many combinations; a class whose name has a comma is none.

    Parameters
    ----------
    values
        The distinct cells.

    Returns
    -------
    str or None
        What `atoms` takes; None where cells hold one answer each.
    """
    cells = [value.strip() for value in values if value.strip()]
    if not cells:
        return None
    lists = [cell for cell in cells if cell.startswith("[") and cell.endswith("]")]
    if len(lists) >= 0.5 * len(cells):
        if _splits(cells, "json", certain=True):
            return "json"
        if all(_BRACKETED.fullmatch(cell) for cell in lists) and _splits(cells, "[]", certain=True):
            return "[]"
    return next((sign for sign in SEPARATORS if _splits(cells, sign, certain=sign == "\n")), None)


def _splits(cells: Sequence[str], separator: str, *, certain: bool) -> bool:  # noqa: PLR0911
    parts = [atoms(cell, separator) for cell in cells]
    several = [part for part in parts if len(part) > 1]
    if not several:
        return False
    if any(len(set(part)) < len(part) for part in several) and not certain:
        return False  # an answer is not given twice
    used = Counter(atom for part in parts for atom in set(part))
    singles = {part[0] for part in parts if len(part) == 1}
    if any(len(atom.split()) > _MAX_ATOM_WORDS for atom in used) and not certain:
        return False
    if (
        separator in (",", " ")
        and all(_NUMBER.fullmatch(atom) for atom in used)
        and len({len(part) for part in parts}) == 1
    ):
        return False  # vectors of one length
    known = sum(used[atom] > 1 or atom in singles for part in several for atom in part)
    n_parts = sum(map(len, several))
    if certain:
        return known >= 0.5 * n_parts
    as_single = sum(atom in singles for part in several for atom in part)
    if separator in (",", " "):
        return as_single >= 0.6 * n_parts and len(used) < len(cells)
    return known >= 0.8 * n_parts and (len(used) < len(cells) or as_single >= 0.6 * n_parts)


def is_ranking(values: Sequence[str]) -> bool:
    """Tell whether answers are orders of one set of things: ABC, BAC, or a > b > c.

    Parameters
    ----------
    values
        The distinct cells.

    Returns
    -------
    bool
    """
    cells = [value.strip() for value in values if value.strip()]
    if len(cells) < _RANKED_ATOMS:
        return False
    for split in (_letters, *(lambda cell, sign=sign: [p.strip() for p in cell.split(sign)]
                              for sign in (">", ",", ";", "|", "-", " ", "\n"))):  # fmt: skip
        parts = [split(cell) for cell in cells]
        things = Counter(tuple(sorted(part)) for part in parts)
        common, times = things.most_common(1)[0]
        if (
            len(common) >= _RANKED_ATOMS
            and len(set(common)) == len(common)
            and times >= max(_RANKED_ATOMS, 0.8 * len(cells))
        ):
            return True
    return _json_lists_are_orders(cells)


def _letters(cell: str) -> list[str]:
    return list(cell) if cell.isalnum() and len(cell) <= 26 and cell.isupper() else [cell]  # noqa: PLR2004


def _json_lists_are_orders(cells: Sequence[str]) -> bool:
    parts = [tuple(sorted(atoms(cell, "json"))) for cell in cells]
    common, times = Counter(parts).most_common(1)[0]
    return len(common) >= _RANKED_ATOMS and times >= max(_RANKED_ATOMS, 0.8 * len(cells))


def are_tags(values: Sequence[str]) -> bool:
    """Tell whether answers are tags of tokens: B-PER, I-PER, O."""
    cells = [tag for value in values for tag in value.split()]
    return (
        len(cells) > 1
        and all(_TAG.fullmatch(cell) for cell in cells)
        and any("-" in cell for cell in cells)
    )


def numbers_of(values: Sequence[str]) -> list[float] | None:
    """Return the cells as numbers; None where more than a few of them are none."""
    cells = [value.strip() for value in values if value.strip()]
    numbers = [float(cell) for cell in cells if _NUMBER.fullmatch(cell)]
    return numbers if numbers and len(numbers) >= 0.9 * len(cells) else None


def looks_ordered(values: Sequence[str]) -> bool:
    """Tell whether words name the steps of a scale: agree … disagree, or 0-none … 4-extreme."""
    cells = [value.strip().lower() for value in values if value.strip()]
    if not _MIN_RATING_STEPS <= len(cells) <= _MAX_RATING_STEPS:
        return False
    leading = [match[1] for cell in cells if (match := _LEADING_NUMBER.match(cell))]
    if len(leading) == len(cells) and len(set(leading)) == len(cells):
        return _consecutive([float(number) for number in leading])
    return any(
        sum(low in cell or high in cell for cell in cells) >= max(2, 0.6 * len(cells))
        and any(low in cell for cell in cells)
        and any(high in cell.replace(low, "") for cell in cells)
        for low, high in _LIKERT
    )


def _consecutive(numbers: Sequence[float]) -> bool:
    ordered = sorted(set(numbers))
    return all(b - a == 1 for a, b in pairwise(ordered))


def kind_of(measures: Measures, column: str, item: Key) -> tuple[str, str]:
    """Say what the answers of a column are.

    Parameters
    ----------
    measures
        The table.
    column
        The column of answers.
    item
        What names the items: ratings agree nearly where classes agree or not.

    Returns
    -------
    kind : str
        A key of `KINDS`.
    note : str
        What is to be known about it; empty where nothing is.
    """
    facts = measures.facts(column)
    values = facts.values
    numbers = numbers_of(values)
    if is_ranking(values):
        return "rankings", ""
    if facts.is_json:
        return _nested_kind(values), ""
    if are_tags(values):
        return "sequences", ""
    if numbers is not None:
        return _numeric_kind(measures, column, item, numbers)
    if looks_ordered(values):
        return "ratings", "The answers are words of a scale, in an order to be confirmed."
    return _worded_kind(measures, column, item), ""


def _nested_kind(values: Sequence[str]) -> str:
    """Say what answers are that are JSON objects: spans have a start, drawings a place."""
    if any('"start"' in value for value in values[:50]):
        return "spans"
    drawn = any(sign in value for value in values[:50] for sign in _DRAWN)
    return "boxes" if drawn else "free text"


def _worded_kind(measures: Measures, column: str, item: Key) -> str:
    facts = measures.facts(column)
    if separator_of(facts.values) is not None:
        return "sets"
    if facts.is_prose and facts.n_distinct > 0.05 * facts.n_filled:
        return "free text"
    many = facts.n_distinct > max(_MANY_NUMBERS, 0.3 * facts.n_filled)
    by_chance = measures.agreement(column, item) < 0.05  # noqa: PLR2004
    sure = label_strength(column) == 3  # noqa: PLR2004
    return "free text" if many and by_chance and not sure else "classes"


def _numeric_kind(
    measures: Measures, column: str, item: Key, numbers: Sequence[float]
) -> tuple[str, str]:
    distinct = sorted(set(numbers))
    if len(distinct) < _MIN_RATING_STEPS:
        return "classes", ""
    if len(distinct) > _MANY_NUMBERS or any(number != int(number) for number in distinct):
        return "ratings", ""
    is_scale = len(distinct) > _MAX_RATING_STEPS or (
        _consecutive(distinct) and (distinct[0] == 1 or distinct[0] < 0)
    )
    enough = measures.facts(column).n_filled >= _MIN_RATINGS
    if is_scale and enough and order_gain(measures, column, item) > _ORDER_GAIN:
        return "ratings", "The answers are a few whole numbers that act like a scale."
    return "classes", "The answers are a few whole numbers; they could be ratings."


def order_gain(measures: Measures, column: str, item: Key) -> float:
    """Return by how much agreement rises when a near miss counts as one.

    Parameters
    ----------
    measures
        The table.
    column
        A column of numbers.
    item
        What names the items.

    Returns
    -------
    float
        Krippendorff's alpha for numbers less that for classes.
    """
    coded = measures.profile.coded(column)
    value_of = np.array([_as_number(name) for name in coded.names])
    values, groups = value_of[coded.codes], measures.codes(item)
    rows = ~np.isnan(values) & (groups >= 0)
    codes = np.asarray(coded.codes, np.int64)[rows]
    return numeric_agreement(groups[rows], values[rows]) - chance_corrected(groups[rows], codes)


def _as_number(text: str) -> float:
    return float(text) if _NUMBER.fullmatch(text.strip()) else float("nan")
