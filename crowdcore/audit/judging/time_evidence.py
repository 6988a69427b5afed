"""The order and the times of labels, as far as the data have them, and what they show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdcore.audit.judging.compared import Comparison
from crowdcore.audit.judging.labels import Flags, JudgedLabels, Rows
from crowdcore.audit.judging.timing import (
    DRIFT_PROBABILITY,
    FAST_PROBABILITY,
    PATTERN_PROBABILITY,
    Changes,
    drifting,
    fast_labels,
    pattern_probability,
    too_fast,
)
from crowdcore.data import CrowdData, Floats

MAX_PAUSE_SECONDS = 1800.0
"""A longer time between two labels of a worker is a break, not work."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TimeEvidence:
    """What the order and the times of labels show; nothing where the data have neither."""

    has_order: bool
    has_durations: bool
    drift: Changes | None
    haste: Changes | None
    pattern: Floats | None  # [W] P(answers follow a pattern)
    fast: Flags  # [L] labels that took far less time than usual
    order: Rows  # [M] places of comparable labels in the order of work, worker by worker

    @property
    def is_drifting(self) -> Flags:
        """Who looks less often from some place on [W]."""
        return _flags(self.drift, DRIFT_PROBABILITY)

    @property
    def is_hasty(self) -> Flags:
        """Who looks less often where they are fast [W]."""
        return _flags(self.haste, FAST_PROBABILITY)

    @property
    def has_pattern(self) -> Flags:
        """Whose answers follow the answer before [W]."""
        if self.pattern is None:
            return np.zeros(0, bool)
        return self.pattern >= PATTERN_PROBABILITY


def time_evidence(
    data: CrowdData, comparison: Comparison, *, rows_in_order: bool = False
) -> TimeEvidence:
    """Look at workers over time, by times of labels or by the order of rows.

    Parameters
    ----------
    data
        May have times or durations of labels.
    comparison
        The labels against what the others believe.
    rows_in_order
        Whether the order of rows stands for time where there are no times.

    Returns
    -------
    TimeEvidence
        Without an order nothing is tested.
    """
    labels = comparison.labels
    order = _order(data, labels, rows_in_order=rows_in_order)
    seconds = durations(data, labels)
    usable = np.zeros(0, np.int64) if order is None else order[labels.comparable[order]]
    if order is None and seconds is not None:
        usable = np.flatnonzero(labels.comparable)
    hit = comparison.hit.astype(np.float64)
    habit = comparison.habit[labels.worker, labels.given]
    fast = np.zeros(len(labels.item), bool)
    haste = None
    if seconds is not None:
        fast = fast_labels(seconds, labels)
        haste = too_fast(hit, habit, labels, usable, fast)
    return TimeEvidence(
        has_order=order is not None,
        has_durations=seconds is not None,
        drift=None if order is None else drifting(hit, habit, labels, usable),
        haste=haste,
        pattern=None
        if order is None
        else pattern_probability(
            labels.given, comparison.likeliest.astype(np.int64), labels, order
        ),
        fast=fast,
        order=usable,
    )


def durations(data: CrowdData, labels: JudgedLabels) -> Floats | None:
    """How long each judged label took [L], as given or as the time since the label before."""
    if data.duration is not None:
        return data.duration[labels.row]
    if data.time is None:
        return None
    time = data.time[labels.row]
    order = np.lexsort((time, labels.worker))
    seconds = np.full(len(time), np.nan)
    gap = np.diff(time[order])
    same = np.diff(labels.worker[order]) == 0
    usable = same & (gap > 0) & (gap <= MAX_PAUSE_SECONDS)
    seconds[order[1:][usable]] = gap[usable]
    return seconds if np.isfinite(seconds).any() else None


def _order(data: CrowdData, labels: JudgedLabels, *, rows_in_order: bool) -> Rows | None:
    """Places of labels by worker and in the order of work; None where it is not known."""
    if data.time is not None:
        time = data.time[labels.row]
        order = np.lexsort((labels.row, time, labels.worker))
        return order[np.isfinite(time[order])]
    if rows_in_order:
        return np.lexsort((labels.row, labels.worker))
    return None


def _flags(changes: Changes | None, min_probability: float) -> Flags:
    return np.zeros(0, bool) if changes is None else changes.flagged(min_probability)
