"""Which pairs of items are worth another comparison."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import expit, ndtri

from crowdcore.audit.comparisons.items import RankedItemAudit
from crowdcore.data import Floats
from crowdcore.results.result import Result

NEIGHBOURS = 10
"""How far apart in rank two items may be to be worth a comparison."""

MAX_CANDIDATES = 50_000
"""Pairs whose worth is computed at most: those whose order is the most open."""

N_NODES = 100
"""Equally likely differences of scores over which an expectation is computed."""


def next_pairs(result: Result, *, limit: int = 100) -> pd.DataFrame:
    """List the comparisons that would tell most about the order.

    For every two items near each other in rank it is computed how much one more answer is expected
    to tell about which of them is better, in bits: much where that is open and one answer would
    move it, little where it is sure, or where the two are known to be nearly equal.

    Parameters
    ----------
    result
        The scores, with intervals.
    limit
        Pairs at most.

    Returns
    -------
    pandas.DataFrame
        Columns `first`, `second` (the first ranks higher), `first_rank`, `second_rank`, `above`
        (how likely the first is better), `n_asked` so far, and `bits`; the most telling first.
        Empty where the method gives no intervals.
    """
    audit, ranked = RankedItemAudit(result), result.order
    n = len(ranked)
    first = np.concatenate([np.arange(max(0, n - gap)) for gap in range(1, NEIGHBOURS + 1)])
    gaps = np.repeat(
        np.arange(1, NEIGHBOURS + 1), [max(0, n - gap) for gap in range(1, NEIGHBOURS + 1)]
    )
    upper, lower = ranked[first], ranked[first + gaps]
    above = result.above(upper, lower)
    if np.isnan(above).any():
        upper, lower, above = upper[:0], lower[:0], above[:0]
    most_open = np.argsort(np.abs(above - 0.5), kind="stable")[:MAX_CANDIDATES]
    upper, lower = upper[most_open], lower[most_open]
    difference = result.truth[upper] - result.truth[lower]
    bits = expected_bits(difference, result.difference_variance(upper, lower))
    top = np.argsort(-bits, kind="stable")[:limit]
    upper, lower, bits = upper[top], lower[top], bits[top]
    low, high = np.minimum(audit.left, audit.right), np.maximum(audit.left, audit.right)
    asked, counts = np.unique(low * np.int64(n) + high, return_counts=True)
    key = np.minimum(upper, lower) * np.int64(n) + np.maximum(upper, lower)
    index = np.minimum(np.searchsorted(asked, key), len(asked) - 1)
    names = np.array(result.data.items, dtype=object)
    return pd.DataFrame(
        {
            "first": names[upper],
            "second": names[lower],
            "first_rank": result.rank[upper],
            "second_rank": result.rank[lower],
            "above": result.above(upper, lower),
            "n_asked": np.where(asked[index] == key, counts[index], 0),
            "bits": bits,
        }
    )


def expected_bits(difference: Floats, variance: Floats) -> Floats:
    """Say how much one answer about two items is expected to tell about which is better.

    Parameters
    ----------
    difference, variance
        Of the two scores [P].

    Returns
    -------
    numpy.ndarray
        The mutual information of the answer and the order of the two [P], in bits.
    """
    nodes = ndtri((np.arange(N_NODES) + 0.5) / N_NODES)
    drawn = difference[:, None] + np.sqrt(variance)[:, None] * nodes
    wins, better = expit(drawn), drawn > 0
    likely_win = wins.mean(1)
    win_and_better = (wins * better).mean(1)
    loss_and_better = ((1 - wins) * better).mean(1)
    after_win = _entropy(win_and_better / np.maximum(likely_win, 1e-12))
    after_loss = _entropy(loss_and_better / np.maximum(1 - likely_win, 1e-12))
    bits: Floats = _entropy(better.mean(1)) - likely_win * after_win - (1 - likely_win) * after_loss
    return bits


def _entropy(chance: Floats) -> Floats:
    chance = np.clip(chance, 1e-12, 1 - 1e-12)
    return -(chance * np.log2(chance) + (1 - chance) * np.log2(1 - chance))
