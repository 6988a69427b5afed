"""What verdicts rest on, small enough to be kept beside a result: by worker, label and pair."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from crowdcore.audit.judging.accuracy import QUANTILES
from crowdcore.audit.judging.judgement import Judgement, judge_crowd
from crowdcore.audit.judging.labels import Flags, JudgedLabels, Rows, sums_by
from crowdcore.audit.judging.worker_types import (
    BLIND,
    INVERTED,
    ONE_ANSWER,
    TAKES_FOR,
)
from crowdcore.confusion import safe_ratio
from crowdcore.data import UNKNOWN, CrowdData, Floats
from crowdcore.distributions import Z_95

NAMES_OF_BAD = {BLIND: "random", ONE_ANSWER: "one answer", INVERTED: "inverted"}
MORE_GOLD_ITEMS = 10
"""Checked items whose worth is told."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CrowdFacts:
    """What is known of the crowd as a whole."""

    n_accused: int
    expected_wrong: float  # accusations that are expected to be wrong
    n_biased: int
    expected_wrong_biased: float
    bad_share: float  # how common bad workers are, as learnt from the crowd
    n_gold_items: int  # gold items that somebody labelled
    by_gold: bool  # whether these are enough for intervals with a percentage
    shift: float  # by how much the crowd overrates itself, by gold
    width: float  # of an interval in the middle
    width_with_more: float  # with ten more gold items; NaN without enough gold
    n_schools: int  # groups that are too large to be copies
    n_in_schools: int
    n_pairs_compared: int
    n_workers_compared: int
    has_order: bool
    has_durations: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class WorkerEvidence:
    """Evidence of a crowd's workers; arrays [W] are in the order of the workers' codes."""

    facts: CrowdFacts
    classes: NDArray[np.str_]  # [K]
    n_compared: Rows  # [W]
    quantiles: NDArray[np.float32]  # [W, Q] of the accuracy, at `QUANTILES`
    low: Floats  # [W] the interval of the accuracy
    high: Floats  # [W]
    chance: Floats  # [W]
    bad: Floats  # [W]
    kind_of_bad: NDArray[np.str_]  # [W]
    is_accused: Flags  # [W]
    biased: Floats  # [W]
    is_biased: Flags  # [W]
    favourite: Rows  # [W]
    surplus: Floats  # [W]
    true_counts: NDArray[np.float32]  # [W, K] items of each class that they saw
    given_counts: NDArray[np.float32]  # [W, K] comparable labels of each class
    is_confusing: Flags  # [W]
    taken: Rows  # [W]
    taken_for: Rows  # [W]
    n_taken: Floats  # [W]
    n_of_taken: Floats  # [W]
    group: Rows  # [W] the number of the group that answers alike, or UNKNOWN
    drift: Floats  # [W]
    is_drifting: Flags  # [W]
    drift_at: Rows  # [W]
    before: Floats  # [W]
    after: Floats  # [W]
    care_before: Floats  # [W] how often they looked, in the better part
    haste: Floats  # [W]
    is_hasty: Flags  # [W]
    n_fast: Rows  # [W]
    right_fast: Floats  # [W]
    right_slow: Floats  # [W]
    care_slow: Floats  # [W]
    pattern: Floats  # [W]
    has_pattern: Flags  # [W]
    pair_worker: Rows  # [P] pairs that answer alike
    pair_partner: Rows  # [P]
    pair_shared: Rows  # [P]
    pair_same: Rows  # [P]
    pair_same_wrong: Rows  # [P]
    pair_expected: Floats  # [P] same answers to expect of the two, each working alone
    hit: NDArray[np.float16]  # [L] the others' belief in the label; NaN if it does not count
    weight: NDArray[np.float16]  # [L] how much the label speaks for guessing, as log-odds
    likeliest: NDArray[np.int32]  # [L] what the others believe in most
    is_fast: Flags  # [L]
    place: Rows  # [L] number of the label in the worker's order of work, or UNKNOWN

    @property
    def accuracy(self) -> Floats:
        """The middle of the accuracy's distribution [W]; NaN without comparable labels."""
        middle = self.quantiles[:, len(QUANTILES) // 2].astype(np.float64)
        return np.where(self.n_compared > 0, middle, np.nan)

    def below(self, requirement: float) -> Floats:
        """How probable it is [W] that the accuracy is below a requirement."""
        return np.array([np.interp(requirement, row, QUANTILES) for row in self.quantiles])

    def save(self, path: Path) -> None:
        """Write the evidence to an NPZ file."""
        arrays = {field.name: getattr(self, field.name) for field in fields(self)}
        arrays["facts"] = np.array(json.dumps(vars(self.facts)))
        np.savez_compressed(path, **arrays)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote."""
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            values: dict[str, Any] = {field.name: arrays[field.name] for field in fields(cls)}
        values["facts"] = CrowdFacts(**json.loads(str(values["facts"])))
        return cls(**values)


_JUDGED: WeakKeyDictionary[CrowdData, dict[bool, WorkerEvidence]] = WeakKeyDictionary()


def worker_evidence(data: CrowdData, *, rows_in_order: bool = False) -> WorkerEvidence:
    """Judge a crowd, once for all results on the same data.

    Parameters
    ----------
    data
        Labels of the kind "classes".
    rows_in_order
        Whether rows stand in the order of work where there are no times.

    Returns
    -------
    WorkerEvidence
        What verdicts rest on.
    """
    judged = _JUDGED.setdefault(data, {})
    if rows_in_order not in judged:
        judged[rows_in_order] = _summarise(judge_crowd(data, rows_in_order=rows_in_order), data)
    return judged[rows_in_order]


def _summarise(judgement: Judgement, data: CrowdData) -> WorkerEvidence:
    comparison, types, labels = judgement.comparison, judgement.types, judgement.labels
    peculiar = comparison.peculiar
    low, high = judgement.accuracy.interval()
    quantiles = judgement.accuracy.quantile(QUANTILES)
    middle = quantiles[:, len(QUANTILES) // 2]
    per_label = {
        "hit": (np.where(labels.comparable, comparison.hit, np.nan), np.float16, np.nan),
        "weight": (judgement.weight, np.float16, np.nan),
        "likeliest": (comparison.likeliest, np.int32, UNKNOWN),
        "is_fast": (judgement.time.fast, np.bool_, False),
        "place": (_places(judgement), np.int64, UNKNOWN),
    }
    by_row: dict[str, Any] = {}
    for name, (values, dtype, absent) in per_label.items():
        by_row[name] = np.full(data.n_labels, absent, dtype)
        by_row[name][labels.row] = values
    key = labels.worker[labels.comparable] * labels.n_classes + labels.given[labels.comparable]
    given_counts = np.bincount(key, minlength=labels.n_workers * labels.n_classes)
    group = np.full(labels.n_workers, UNKNOWN)
    for number, members in enumerate(judgement.groups):
        group[members] = number
    return WorkerEvidence(
        facts=_facts(judgement, high - low),
        classes=np.array(data.classes, np.str_),
        n_compared=comparison.n_compared,
        quantiles=quantiles.astype(np.float32),
        low=low,
        high=high,
        chance=judgement.chance,
        bad=types.bad,
        kind_of_bad=np.array([NAMES_OF_BAD[kind] for kind in judgement.kind_of_bad.tolist()]),
        is_accused=judgement.accused.accused,
        biased=types.biased,
        is_biased=judgement.biased.accused,
        favourite=peculiar.favourite,
        surplus=peculiar.surplus,
        true_counts=peculiar.true_counts.astype(np.float32),
        given_counts=given_counts.reshape(-1, labels.n_classes).astype(np.float32),
        is_confusing=2 * types.probability[:, TAKES_FOR] > types.biased,
        taken=peculiar.taken,
        taken_for=peculiar.taken_for,
        n_taken=peculiar.n_taken,
        n_of_taken=peculiar.n_of_taken,
        group=group,
        **_time_columns(judgement),
        **_pair_columns(judgement, middle),
        **by_row,
    )


def _facts(judgement: Judgement, widths: Floats) -> CrowdFacts:
    labels, errors, time = judgement.labels, judgement.shared_errors, judgement.time
    judged = judgement.judged
    width = float(np.median(widths[judged])) if judged.any() else float("nan")
    width_with_more = float("nan")
    if errors is not None:
        # Only what is not known of shared errors shrinks: like one over the root of the items.
        more = errors.n_items / (errors.n_items + MORE_GOLD_ITEMS)
        gained = (2 * Z_95 * errors.standard_error) ** 2 * (1 - more)
        width_with_more = float(np.sqrt(max(width**2 - gained, 0.0)))
    bad = judgement.types.prior[[BLIND, ONE_ANSWER, INVERTED]]
    return CrowdFacts(
        n_accused=judgement.accused.n_accused,
        expected_wrong=judgement.accused.expected_wrong,
        n_biased=judgement.biased.n_accused,
        expected_wrong_biased=judgement.biased.expected_wrong,
        bad_share=float(bad.sum()),
        n_gold_items=len(np.unique(labels.item[labels.has_gold])),
        by_gold=errors is not None,
        shift=0.0 if errors is None else errors.shift,
        width=width,
        width_with_more=width_with_more,
        n_schools=len(judgement.schools),
        n_in_schools=sum(map(len, judgement.schools)),
        n_pairs_compared=len(judgement.pairs.worker),
        n_workers_compared=judgement.pairs.n_compared,
        has_order=time.has_order,
        has_durations=time.has_durations,
    )


def _places(judgement: Judgement) -> Rows:
    """Numbers of comparable labels in the order of work [judged labels], from 1."""
    places = np.full(len(judgement.labels.item), UNKNOWN)
    if judgement.time.has_order:
        order = judgement.time.order
        worker = judgement.labels.worker[order]
        places[order] = np.arange(len(order)) - np.searchsorted(worker, worker) + 1
    return places


def _time_columns(judgement: Judgement) -> dict[str, Any]:
    """What the order and the times of labels show of each worker."""
    time, labels = judgement.time, judgement.labels
    n_workers = labels.n_workers
    hit = judgement.comparison.hit
    nothing, nobody = np.zeros(n_workers), np.zeros(n_workers, bool)
    drift, haste = time.drift, time.haste
    drift_at = np.zeros(n_workers, np.int64) if drift is None else drift.n_first
    early, late = (np.zeros(len(hit), bool) for _ in range(2))
    if drift is not None:
        place, last = _places(judgement), drift_at[labels.worker]
        early, late = (place != UNKNOWN) & (place <= last), place > last
    fast, slow = labels.comparable & time.fast, labels.comparable & ~time.fast
    before, after, right_fast, right_slow = (
        _share_right(labels, hit, part) for part in (early, late, fast, slow)
    )
    return {
        "drift": nothing if drift is None else drift.probability,
        "is_drifting": nobody if drift is None else time.is_drifting,
        "drift_at": drift_at,
        "before": before,
        "after": after,
        "care_before": nothing if drift is None else drift.before,
        "haste": nothing if haste is None else haste.probability,
        "is_hasty": nobody if haste is None else time.is_hasty,
        "n_fast": labels.worker_sums(fast).astype(np.int64),
        "right_fast": right_fast,
        "right_slow": right_slow,
        "care_slow": nothing if haste is None else haste.before,
        "pattern": nothing if time.pattern is None else time.pattern,
        "has_pattern": nobody if time.pattern is None else time.has_pattern,
    }


def _share_right(labels: JudgedLabels, hit: NDArray[Any], part: Flags) -> Floats:
    """The mean belief in a worker's labels of some part [W]; NaN for those who have none there."""
    rows = np.flatnonzero(part)
    worker = labels.worker[rows]
    total = sums_by(worker, hit[rows], labels.n_workers)
    return safe_ratio(total, np.bincount(worker, minlength=labels.n_workers))


def _pair_columns(judgement: Judgement, accuracy: Floats) -> dict[str, Any]:
    """The pairs that answer alike, with how alike two such workers would be, each alone."""
    labels, pairs, flagged = judgement.labels, judgement.pairs, judgement.pairs.flagged
    worker, partner = pairs.worker[flagged], pairs.partner[flagged]
    same_wrong = np.zeros(len(worker), np.int64)
    is_wrong = judgement.comparison.likeliest != labels.given
    for number, (first, second) in enumerate(zip(worker.tolist(), partner.tolist(), strict=True)):
        own, other = (slice(*labels.starts[[code, code + 1]]) for code in (first, second))
        _, a, b = np.intersect1d(labels.item[own], labels.item[other], return_indices=True)
        same = labels.given[own][a] == labels.given[other][b]
        same_wrong[number] = int((same & is_wrong[own][a]).sum())
    right, wrong = (
        accuracy[worker] * accuracy[partner],
        (1 - accuracy[worker]) * (1 - accuracy[partner]),
    )
    same_share = right + wrong / max(1, labels.n_classes - 1)
    return {
        "pair_worker": worker,
        "pair_partner": partner,
        "pair_shared": pairs.shared[flagged],
        "pair_same": pairs.same[flagged],
        "pair_same_wrong": same_wrong,
        "pair_expected": same_share * pairs.shared[flagged],
    }
