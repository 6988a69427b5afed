"""Labels that are numbers on a scale: parsed, told from classes, checked for codes and slips."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crowdcore.data import Floats
from crowdcore.reading.findings import Finding, make_finding
from crowdcore.reading.labels.coded_labels import CodedLabels
from crowdcore.wording import count

MANY_NUMBERS = 20
"""More different numbers than this are hardly class codes, if near ones go together."""

MIN_STEPS = 3
"""Fewer different numbers than this are classes, such as yes and no."""

MIN_ORDER = 0.1
"""How much better labels must agree as an order than as classes to be taken for ratings."""

MIN_SHARE_ON_SCALE = 0.99
"""A round scale that holds so many of the ratings, but not all, is taken for the intended one."""

SCALES = ((0, 1), (1, 5), (0, 5), (1, 7), (0, 10), (1, 10), (0, 100), (1, 100))
"""Round scales, from the narrowest."""

MISSING_CODES = frozenset({-999.0, -99.0, -9.0, -1.0, 0.0, 9.0, 88.0, 98.0, 99.0, 999.0, 9999.0})
"""Numbers that often stand for no answer."""

MIN_GAP_SHARE = 0.5
"""A missing code lies at least this share of the others' range away from them."""

MIN_LOG_CORRELATION = 0.5
"""Where items' deviations follow their means so closely, errors grow with the value."""

LIKERT = (
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("strongly disagree", "disagree", "neither agree nor disagree", "agree", "strongly agree"),
    ("very bad", "bad", "neutral", "good", "very good"),
    ("very poor", "poor", "fair", "good", "very good", "excellent"),
    ("bad", "poor", "fair", "good", "excellent"),
    ("very negative", "negative", "neutral", "positive", "very positive"),
    ("very unlikely", "unlikely", "neutral", "likely", "very likely"),
    ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("very low", "low", "medium", "high", "very high"),
    ("none", "mild", "moderate", "severe"),
)
"""Words of usual scales, from the least to the greatest."""

_RATING = re.compile(
    r"(?P<number>[-+]?\d+(?:[.,]\d+)?(?:e[-+]?\d+)?)\s*(?:/\s*(?P<top>\d+)|(?P<unit>[^\d\s.,/-][^\d]*))?",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """What classes are as numbers.

    Attributes
    ----------
    values
        The number of each class [K]; NaN for one that is none.
    how
        How they were read, in a sentence; empty for plain numbers.
    words
        Whether they are words of a usual scale, whose order somebody must confirm.
    """

    values: Floats
    how: str = ""
    words: bool = False

    @property
    def are_all(self) -> bool:
        """Whether every class is a number."""
        return bool(len(self.values)) and not bool(np.isnan(self.values).any())


def parse_numbers(classes: Sequence[str]) -> Numbers:
    """Read classes as numbers: plain, "4/5", "80 %", "3 stars", "2,5", or words of a scale.

    Parameters
    ----------
    classes
        The different labels of a file.

    Returns
    -------
    Numbers
        NaN for every class that is no number; a file in which units differ has none.
    """
    matches = [_RATING.fullmatch(name.strip()) for name in classes]
    found = [match for match in matches if match is not None]
    tops = {match["top"] for match in found}
    units = {(match["unit"] or "").strip().casefold().rstrip("s") for match in found}
    if found and len(tops) == 1 and len(units) == 1:
        values = [
            np.nan if match is None else float(match["number"].replace(",", "."))
            for match in matches
        ]
        how = ""
        if (top := tops.pop()) is not None:
            how = f"'{classes[0]}' and the like are read as points of {top}."
        elif unit := units.pop():
            how = f"The unit {unit!r} is taken off."
        elif any("," in match["number"] for match in found):
            how = "Commas are read as decimal points."
        return Numbers(values=np.array(values), how=how)
    plain = {re.sub(r"[\s_-]+", " ", name.strip().casefold()): name for name in classes}
    for scale in LIKERT:
        if len(plain) == len(classes) >= MIN_STEPS and set(plain) <= set(scale):
            order = [scale.index(word) + 1.0 for word in plain]
            listed = " < ".join(f"{word} ({n})" for n, word in enumerate(scale, 1))
            return Numbers(values=np.array(order), how=f"In this order: {listed}.", words=True)
    return Numbers(values=np.full(len(classes), np.nan))


def looks_rated(labels: CodedLabels, numbers: Numbers) -> tuple[bool, bool]:
    """Tell whether labels are surely ratings, and whether they may be.

    Parameters
    ----------
    labels
        The labels, coded as classes.
    numbers
        What the classes are as numbers.

    Returns
    -------
    sure
        Decimals, or many numbers of which near ones go together.
    possible
        At least three numbers or words of a scale, of which near ones go together.
    """
    used = labels.labels_per_class > 0
    if not numbers.are_all or np.count_nonzero(used) < MIN_STEPS:
        return False, False
    values = numbers.values[used]
    if not numbers.words and not np.all(values == np.round(values)):
        return True, True
    ordered = order_evidence(labels, numbers.values) > MIN_ORDER
    return ordered and not numbers.words and len(values) > MANY_NUMBERS, ordered or numbers.words


def order_evidence(labels: CodedLabels, values: Floats) -> float:
    """Return how much better labels agree as an order than as classes.

    Parameters
    ----------
    labels
        The labels, coded as classes.
    values
        The number of each class [K].

    Returns
    -------
    float
        Krippendorff's alpha for an order less that for classes; 0 where nothing can be compared.
    """
    shared = labels.labels_per_item[labels.item] > 1
    if not shared.any():
        return 0.0
    item = np.unique(labels.item[shared], return_inverse=True)[1]
    code = labels.label[shared].astype(np.int64)
    size = np.bincount(item).astype(np.float64)
    n = float(len(item))
    counts = np.bincount(code, minlength=len(values)).astype(np.float64)
    cells, n_same = np.unique(item * np.int64(len(values)) + code, return_counts=True)
    owner = cells // len(values)
    same = np.bincount(owner, weights=n_same * (n_same - 1.0), minlength=len(size)) / (size - 1)
    chance = 1 - (counts @ counts - n) / (n * (n - 1))
    order = np.argsort(values, kind="stable")
    middle = np.empty(len(values))
    middle[order] = np.cumsum(counts[order]) - counts[order] / 2
    rank = middle[code]
    mean = np.bincount(item, weights=rank) / size
    within = np.bincount(item, weights=(rank - mean[item]) ** 2) * size / (size - 1)
    total = float(((rank - rank.mean()) ** 2).sum()) / (n - 1)
    if chance <= 0 or total <= 0:
        return 0.0
    return float((1 - within.sum() / n / total) - (1 - (1 - same.sum() / n) / chance))


def check_kind(labels: CodedLabels, numbers: Numbers, *, as_ratings: bool) -> Finding:
    """Say how labels were read that could be classes or ratings, and offer the other way.

    Parameters
    ----------
    labels
        The labels, coded as classes.
    numbers
        What the classes are as numbers.
    as_ratings
        How they are read.

    Returns
    -------
    Finding
        A warning wherever it is not beyond doubt.
    """
    sure, possible = looks_rated(labels, numbers)
    n_values = int(np.count_nonzero(labels.labels_per_class))
    if as_ratings:
        return make_finding(
            "read_as_ratings",
            n_values,
            severity="notice" if sure else "warning",
            examples=(numbers.how, *labels.classes) if numbers.how else labels.classes,
            done=f"They were read as ratings. {numbers.how}".strip(),
            option={"kind": "classes"},
        )
    return make_finding(
        "ratings",
        n_values if possible else 0,
        severity="warning",
        examples=(numbers.how, *labels.classes) if numbers.how else labels.classes,
        done="They are treated as classes without an order.",
        option={"kind": "ratings"},
    )


def check_ratings(labels: CodedLabels, numbers: Numbers) -> list[Finding]:
    """Look for codes of missing answers, ratings off the scale, and errors that grow.

    Parameters
    ----------
    labels
        The labels, coded as classes.
    numbers
        What the classes are as numbers.

    Returns
    -------
    list of Finding
    """
    return [
        _missing_codes(labels, numbers.values),
        _off_scale(labels, numbers.values),
        _growing_errors(labels, numbers.values),
    ]


def _named(labels: CodedLabels, codes: Sequence[int]) -> list[str]:
    given = labels.labels_per_class
    return [f"{labels.classes[code]!r} ({count(int(given[code]), 'rating')})" for code in codes]


def _missing_codes(labels: CodedLabels, values: Floats) -> Finding:
    """Usual codes that lie far outside all other ratings."""
    used = np.flatnonzero(labels.labels_per_class)
    suspects = []
    for code in used:
        others = values[used[used != code]]
        if len(others) < MIN_STEPS or values[code] not in MISSING_CODES:
            continue
        gap = max(others.min() - values[code], values[code] - others.max())
        if gap > MIN_GAP_SHARE * np.ptp(others):
            suspects.append(int(code))
    return make_finding(
        "rating_codes",
        int(labels.labels_per_class[suspects].sum()),
        severity="warning",
        examples=_named(labels, suspects),
        option={"missing": [labels.classes[code] for code in suspects]},
    )


def _off_scale(labels: CodedLabels, values: Floats) -> Finding:
    """Ratings outside the round scale that holds nearly all of them."""
    given = labels.labels_per_class
    outside: list[int] = []
    scale = ""
    for low, high in SCALES:
        on_scale = (values >= low) & (values <= high)
        share = given[on_scale].sum() / max(1, given.sum())
        if share >= MIN_SHARE_ON_SCALE:
            outside = [int(code) for code in np.flatnonzero(~on_scale & (given > 0))]
            scale = f"Nearly all ratings lie between {low} and {high}."
            break
    return make_finding(
        "off_scale",
        int(given[outside].sum()),
        severity="warning",
        examples=_named(labels, outside),
        done=f"{scale} They are kept as they are.",
        option={"missing": [labels.classes[code] for code in outside]},
    )


def _growing_errors(labels: CodedLabels, values: Floats) -> Finding:
    """Whether items with higher ratings have ratings further apart."""
    rating = values[labels.label]
    size = labels.labels_per_item
    mean = np.bincount(labels.item, weights=rating, minlength=len(size)) / np.maximum(size, 1)
    squares = np.bincount(
        labels.item, weights=(rating - mean[labels.item]) ** 2, minlength=len(size)
    )
    enough = size > 2  # noqa: PLR2004  (a deviation of two says little)
    grows = False
    if enough.sum() >= MIN_STEPS and rating.min() > 0:
        deviation = np.sqrt(squares[enough] / (size[enough] - 1))
        if np.ptp(deviation) > 0 and np.ptp(mean[enough]) > 0:
            grows = bool(np.corrcoef(mean[enough], deviation)[0, 1] > MIN_LOG_CORRELATION)
    return make_finding("growing_errors", int(enough.sum()) if grows else 0)
