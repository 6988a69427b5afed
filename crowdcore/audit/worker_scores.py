"""Published scores of workers by their confusion matrices, whatever method a run used.

A matrix is handled by its columns, one for each class that a worker ever gave: all other columns
are 0. So the cost grows with the labels, and not with workers × classes².
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from crowdcore.codes import sorted_with
from crowdcore.data import CrowdData, Floats
from crowdcore.distributions import TIE_TOLERANCE
from crowdcore.results.result import Result

MAX_NUMBERS = 4_000_000
"""Numbers in the columns that are worked on at a time."""


class GivenColumns(NamedTuple):
    """Columns of the workers' confusion matrices, those of one worker together."""

    values: Floats  # [U, true] P(given | true)
    starts: np.ndarray  # [m] the first column of each worker


def spammer_score(columns: GivenColumns, noise: Floats | float = 0.0) -> Floats:
    """Score workers by Raykar and Yu: 0 if answers do not depend on the truth, 1 if they follow it.

    Parameters
    ----------
    columns
        Of the confusion matrices of m workers.
    noise
        The variance of each entry [U, true]; it would pass for skill and is taken off.

    Returns
    -------
    numpy.ndarray
        Scores [m]; NaN where there is only one class.
    """
    values, starts = columns
    n_classes = values.shape[1]
    if n_classes == 1:
        return np.full(len(starts), np.nan)
    deviation = (values - values.mean(1, keepdims=True)) ** 2
    excess = (deviation - (1 - 1 / n_classes) * noise).sum(1)
    score: Floats = np.clip(np.add.reduceat(excess, starts) / (n_classes - 1), 0, 1)
    return score


def cost_quality(columns: GivenColumns, prior: Floats) -> Floats:
    """Score workers by Ipeirotis, Provost and Wang: 1 - cost / a spammer's, after undoing bias.

    Parameters
    ----------
    columns
        Of the confusion matrices of m workers.
    prior
        How common each class is [true].

    Returns
    -------
    numpy.ndarray
        Scores [m]; NaN where the truths have a single class: a spammer then costs nothing.
    """
    values, starts = columns
    spammer_cost = 1 - float((prior**2).sum())
    if spammer_cost < TIE_TOLERANCE:
        return np.full(len(starts), np.nan)
    joint = values * prior
    given = joint.sum(1)
    squares = np.divide((joint**2).sum(1), given, out=np.zeros_like(given), where=given > 0)
    cost = np.add.reduceat(given - squares, starts)
    quality: Floats = np.clip(1 - cost / spammer_cost, 0, 1)
    return quality


def confusion_scores(result: Result, truth_shares: Floats) -> tuple[Floats, Floats]:
    """Score workers by matrices that are counted under the posterior.

    Matrices are drawn towards "answers regardless of the truth" by one label, so that few labels
    look neither good nor bad.

    Parameters
    ----------
    result
        Of any method for classes.
    truth_shares
        How common each class is [K].

    Returns
    -------
    spammer_scores, qualities
        Of each worker [W]; 0 for a worker without labels.
    """
    data = result.data
    is_single = data.n_classes == 1
    scores = np.full(data.n_workers, np.nan if is_single else 0.0)
    is_free = 1 - float((truth_shares**2).sum()) < TIE_TOLERANCE
    qualities = np.full(data.n_workers, np.nan if is_free else 0.0)
    for workers, sizes, counts, starts in _given_columns(data, result.posterior):
        owner = np.repeat(np.arange(len(workers)), np.diff([*starts, len(sizes)]))
        total = np.add.reduceat(counts, starts)[owner]  # [U, true]
        share = sizes / data.labels_per_worker[workers][owner]
        values = (counts + share[:, None]) / (total + 1)
        noise = values * (1 - values) * total / (total + 1) ** 2
        columns = GivenColumns(values, starts)
        scores[workers] = spammer_score(columns, noise)
        qualities[workers] = cost_quality(columns, truth_shares)
    return scores, qualities


def _given_columns(
    data: CrowdData, posterior: Floats
) -> Iterator[tuple[np.ndarray, np.ndarray, Floats, np.ndarray]]:
    """Some workers at a time: who, labels in each column, soft counts [U, true], and starts."""
    from scipy.sparse import csr_array

    key = data.worker.astype(np.int64) * data.n_classes + data.label
    item = sorted_with(key, data.item, data.n_items)
    labels_of_key = np.bincount(key, minlength=data.n_workers * data.n_classes)
    del key
    keys = np.flatnonzero(labels_of_key)
    sizes = labels_of_key[keys]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    worker = keys // data.n_classes
    firsts = np.concatenate([np.flatnonzero(np.diff(worker, prepend=-1)), [len(keys)]])
    begin = 0
    while begin < len(firsts) - 1:
        limit = firsts[begin] + max(1, MAX_NUMBERS // data.n_classes)
        end = max(begin + 1, int(np.searchsorted(firsts, limit, side="right")) - 1)
        first, last = firsts[begin], firsts[end]
        labels = slice(offsets[first], offsets[last])
        index = item[labels].astype(np.int32)
        bounds = offsets[first : last + 1] - offsets[first]
        shape = (last - first, data.n_items)
        counts = csr_array((np.ones(len(index), posterior.dtype), index, bounds), shape) @ posterior
        starts = firsts[begin:end] - first
        yield worker[firsts[begin:end]], sizes[first:last], counts, starts
        begin = end
