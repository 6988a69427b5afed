"""Cycles in a worker's own comparisons: a over b, b over c, and c over a."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from crowdcore.audit.comparisons.held_out import HeldOut
from crowdcore.data import Floats

MAX_ITEMS = 150
"""Items of a worker among which cycles are looked for at most."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Cycles:
    """What each worker's own comparisons say about their consistency [W].

    Parameters
    ----------
    triads
        Three items of which the worker compared every two.
    cyclic
        How many of them have no order.
    expected
        How many the average worker would leave without an order.
    answers
        Decided pairs among these items.
    repeated, flipped
        Pairs that the worker compared more than once, and how many got different winners.
    """

    triads: Floats
    cyclic: Floats
    expected: Floats
    answers: Floats
    repeated: Floats
    flipped: Floats


def count_cycles(held_out: HeldOut, n_workers: int, n_items: int) -> Cycles:
    """Count cycles and contradictions in each worker's comparisons.

    Parameters
    ----------
    held_out
        The comparisons.
    n_workers, n_items
        How many there are.

    Returns
    -------
    Cycles
    """
    decided = held_out.decided
    left = held_out.left[decided].astype(np.int64)
    right = held_out.right[decided].astype(np.int64)
    worker = held_out.worker[decided].astype(np.int64)
    low, high = np.minimum(left, right), np.maximum(left, right)
    won = np.where((held_out.outcome[decided] == 0) == (left < right), 1, -1)
    chance = np.where(left < right, held_out.expected.points[decided], 0.0)
    chance += np.where(left > right, 1 - held_out.expected.points[decided], 0.0)
    key = (worker * n_items + low) * n_items + high if n_items < _MAX_PACKED else None
    if key is None:
        key = np.unique(np.stack([worker, low, high]), axis=1, return_inverse=True)[1].ravel()
    _, first, pair, times = np.unique(
        key, return_index=True, return_inverse=True, return_counts=True
    )
    net = np.bincount(pair, won, minlength=len(first))
    who = worker[first]
    flipped = np.abs(net) < times
    edge = net != 0
    start, end = (
        np.where(net > 0, low[first], high[first]),
        np.where(net > 0, high[first], low[first]),
    )
    favoured = np.where(net > 0, chance[first], 1 - chance[first])
    counted = _Triads.of(who[edge], start[edge], end[edge], favoured[edge], n_workers, n_items)
    again = times > 1
    return Cycles(
        triads=counted.triads,
        cyclic=counted.cyclic,
        expected=counted.expected,
        answers=counted.answers,
        repeated=np.bincount(who[again], minlength=n_workers).astype(np.float64),
        flipped=np.bincount(who[again & flipped], minlength=n_workers).astype(np.float64),
    )


_MAX_PACKED = 1_000_000
"""Items up to which a worker and two items fit into one whole number."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Triads:
    triads: Floats
    cyclic: Floats
    expected: Floats
    answers: Floats

    @classmethod
    def of(  # noqa: PLR0917
        cls,
        worker: NDArray[np.int64],
        winner: NDArray[np.int64],
        loser: NDArray[np.int64],
        chance: Floats,
        n_workers: int,
        n_items: int,
    ) -> _Triads:
        """Count triads by products of sparse matrices, with a node for each worker and item."""
        nodes, node = np.unique(
            np.concatenate([worker * n_items + winner, worker * n_items + loser]),
            return_inverse=True,
        )
        owner = nodes // n_items
        starts = np.searchsorted(owner, np.arange(n_workers))
        within = np.arange(len(nodes)) - starts[owner] < MAX_ITEMS
        winner, loser = np.split(node, 2)
        keep = within[winner] & within[loser]
        winner, loser, chance = winner[keep], loser[keep], chance[keep]
        shape = (len(nodes), len(nodes))
        beats = sparse.coo_array((np.ones(len(winner)), (winner, loser)), shape=shape).tocsr()
        odds = sparse.coo_array(
            (
                np.concatenate([chance, 1 - chance]),
                (np.concatenate([winner, loser]), np.concatenate([loser, winner])),
            ),
            shape=shape,
        ).tocsr()
        either = beats + beats.T

        def per_worker(matrix: sparse.csr_array, times: int) -> Floats:
            """Closed walks of three steps, by the owner of their nodes; each is met `times`."""
            walks = np.asarray((matrix @ matrix).multiply(matrix.T).sum(1)).ravel()
            return np.bincount(owner, walks, minlength=n_workers) / times

        return cls(
            triads=per_worker(either, 6),
            cyclic=per_worker(beats, 3),
            expected=per_worker(odds, 3),
            answers=np.bincount(worker[keep], minlength=n_workers).astype(np.float64),
        )
