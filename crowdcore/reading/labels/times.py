"""Times of labels: texts of several forms to seconds since the epoch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crowdcore.data import Floats
from crowdcore.reading.columns.roles import Roles
from crowdcore.reading.findings import Finding, make_finding
from crowdcore.reading.parsing.table import Table

_DAY = r"^(1[7-9]|20|21)\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
_CLOCK = r"([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?"
_ISO = rf"{_DAY}[T ]{_CLOCK}$"
_ZONED = rf"{_DAY}[T ]{_CLOCK}(Z| UTC|[+-]\d{{2}}:?\d{{2}})$"
_AMERICAN = r"^\d{1,2}/\d{1,2}/\d{4} \d{1,2}:\d{2}:\d{2}$"
_TURK = r"^[A-Z][a-z]{2} [A-Z][a-z]{2} \d{1,2} \d{2}:\d{2}:\d{2} [A-Z]{3,4} \d{4}$"
_EPOCH = r"^\d{9,13}(\.\d+)?$"
_MIN_MILLISECONDS = 1e11
_ZONES = {"PST": -8, "PDT": -7, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6}


def read_times(table: Table, column: str) -> tuple[Floats | None, Finding]:
    """Read the times of a column.

    Parameters
    ----------
    table
        The table.
    column
        The column of times.

    Returns
    -------
    ndarray or None
        Seconds since the epoch [rows], NaN where a cell is not a time; None where none is.
    Finding
        How many cells could not be read.
    """
    texts = pc.utf8_trim_whitespace(table.text(column)).combine_chunks()
    seconds = np.full(len(texts), np.nan)
    for pattern, convert in (
        (_EPOCH, _from_epoch),
        (_ZONED, _from_zoned),
        (_ISO, _from_iso),
        (_AMERICAN, _from_american),
        (_TURK, _from_turk),
    ):
        fits = pc.match_substring_regex(texts, pattern)
        mask = np.asarray(fits.to_numpy(zero_copy_only=False), bool)
        if mask.any():
            seconds[mask] = _tolerant(texts.filter(fits), convert)
    unread = np.flatnonzero(np.isnan(seconds))
    filled = np.asarray(pc.not_equal(texts, "").to_numpy(zero_copy_only=False), bool)
    wrong = unread[filled[unread]]
    finding = make_finding(
        "times",
        len(wrong),
        examples=(f"{table.locate(row)}: {texts[row].as_py()!r}" for row in wrong[:5].tolist()),
        done="These times are unknown; the labels were kept.",
    )
    return (None if len(unread) == len(seconds) else seconds), finding


def read_durations(table: Table, roles: Roles, time: Floats | None) -> Floats | None:
    """Read how many seconds each row took.

    Parameters
    ----------
    table
        The table.
    roles
        What its columns are: `duration` in seconds, or `started` beside `time`.
    time
        When each row was sent in [rows], in seconds since the epoch.

    Returns
    -------
    ndarray or None
        Seconds [rows], NaN where a cell holds none or less than none; None where all are so.
    """
    if roles.duration is not None:
        coded = table.coded(roles.duration)
        values = np.array([_number(name) for name in coded.names])
        seconds: Floats = values[coded.codes]
    elif roles.started is not None and time is not None:
        started = read_times(table, roles.started)[0]
        if started is None:
            return None
        seconds = time - started
    else:
        return None
    seconds = np.where(seconds >= 0, seconds, np.nan)
    return None if np.isnan(seconds).all() else seconds


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan


def _tolerant(texts: Any, convert: Callable[[Any], Floats]) -> Floats:
    """Convert what can be converted; halves the texts until the fault, such as 30 February."""
    try:
        return convert(texts)
    except MemoryError:
        raise
    except (pa.ArrowException, ValueError):
        if len(texts) <= 1:
            return np.full(len(texts), np.nan)
        middle = len(texts) // 2
        halves = texts.slice(0, middle), texts.slice(middle)
        return np.concatenate([_tolerant(half, convert) for half in halves])


def _from_epoch(texts: Any) -> Floats:
    numbers: Floats = texts.cast(pa.float64()).to_numpy()
    return np.where(numbers > _MIN_MILLISECONDS, numbers / 1000, numbers)


def _from_iso(texts: Any) -> Floats:
    return _seconds(texts.cast(pa.timestamp("ns")))


def _from_zoned(texts: Any) -> Floats:
    texts = pc.replace_substring(texts, " UTC", "Z")
    return _seconds(texts.cast(pa.timestamp("ns", "UTC")))


def _from_american(texts: Any) -> Floats:
    parsed = pc.strptime(texts, "%m/%d/%Y %H:%M:%S", "s", error_is_null=True)
    return _seconds(parsed)


def _from_turk(texts: Any) -> Floats:
    """Mechanical Turk's own form; strptime knows no zone names."""
    zones = pc.extract_regex(texts, r" (?P<zone>[A-Z]{3,4}) \d{4}$").field("zone")
    hours = np.array([_ZONES.get(zone, 0) for zone in zones.to_pylist()], float)
    without_zone = pc.replace_substring_regex(texts, r" [A-Z]{3,4} (\d{4})$", r" \1")
    parsed = pc.strptime(without_zone, "%a %b %d %H:%M:%S %Y", "s", error_is_null=True)
    return np.asarray(_seconds(parsed) - 3600 * hours)


def _seconds(stamps: Any) -> Floats:
    nanoseconds = stamps.cast(pa.timestamp("ns", stamps.type.tz)).cast(pa.int64())
    valid = np.asarray(nanoseconds.is_valid().to_numpy(zero_copy_only=False), bool)
    values = nanoseconds.fill_null(0).to_numpy() / 1e9
    return np.where(valid, values, np.nan)
