"""How often intervals of accuracies hold: on items that no fit has seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdcore.audit.judging.judgement import judge_crowd
from crowdcore.bench.verdicts.rivals import rules_on_truths
from crowdcore.data import UNKNOWN, CrowdData, Floats

MIN_NEW_LABELS = 10
"""Workers with fewer labels on new items are not counted."""

TAIL = 0.025
MIDDLE = np.array([0.5])


@dataclass(frozen=True, kw_only=True, eq=False)
class Coverage:
    """Workers whose hits on new items are compared with what was foretold."""

    holds: NDArray[np.bool_]  # [n]
    error: Floats  # [n] foretold less found accuracy
    width: Floats  # [n]
    former_holds: NDArray[
        np.bool_
    ]  # [n] the same of Wilson intervals on truths; empty if not asked


def coverage(
    data: CrowdData,
    truth: NDArray[np.int64],
    *,
    n_gold: int = 0,
    former: bool = False,
    seed: int = 0,
) -> Coverage:
    """Keep half of the items with a truth away, and foretell hits on them.

    Parameters
    ----------
    data
        The labels.
    truth
        The truth of each item [N], or a negative number where it is not known.
    n_gold
        Items of the other half whose truth is told as gold.
    former
        Whether Wilson intervals on truths are measured as well.
    seed
        Of the halves.

    Returns
    -------
    Coverage
        A foretold number of hits is a binomial mixed over the posterior; it holds if the found
        one lies in the middle 95 %, at random within its own probability, so that a correct
        method holds in exactly 95 %.
    """
    rng = np.random.default_rng(seed)
    known = rng.permutation(np.flatnonzero((truth >= 0) & (data.labels_per_item > 0)))
    new, old = known[: len(known) // 2], known[len(known) // 2 :]
    is_new = np.zeros(data.n_items, bool)
    is_new[new] = True
    gold = np.full(data.n_items, UNKNOWN)
    gold[old[:n_gold]] = truth[old[:n_gold]]
    held_out = is_new[data.item]
    fitted = CrowdData(
        item=data.item[~held_out],
        worker=data.worker[~held_out],
        label=data.label[~held_out],
        items=data.items,
        workers=data.workers,
        classes=data.classes,
        gold=gold if n_gold else None,
    )
    worker = data.worker[held_out]
    n = np.bincount(worker, minlength=data.n_workers)
    is_hit = truth[data.item[held_out]] == data.label[held_out]
    hits: Floats = np.bincount(worker, weights=is_hit, minlength=data.n_workers).astype(np.float64)
    judgement = judge_crowd(fitted)
    rows = np.flatnonzero((n >= MIN_NEW_LABELS) & judgement.judged)
    accuracy = judgement.accuracy
    edges, mass = accuracy.edges[rows], np.diff(accuracy.below[rows], axis=1)
    centres = (edges[:, 1:] + edges[:, :-1]) / 2
    luck = rng.random(len(rows))
    low, high = accuracy.interval()
    middle = accuracy.quantile(MIDDLE)[:, 0]
    return Coverage(
        holds=_holds(centres, mass, n[rows], hits[rows], luck),
        error=middle[rows] - hits[rows] / np.maximum(n[rows], 1),
        width=(high - low)[rows],
        former_holds=_former_holds(fitted, rows, n, hits, luck) if former else np.zeros(0, bool),
    )


def _holds(
    centres: Floats, mass: Floats, n: NDArray[np.int64], hits: Floats, luck: Floats
) -> NDArray[np.bool_]:
    from scipy.stats import binom

    below = (mass * binom.cdf(hits[:, None] - 1, n[:, None], centres)).sum(1)
    equal = (mass * binom.pmf(hits[:, None], n[:, None], centres)).sum(1)
    position = below + luck * equal
    inside: NDArray[np.bool_] = (position > TAIL) & (position < 1 - TAIL)
    return inside


def _former_holds(
    data: CrowdData,
    rows: NDArray[np.int64],
    n: NDArray[np.int64],
    hits: Floats,
    luck: Floats,
) -> NDArray[np.bool_]:
    """The same of a Beta posterior over hits against the truths of Dawid and Skene."""
    from scipy.stats import betabinom

    rules = rules_on_truths(data)
    a = rules.hits[rows] + 0.5
    b = rules.n_compared[rows] - rules.hits[rows] + 0.5
    below = betabinom.cdf(hits[rows] - 1, n[rows], a, b)
    position = below + luck * betabinom.pmf(hits[rows], n[rows], a, b)
    inside: NDArray[np.bool_] = (position > TAIL) & (position < 1 - TAIL)
    return inside
