"""Columns that may say who a person is."""

from __future__ import annotations

import re
from collections.abc import Iterable

from crowdcore.reading.columns.roles import plain_name

_CONTENTS = {
    "e-mail addresses": re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+"),
    "IP addresses": re.compile(
        r"(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)"
        r"|(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}|(?:[0-9a-f]{1,4}:){2,6}:[0-9a-f:]*",
        re.IGNORECASE,
    ),
}
_NAMES = {
    "e-mail addresses": re.compile(r"(.*_)?e?_?mail(_?address)?"),
    "IP addresses": re.compile(r"(.*_)?ip(_?address)?"),
    "phone numbers": re.compile(r"(.*_)?(phone|mobile)(_?number)?"),
    "names of people": re.compile(r"(first|last|full|real|given|family|sur)_?name"),
    "birth dates": re.compile(r"(date_of_birth|dob|birth_?(day|date))"),
}
_MIN_MATCHING_SHARE = 0.2
"""A column is personal if this share of its values looks like an address."""


def personal_kind(column: str, values: Iterable[str]) -> str | None:
    """Say what personal data a column seems to hold, by its values or by its name.

    Parameters
    ----------
    column
        The name of the column.
    values
        Some of its distinct values.

    Returns
    -------
    str or None
        Such as "e-mail addresses"; None where nothing speaks for personal data.
    """
    filled = [value.strip() for value in values if value.strip()]
    for kind, pattern in _CONTENTS.items():
        n_matching = sum(pattern.fullmatch(value) is not None for value in filled)
        if filled and n_matching >= _MIN_MATCHING_SHARE * len(filled):
            return kind
    plain = plain_name(column).strip("_")
    return next((kind for kind, name in _NAMES.items() if name.fullmatch(plain)), None)
