"""Near-identical spellings of a class: proposed to be merged, never merged unasked."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping

from crowdcore.codes import natural_order
from crowdcore.reading.findings import Finding, make_finding
from crowdcore.reading.parsing.header import is_number
from crowdcore.wording import count

_MIN_WORD_LETTERS = 5
_MIN_FREQUENCY_RATIO = 20
"""A slip is at least so many times rarer than the right spelling."""

_MAX_CLASSES = 5_000
_MAX_WORD_LETTERS = 64
"""Longer labels are texts: a slip in them is not looked for, which would cost their square."""

_MAX_FOLDED_LETTERS = 2_000


def check_spellings(counts: Mapping[str, int]) -> Finding:
    """Look for classes that are probably one class.

    Parameters
    ----------
    counts
        How often each class was given.

    Returns
    -------
    Finding
    """
    proposals = near_spellings(counts)
    return make_finding(
        "spellings",
        len(proposals),
        severity="warning",
        examples=(
            f"{variant!r} ({count(counts.get(variant, 0), 'label')}) looks like "
            f"{right!r} ({count(counts.get(right, 0), 'label')})"
            for variant, right in proposals.items()
        ),
        option={"spellings": proposals},
    )


def near_spellings(counts: Mapping[str, int]) -> dict[str, str]:
    """Map each variant to the spelling that it is probably meant to be.

    Parameters
    ----------
    counts
        How often each class was given.

    Returns
    -------
    dict
        Variant -> right spelling; empty for very many classes, which are free text.
    """
    if len(counts) > _MAX_CLASSES:
        return {}
    groups: dict[str, list[str]] = defaultdict(list)
    for name in natural_order({name for name in counts if len(name) <= _MAX_FOLDED_LETTERS}):
        groups[_folded(name)].append(name)
    proposals: dict[str, str] = {}
    heads: dict[str, int] = {}
    for names in groups.values():
        right = _tidy(max(names, key=lambda name: (counts[name], name == _tidy(name))))
        proposals |= {name: right for name in names if name != right}
        heads[right] = sum(counts[name] for name in names)
    slips = _slips(heads)
    resolved = {variant: slips.get(right, right) for variant, right in proposals.items()}
    return {**resolved, **{slip: right for slip, right in slips.items() if slip in counts}}


def _tidy(name: str) -> str:
    return " ".join(name.split()) or name


def _folded(name: str) -> str:
    """Make a key that ignores case, blanks, forms of characters and, in words, punctuation."""
    if is_number(name):
        return name.strip()
    key = "".join(unicodedata.normalize("NFKC", name).casefold().split())
    letters = "".join(sign for sign in key if sign.isalnum())
    # Short names may differ by punctuation alone: C, C++ and C#; numbers by a sign or a point.
    if len(letters) >= _MIN_WORD_LETTERS and letters.isalpha():
        return letters
    return key or name


def _slips(counts: Mapping[str, int]) -> dict[str, str]:
    """Find rare words that are one letter away from a frequent one."""
    folded = {name: _folded(name) for name in counts}
    neighbours: dict[str, list[str]] = defaultdict(list)
    for name, word in folded.items():
        if _MIN_WORD_LETTERS <= len(word) <= _MAX_WORD_LETTERS and word.isalpha():
            for key in _neighbourhood(word):
                neighbours[key].append(name)
    slips: dict[str, str] = {}
    for names in neighbours.values():
        right = max(names, key=counts.__getitem__)
        for name in names:
            is_rare = counts[name] * _MIN_FREQUENCY_RATIO <= counts[right]
            if is_rare and _one_edit_apart(folded[name], folded[right]):
                best = slips.get(name, right)
                slips[name] = max(best, right, key=counts.__getitem__)
    return slips


def _neighbourhood(word: str) -> Iterable[str]:
    """Give the word, and the word without each of its letters but the first."""
    # Words that are one edit apart share one of these. Slips hardly ever hit the first letter,
    # and there a letter may turn the meaning: typical, atypical.
    yield word
    for at in range(1, len(word)):
        yield word[:at] + word[at + 1 :]


def _one_edit_apart(first: str, second: str) -> bool:
    """Tell whether a single letter was changed, added or left out, or two were swapped."""
    if first == second or abs(len(first) - len(second)) > 1:
        return False
    start = 0
    while start < min(len(first), len(second)) and first[start] == second[start]:
        start += 1
    if len(first) == len(second):
        swapped = first[start : start + 2] == second[start : start + 2][::-1]
        return first[start + 1 :] == second[start + 1 :] or (
            swapped and first[start + 2 :] == second[start + 2 :]
        )
    short, long = sorted((first, second), key=len)
    return short[start:] == long[start + 1 :]
