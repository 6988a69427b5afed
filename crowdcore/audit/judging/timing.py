"""What a worker's order and speed show: drifting, too fast in part, a pattern of answers.

Every test compares two levels of care with one. Speed alone is never a finding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from crowdcore.audit.judging.labels import Flags, JudgedLabels, Rows, sums_by
from crowdcore.data import Floats

CARE = np.linspace(0, 1, 11)
"""How often a worker looks at the item."""

MIN_SIDE = 8
"""Labels before and after a change, at least."""

MAX_CUTS = 19
"""Places at which a change is looked for."""

DRIFT_PRIOR, DRIFT_PROBABILITY = 0.10, 0.9
FAST_PRIOR, FAST_PROBABILITY = 0.10, 0.9
PATTERN_PRIOR, PATTERN_PROBABILITY = 0.02, 0.95
MIN_FALL = 0.2
"""How much less often a worker looks, at least, to be called drifting or too fast."""

MIN_FAST = 5
"""Fast labels, and others, that are needed."""

FAST_RATIO = 3.0
"""A fast label took less than the usual time over this."""

FAST_DEVIATIONS = 1.5
"""And so many robust standard deviations less."""

ITEM_LABELS = 3.0
"""Durations by which an item's usual time is drawn to the crowd's."""

MAX_TRUTH_MEMORY = 3.0
"""Log-odds from which the items' own order has a pattern, so that the answers' says nothing."""

CHUNK_LABELS = 200_000
MAD_TO_SD = 1.4826


@dataclass(frozen=True, kw_only=True, eq=False)
class Changes:
    """Two levels of care against one, for each worker; probability 0 where it was not tested."""

    probability: Floats  # [W]
    before: Floats  # [W] care before, or on slow labels
    after: Floats  # [W] care after, or on fast labels
    n_first: Rows  # [W] labels before the change, or fast labels

    def flagged(self, min_probability: float) -> Flags:
        """Who falls by enough, surely enough."""
        return (self.probability >= min_probability) & (self.before - self.after >= MIN_FALL)


def drifting(hit: Floats, habit: Floats, labels: JudgedLabels, order: Rows) -> Changes:
    """Look for a place in each worker's labels from which they look less often.

    Parameters
    ----------
    hit
        The others' belief in each given class [L].
    habit
        The worker's own share of the given class [L].
    labels
        The labels.
    order
        Places [M] of comparable labels, by worker and then in the order in which they were given.

    Returns
    -------
    Changes
        `n_first` is the number of comparable labels before the change.
    """
    n_workers = labels.n_workers
    changes = _nothing(n_workers)
    log_prior = np.log(_care_prior(hit, habit, labels, order))
    for workers, rows, sizes in _worker_chunks(labels, order):
        logs = _log_care(hit[rows], habit[rows])  # [n, 11]
        sums = np.zeros((len(rows) + 1, len(CARE)))
        np.cumsum(logs, axis=0, out=sums[1:])
        starts = np.cumsum(sizes) - sizes
        ends = starts + sizes
        able = np.flatnonzero(sizes >= 2 * MIN_SIDE)
        if not len(able):
            continue
        together = _marginal(sums[ends[able]] - sums[starts[able]], log_prior)
        cuts = _cuts(sizes[able])  # [m, cuts]
        gains = np.full(cuts.shape, -np.inf)
        for column in range(cuts.shape[1]):
            middle = starts[able] + cuts[:, column]
            first = sums[middle] - sums[starts[able]]
            second = sums[ends[able]] - sums[middle]
            gains[:, column] = _marginal(first, log_prior) + _marginal(second, log_prior) - together
        top = gains.max(1)
        factor = top + np.log(np.exp(gains - top[:, None]).mean(1))
        best = cuts[np.arange(len(able)), gains.argmax(1)]
        middle = starts[able] + best
        codes = workers[able]
        changes.probability[codes] = _posterior(factor, DRIFT_PRIOR)
        changes.before[codes] = _mean_care(sums[middle] - sums[starts[able]], log_prior)
        changes.after[codes] = _mean_care(sums[ends[able]] - sums[middle], log_prior)
        changes.n_first[codes] = best
    return changes


def fast_labels(seconds: Floats, labels: JudgedLabels) -> Flags:
    """Which labels [L] took far less time than is usual for their item.

    Parameters
    ----------
    seconds
        How long each label took [L]; NaN where it is not known.
    labels
        The labels.

    Returns
    -------
    array of bool [L]
        Where nothing is known of a label's time it is not fast.
    """
    known = np.flatnonzero(np.isfinite(seconds) & (seconds > 0))
    fast = np.zeros(len(seconds), bool)
    if not len(known):
        return fast
    logs = np.log(seconds[known])
    logs -= np.median(logs)
    item = labels.item[known]
    total = np.bincount(item, weights=logs, minlength=labels.n_items)
    count = np.bincount(item, minlength=labels.n_items)
    logs -= (total / (count + ITEM_LABELS))[item]
    deviation = MAD_TO_SD * float(np.median(np.abs(logs - np.median(logs))))
    fast[known] = logs < -max(np.log(FAST_RATIO), FAST_DEVIATIONS * deviation)
    return fast


def too_fast(hit: Floats, habit: Floats, labels: JudgedLabels, order: Rows, fast: Flags) -> Changes:
    """Compare the care of each worker's fast labels with that of their others.

    Parameters are those of `drifting`, and which labels are fast [L]. `n_first` of the result is
    the number of comparable fast labels.
    """
    n_workers = labels.n_workers
    changes = _nothing(n_workers)
    log_prior = np.log(_care_prior(hit, habit, labels, order))
    for workers, rows, sizes in _worker_chunks(labels, order):
        logs = _log_care(hit[rows], habit[rows])
        starts = np.cumsum(sizes) - sizes
        is_fast = fast[rows]
        n_fast = np.add.reduceat(is_fast.astype(np.int64), starts)
        quick = np.add.reduceat(logs * is_fast[:, None], starts, axis=0)
        slow = np.add.reduceat(logs * ~is_fast[:, None], starts, axis=0)
        able = np.flatnonzero((n_fast >= MIN_FAST) & (sizes - n_fast >= MIN_FAST))
        apart = _marginal(quick[able], log_prior) + _marginal(slow[able], log_prior)
        factor = apart - _marginal(quick[able] + slow[able], log_prior)
        codes = workers[able]
        changes.probability[codes] = _posterior(factor, FAST_PRIOR)
        changes.before[codes] = _mean_care(slow[able], log_prior)
        changes.after[codes] = _mean_care(quick[able], log_prior)
        changes.n_first[codes] = n_fast[able]
    return changes


def pattern_probability(given: Rows, truth: Rows, labels: JudgedLabels, order: Rows) -> Floats:
    """How probable it is [W] that answers follow the answer before, not the items.

    Parameters
    ----------
    given, truth
        The labels, and what the others believe their items to be [L].
    labels
        The labels.
    order
        Places [M] of labels, by worker and then in the order in which they were given.

    Returns
    -------
    array [W]
        0 where the items' own order has a strong pattern, such as items sorted by class.
    """
    memory = _memory(given, labels, order)
    of_truth = _memory(truth, labels, order)
    probability = _posterior(memory - np.maximum(of_truth, 0), PATTERN_PRIOR)
    return np.where(of_truth > MAX_TRUTH_MEMORY, 0.0, probability)


def _memory(values: Rows, labels: JudgedLabels, order: Rows) -> Floats:
    """Log Bayes factors [W]: each value depends on the one before, or on none."""
    from scipy.special import gammaln

    k, n_workers = labels.n_classes, labels.n_workers
    alpha = min(1.0, 5.0 / k)
    worker = labels.worker[order]
    later = np.flatnonzero(worker[1:] == worker[:-1]) + 1
    worker = worker[later]
    now, before = values[order[later]], values[order[later - 1]]

    def log_evidence(context: Rows, n_contexts: int) -> Floats:
        """Dirichlet-multinomial log-probability of `now` in each context, added up by worker."""
        group = worker * n_contexts + context
        cells, counts = np.unique(group * k + now, return_counts=True)
        logs = gammaln(counts + alpha) - gammaln(alpha)
        groups, sizes = np.unique(group, return_counts=True)
        totals = gammaln(k * alpha) - gammaln(sizes + k * alpha)
        of_cells = sums_by(cells // k // n_contexts, logs, n_workers)
        return of_cells + sums_by(groups // n_contexts, totals, n_workers)

    return log_evidence(before, k) - log_evidence(np.zeros_like(before), 1)


def _care_prior(hit: Floats, habit: Floats, labels: JudgedLabels, order: Rows) -> Floats:
    """Half even, half as care is spread over this crowd (over its first workers, if it is huge)."""
    even = np.full(len(CARE), 1 / len(CARE))
    first = next(_worker_chunks(labels, order), None)
    if first is None:
        return even
    _, rows, sizes = first
    logs = np.add.reduceat(_log_care(hit[rows], habit[rows]), np.cumsum(sizes) - sizes, axis=0)
    crowd = even.copy()
    for _ in range(20):
        scores = logs + np.log(crowd)
        scores -= scores.max(1, keepdims=True)
        shares = np.exp(scores)
        shares /= shares.sum(1, keepdims=True)
        crowd = (shares.sum(0) + 1 / len(CARE)) / (len(shares) + 1)
    values: Floats = (even + crowd) / 2
    return values


def _log_care(hit: Floats, habit: Floats) -> Floats:
    """Log-probabilities of labels [n, 11] of workers who look so often."""
    mixed = CARE * hit[:, None] + (1 - CARE) * habit[:, None]
    return np.log(np.maximum(mixed, 1e-6))


def _marginal(sums: Floats, log_prior: Floats) -> Floats:
    scores = sums + log_prior
    top = scores.max(1)
    logs: Floats = top + np.log(np.exp(scores - top[:, None]).sum(1))
    return logs


def _mean_care(sums: Floats, log_prior: Floats) -> Floats:
    scores = sums + log_prior
    shares = np.exp(scores - scores.max(1, keepdims=True))
    mean: Floats = (shares @ CARE) / shares.sum(1)
    return mean


def _posterior(log_factor: Floats, prior: float) -> Floats:
    log_odds = log_factor + np.log(prior / (1 - prior))
    probability: Floats = 1 / (1 + np.exp(-np.clip(log_odds, -500, 500)))
    return probability


def _cuts(sizes: Rows) -> Rows:
    """Places [m, cuts] evenly between the least and the most labels before a change."""
    share = np.linspace(0, 1, MAX_CUTS)
    places = MIN_SIDE + share * (sizes - 2 * MIN_SIDE)[:, None]
    return np.rint(places).astype(np.int64)


def _nothing(n_workers: int) -> Changes:
    zeros = np.zeros
    return Changes(
        probability=zeros(n_workers),
        before=zeros(n_workers),
        after=zeros(n_workers),
        n_first=zeros(n_workers, np.int64),
    )


def _worker_chunks(labels: JudgedLabels, order: Rows) -> Iterator[tuple[Rows, Rows, Rows]]:
    """Workers [m], the places of their labels and how many each has; some labels at a time."""
    worker = labels.worker[order]
    workers, starts, sizes = np.unique(worker, return_index=True, return_counts=True)
    chunk = starts // CHUNK_LABELS
    for code in np.unique(chunk):
        members = np.flatnonzero(chunk == code)
        begin, end = starts[members[0]], starts[members[-1]] + sizes[members[-1]]
        yield workers[members], order[begin:end], sizes[members]
