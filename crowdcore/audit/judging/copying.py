"""Workers who answer alike beyond what their skill explains: by pairs, then in groups.

Two good workers agree because both are right. What counts is agreement beyond that, with both
of their votes taken off what is believed of the item: else a copied error becomes the truth.
Who copied from whom cannot be told, and people who share a wrong idea look the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdcore.audit.judging.crowd_fit import CrowdFit, SameAnswerRatios
from crowdcore.audit.judging.labels import Flags, JudgedLabels, Rows
from crowdcore.data import UNKNOWN, Floats

MIN_SHARED = 5
"""Shared items below which nothing is said of a pair."""

MIN_SHARED_WITHOUT_MATRICES = 15
"""The same where it is not known which classes are mistaken for which."""

MAX_MEETINGS = 5_000_000
"""Pairs of labels of one item that are gone through; in larger crowds the busiest are compared."""

RATES = np.array([0, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99])
"""How often one of a pair may hand in the other's answer."""

MAX_COMMON_RATE = 0.15
"""What hard items alone do to all pairs is at most this."""

COPYING_RATES = RATES >= 0.5  # noqa: PLR2004
"""The rates that count as copying, all equally likely."""

MIN_RATE = 0.7
"""Pairs with a lower best rate are not flagged, however sure it is."""

MIN_ODDS = 3.0
"""A pair's Bayes factor must exceed this over the pair's part of all that is compared."""

PART_POWER = 4
"""Pairs have parts in this power of their shared items.

Those of whom much is known are searched first, so that the many pairs with few shared items
neither hide them nor are flagged by accident.
"""

MAX_RATIO = 30.0
"""No single item speaks for copying by more than this factor."""

MAX_GROUPED = 0.15
"""Where groups hold more of the workers, schools of thought are likelier than copies."""

FEW_GROUPED = 3
"""So many workers are no school of thought, however small the crowd is."""

MEETINGS_PER_CHUNK = 200_000


@dataclass(frozen=True, kw_only=True, eq=False)
class AlikePairs:
    """Pairs of workers with enough shared items, and how far copying explains them better."""

    worker: Rows  # [P]
    partner: Rows  # [P]
    shared: Rows  # [P] items
    same: Rows  # [P] of these with the same answer
    log_factor: Floats  # [P] log Bayes factor for copying
    rate: Floats  # [P] the best rate
    min_shared: int  # shared items from which a pair can be flagged
    n_compared: int  # among how many workers pairs were looked for

    @property
    def flagged(self) -> Flags:
        """Which pairs answer alike beyond what their skill explains."""
        parts = self.shared.astype(np.float64) ** PART_POWER
        enough = np.log(MIN_ODDS * parts.sum() / parts)
        sure = (self.log_factor > enough) & (self.rate >= MIN_RATE)
        values: Flags = sure & (self.shared >= self.min_shared)
        return values

    def groups(self, n_workers: int) -> list[Rows]:
        """The workers of flagged pairs, joined to groups; the largest first."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        worker, partner = self.worker[self.flagged], self.partner[self.flagged]
        links = coo_array((np.ones(len(worker)), (worker, partner)), (n_workers, n_workers))
        _, group = connected_components(links, directed=False)
        sizes = np.bincount(group)
        several = np.flatnonzero(sizes > 1)
        several = several[np.argsort(-sizes[several], kind="stable")]
        return [np.flatnonzero(group == code) for code in several]


@dataclass(frozen=True, kw_only=True, eq=False)
class Meetings:
    """Labels of two workers on one item, of all pairs with enough shared items."""

    pair: Rows  # [M] of the meetings with the same answer
    first: Rows  # [M] places of the labels
    second: Rows  # [M]
    worker: Rows  # [P]
    partner: Rows  # [P]
    shared: Rows  # [P]
    same: Rows  # [P]
    n_compared: int

    @classmethod
    def from_labels(cls, labels: JudgedLabels) -> Meetings:
        """Find where workers meet; in a huge crowd, where the busiest do."""
        chosen = _busiest(labels)
        first, second = _meetings(labels, chosen[labels.worker])
        code = labels.worker[first] * labels.n_workers + labels.worker[second]
        pairs, index, shared = np.unique(code, return_inverse=True, return_counts=True)
        enough = shared >= MIN_SHARED
        number = np.where(enough, np.cumsum(enough) - 1, UNKNOWN)
        pair = number[index]
        alike = np.flatnonzero((pair != UNKNOWN) & (labels.given[first] == labels.given[second]))
        pairs, shared = pairs[enough], shared[enough]
        return cls(
            pair=pair[alike],
            first=first[alike],
            second=second[alike],
            worker=pairs // labels.n_workers,
            partner=pairs % labels.n_workers,
            shared=shared,
            same=np.bincount(pair[alike], minlength=len(pairs)),
            n_compared=int(chosen.sum()),
        )


def alike_pairs(labels: JudgedLabels, fit: CrowdFit, meetings: Meetings) -> AlikePairs:
    """Weigh, for every pair of workers, copying against answering apart.

    Parameters
    ----------
    labels
        The labels, with the groups that are known so far.
    fit
        A fit to them.
    meetings
        Where workers meet, which does not depend on groups.

    Returns
    -------
    AlikePairs
        The smaller of two factors counts: with parameters of the fit, which contain the workers'
        own votes, and with such that do not, by which two good workers beside a bad third look
        like copies.
    """
    differing = (meetings.shared - meetings.same)[:, None] * np.log1p(-RATES)
    sums = _log_ratios(fit.same_answer_ratios(labels), meetings) + differing
    (factor, rate), (other_factor, other_rate) = (_factor(matrix) for matrix in sums)
    return AlikePairs(
        worker=meetings.worker,
        partner=meetings.partner,
        shared=meetings.shared,
        same=meetings.same,
        log_factor=np.minimum(factor, other_factor),
        rate=np.minimum(rate, other_rate),
        min_shared=MIN_SHARED if fit.has_matrices else MIN_SHARED_WITHOUT_MATRICES,
        n_compared=meetings.n_compared,
    )


def _factor(sums: Floats) -> tuple[Floats, Floats]:
    """Log Bayes factors [P] of copying against the common rate, and the best rates [P]."""
    if not len(sums):
        return np.zeros(0), np.zeros(0)
    common = int(np.where(RATES <= MAX_COMMON_RATE, sums.sum(0), -np.inf).argmax())
    gain = sums[:, COPYING_RATES] - sums[:, [common]]
    top = gain.max(1)
    log_factor: Floats = top + np.log(np.exp(gain - top[:, None]).mean(1))
    return log_factor, RATES[sums.argmax(1)]


def _log_ratios(ratios: SameAnswerRatios, meetings: Meetings) -> Floats:
    """Sums over same answers [2, P, rates] of log P(both | copying) - log P(both | apart)."""
    n_pairs = len(meetings.worker)
    sums = np.zeros((2, n_pairs, len(RATES)))
    for at in range(0, len(meetings.pair), MEETINGS_PER_CHUNK):
        part = slice(at, at + MEETINGS_PER_CHUNK)
        pair = meetings.pair[part]
        both = ratios(meetings.first[part], meetings.second[part])
        for number, ratio in enumerate(both):
            for column, rate in enumerate(RATES):
                logs = np.log(np.minimum(rate * ratio + (1 - rate), MAX_RATIO))
                sums[number, :, column] += np.bincount(pair, weights=logs, minlength=n_pairs)
    return sums


def _busiest(labels: JudgedLabels) -> Flags:
    """The workers with the most labels, as many as can be compared with each other."""
    sizes = np.diff(labels.starts)
    order = np.argsort(-sizes, kind="stable")
    n_chosen = int((sizes > 0).sum())
    chosen = np.zeros(labels.n_workers, bool)
    while n_chosen > 1:
        chosen[:] = False
        chosen[order[:n_chosen]] = True
        per_item = np.bincount(labels.item[chosen[labels.worker]], minlength=labels.n_items)
        if int((per_item * (per_item - 1)).sum()) // 2 <= MAX_MEETINGS:
            break
        n_chosen = n_chosen * 3 // 4
    return chosen


def _meetings(labels: JudgedLabels, use: Flags) -> tuple[Rows, Rows]:
    """Every two labels of one item, the worker with the lower code first."""
    rows = np.flatnonzero(use)
    rows = rows[np.argsort(labels.item[rows], kind="stable")]  # by item, then by worker
    item = labels.item[rows]
    first: list[NDArray[np.int32]] = []
    second: list[NDArray[np.int32]] = []
    at = np.arange(len(rows))
    for step in range(1, len(rows)):
        at = at[at + step < len(rows)]
        at = at[item[at] == item[at + step]]
        if not len(at):
            break
        first.append(rows[at].astype(np.int32))
        second.append(rows[at + step].astype(np.int32))
    if not first:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    return np.concatenate(first), np.concatenate(second)
