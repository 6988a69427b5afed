"""Words and numbers on screen: data made safe for Markdown, and one way to write each number."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from typing import Any

NOTHING = "–"
"""Stands where a number is not known."""

WORD_JOINER = "\u2060"

# Line separators and the signs that turn the direction of writing, which can hide what a name says.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2066-\u2069\ufeff]+")
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
# Streamlit looks for these in finished text, where a backslash is gone: emoji and icon names
# between colons, and addresses. An invisible joiner after the sign keeps them plain.
_LATE = re.compile(r":(?=[\w+-])|(?<=[\w])[@](?=\w)|(?<=\bwww)\.|:(?=//)", re.IGNORECASE)

_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def escape_md(text: object, *, limit: int | None = None) -> str:
    """Make a string from the data show as itself wherever Streamlit reads Markdown.

    Nothing in it becomes an image, a link, a formula, an icon or a heading; line breaks become
    spaces. `limit` cuts a long text and marks the cut.
    """
    plain = _UNSEEN.sub(" ", str(text)).strip()
    if limit is not None and len(plain) > limit:
        plain = plain[: max(1, limit - 1)].rstrip() + "…"
    return _PUNCTUATION.sub(r"\\\1", _LATE.sub(lambda sign: sign[0] + WORD_JOINER, plain))


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


def count(number: float | None, noun: str = "", plural: str = "") -> str:
    """Write a whole number with thousands marked, and its noun in the right form."""
    if number is None or not math.isfinite(number):
        return NOTHING
    digits = f"{number:,.0f}"
    if not noun:
        return digits
    return f"{digits} {noun if digits == '1' else plural or noun + 's'}"


def seconds(duration: float | None) -> str:
    """Write how long something took."""
    if duration is None or not math.isfinite(duration):
        return NOTHING
    if duration < 10:  # noqa: PLR2004  (a tenth matters below ten seconds)
        return f"{duration:.1f} s" if duration >= 0.05 else "<0.1 s"  # noqa: PLR2004
    whole = round(duration)
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


def empty_state(title: str, why: str, button_label: str, page: str) -> None:
    """Say why there is nothing to see, and offer the one thing to do next; samples beside data.

    `title`, `why` and `button_label` are Markdown: escape what comes from the data.
    """
    import streamlit as st

    from dashboard import samples, state

    with st.container(border=True, key=f"empty_{page}"):
        st.subheader(title, anchor=False)
        st.write(why)
        with st.container(horizontal=True):
            if st.button(button_label, type="primary", key=f"empty_{page}_go"):
                state.goto(page)
            if page == "data":
                samples.offer()
