"""One way to write each number, list, duration and moment, in messages and on pages."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

NOTHING = "–"
"""Stands where a number is not known."""

KIND_WORDS = {
    "classes": "one class each",
    "ratings": "numbers",
    "sets": "any number of classes each",
    "comparisons": "comparisons of two items",
    "sequences": "classes of the tokens of a sequence",
}
"""What labels of each kind are, as a phrase after "labels that are"."""

_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def percent(share: float | None, digits: int = 1) -> str:
    """Write a share; what is not quite none or all is never rounded to it."""
    if share is None or not math.isfinite(share):
        return NOTHING
    step = 10.0**-digits
    value = 100 * share
    if 0 < value < step / 2:
        return f"<{step:.{digits}f}%"
    if 100 - step / 2 <= value < 100:  # noqa: PLR2004  (a hundred per cent)
        return f">{100 - step:.{digits}f}%"
    return f"{value:.{digits}f}%"


def percents(shares: Any) -> Any:
    """Scale an array of shares for a table with one decimal; not quite all stays below 100.0."""
    import numpy as np

    values = 100 * np.asarray(shares, dtype=float)
    return np.where((values >= 99.95) & (values < 100), 99.9, values)  # noqa: PLR2004


def interval(low: float | None, high: float | None) -> str:
    """Write a 95 % interval of a share, in whole per cents."""
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return NOTHING
    return f"{100 * low:.0f}–{100 * high:.0f}%"


def rate(share: float | None, low: float | None, high: float | None, digits: int = 0) -> str:
    """Write a share with its 95 % interval, as in "89% (80–94%)"."""
    if share is None or not math.isfinite(share):
        return NOTHING
    return f"{percent(share, digits)} ({interval(low, high)})"


def percent_of(share: float | None, total: float, digits: int = 0) -> str:
    """Write a share and of how many it is, as in "89% of 1,200"; of none nothing is known."""
    return f"{percent(share, digits)} of {count(total)}" if total else NOTHING


def count(number: float | None, noun: str = "", plural: str = "") -> str:
    """Write a whole number with thousands marked, and its noun in the right form."""
    if number is None or not math.isfinite(number):
        return NOTHING
    digits = f"{number:,.0f}"
    if not noun:
        return digits
    return f"{digits} {noun if digits == '1' else plural or noun + 's'}"


def join_names(names: Sequence[str], most: int = 6) -> str:
    """List names in quotes; of many only the first, and how many more there are."""
    listed = ", ".join(map(repr, names[:most]))
    return listed if len(names) <= most else f"{listed} and {len(names) - most:,} more"


def file_stem(*names: str) -> str:
    """Make the name of a file from other names, in letters that travel."""
    parts = (re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower() for name in names)
    return "-".join(filter(None, parts))


def duration(seconds: float | None) -> str:
    """Write how long something took."""
    if seconds is None or not math.isfinite(seconds):
        return NOTHING
    if seconds < 10:  # noqa: PLR2004  (a tenth matters below ten seconds)
        return f"{seconds:.1f} s" if seconds >= 0.05 else "<0.1 s"  # noqa: PLR2004
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE} min"


def size(n_bytes: float) -> str:
    """Write how much room something takes."""
    for unit, word in ((1e9, "GB"), (1e6, "MB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:,.1f} {word}"
    return f"{n_bytes / 1e3:,.0f} kB" if n_bytes >= 500 else "<1 kB"  # noqa: PLR2004  (rounding)


def when(moment: str | float | datetime | None, *, now: datetime | None = None) -> str:
    """Write a moment as a person would: how long ago, or the day once it is not today's news."""
    if moment is None or moment == "":
        return NOTHING
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment)
    elif not isinstance(moment, datetime):
        moment = datetime.fromtimestamp(moment, UTC)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    age = ((now or datetime.now(UTC)) - moment).total_seconds()
    if age < _MINUTE:
        return "just now"
    if age < _HOUR:
        return f"{age // _MINUTE:.0f} min ago"
    if age < _DAY:
        return f"{age // _HOUR:.0f} h ago"
    local = moment.astimezone()
    return f"{local.day} {local:%b %Y, %H:%M}"
