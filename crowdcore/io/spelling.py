"""Near-identical spellings of a class: proposed to be merged, never merged unasked."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping

from crowdcore.data import natural_order
from crowdcore.io.header import is_number
from crowdcore.io.health import Finding, check, counted

_FEWEST_LETTERS = 5
_RARE = 20  # a slip is this many times rarer than the right spelling
_MOST_CLASSES = 5_000


def spelling_finding(counts: Mapping[str, int]) -> Finding:
    """Look for classes that are one class; `counts` says how often each name was given."""
    proposals = near_spellings(counts)
    return check(
        "spellings",
        "Classes with nearly the same name",
        len(proposals),
        severity="warning",
        examples=(
            f"{variant!r} ({counted(counts.get(variant, 0), 'label')}) looks like "
            f"{right!r} ({counted(counts.get(right, 0), 'label')})"
            for variant, right in proposals.items()
        ),
        fix="Merge each of them into the more frequent spelling.",
        option={"spellings": proposals},
    )


def near_spellings(counts: Mapping[str, int]) -> dict[str, str]:
    """Map each variant to the spelling that it is probably meant to be."""
    if len(counts) > _MOST_CLASSES:
        return {}
    groups: dict[str, list[str]] = defaultdict(list)
    for name in natural_order(set(counts)):
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
    """A key that ignores case, blanks, forms of characters and, in words, punctuation."""
    if is_number(name):
        return name.strip()
    key = "".join(unicodedata.normalize("NFKC", name).casefold().split())
    letters = "".join(sign for sign in key if sign.isalnum())
    # Short names may differ by punctuation alone: C, C++ and C#; numbers by a sign or a point.
    if len(letters) >= _FEWEST_LETTERS and letters.isalpha():
        return letters
    return key or name


def _slips(counts: Mapping[str, int]) -> dict[str, str]:
    """Rare words that are one letter away from a frequent one."""
    words = {name: _folded(name) for name in counts}
    near: dict[str, list[str]] = defaultdict(list)
    for name, word in words.items():
        if len(word) >= _FEWEST_LETTERS and word.isalpha():
            for key in _neighbourhood(word):
                near[key].append(name)
    found: dict[str, str] = {}
    for names in near.values():
        right = max(names, key=counts.__getitem__)
        for name in names:
            if counts[name] * _RARE <= counts[right] and _one_apart(words[name], words[right]):
                best = found.get(name, right)
                found[name] = max(best, right, key=counts.__getitem__)
    return found


def _neighbourhood(word: str) -> Iterable[str]:
    """The word, and the word without each of its letters but the first."""
    # Words that are one edit apart share one of these. Slips hardly ever hit the first letter,
    # and there a letter may turn the meaning: typical, atypical.
    yield word
    for place in range(1, len(word)):
        yield word[:place] + word[place + 1 :]


def _one_apart(one: str, other: str) -> bool:
    """Whether a single letter was changed, added or left out."""
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    if len(one) == len(other):
        return one[start + 1 :] == other[start + 1 :]
    short, long = sorted((one, other), key=len)
    return short[start:] == long[start + 1 :]
