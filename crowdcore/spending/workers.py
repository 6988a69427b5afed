"""Whom to ask: workers by how often they are right, and who gets which item."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdcore.data import CrowdData, Floats

USUAL_LABELS = 4.0
"""Labels that a worker is credited with at the crowd's mean, so that few labels say little."""

FAIR_SHARES = 2.0
"""How many times an equal share of the labels one worker is asked for, at most."""


@dataclass(frozen=True, kw_only=True, eq=False)
class WorkerQuality:
    """How good the labels of workers are.

    Parameters
    ----------
    quality
        How often labels are right; of ratings, how precise they are [W].
    is_asked
        Whom to ask: who gave labels and is neither left out nor in doubt [W].
    n_left_out
        Workers who are not asked because they were left out or are in doubt.
    """

    quality: Floats
    is_asked: NDArray[np.bool_]
    n_left_out: int

    @property
    def best_first(self) -> list[int]:
        """Codes of the workers to ask, the best first."""
        asked = np.flatnonzero(self.is_asked)
        best: list[int] = asked[np.argsort(-self.quality[asked], kind="stable")].tolist()
        return best


def worker_quality(data: CrowdData, hits: Floats, unwanted: Collection[str] = ()) -> WorkerQuality:
    """Rate workers by how good their labels are.

    Parameters
    ----------
    data
        The labels.
    hits
        How right each label is, between 0 and 1 [L].
    unwanted
        Names of workers not to ask: left out by decision, or in doubt.

    Returns
    -------
    WorkerQuality
        Pulled to the crowd's mean where there are few labels.
    """
    n = data.labels_per_worker
    total = np.bincount(data.worker, hits, data.n_workers)
    quality = (total + USUAL_LABELS * hits.mean()) / (n + USUAL_LABELS)
    is_out = np.isin(np.array(data.workers, dtype=object), list(unwanted))
    return WorkerQuality(
        quality=quality, is_asked=(n > 0) & ~is_out, n_left_out=int(((n > 0) & is_out).sum())
    )


def most_per_worker(n_labels: int, n_workers: int) -> int:
    """Return how many labels one worker is asked for at most.

    Parameters
    ----------
    n_labels
        Labels to buy.
    n_workers
        Workers to ask.
    """
    return max(1, math.ceil(FAIR_SHARES * n_labels / max(1, n_workers)))


def assign(
    unit_of_label: NDArray[np.integer],
    data: CrowdData,
    wanted: NDArray[np.int64],
    order: NDArray[np.intp],
    *,
    workers: WorkerQuality,
    limit: int,
) -> list[tuple[int, int]]:
    """Give every further label to the best worker who has not labelled the item.

    Parameters
    ----------
    unit_of_label
        The item, or the text, of each label [L].
    data
        The labels so far.
    wanted
        Further labels of each unit [U].
    order
        Units, those that come first.
    workers
        Whom to ask.
    limit
        Labels of one worker, at most.

    Returns
    -------
    list of tuple
        Unit and worker; the worker is -1 where somebody new must be found.
    """
    chosen = order[wanted[order] > 0]
    is_chosen = np.zeros(len(wanted), bool)
    is_chosen[chosen] = True
    rows = np.flatnonzero(is_chosen[unit_of_label])
    seen: dict[int, set[int]] = {}
    for unit, worker in zip(unit_of_label[rows].tolist(), data.worker[rows].tolist(), strict=True):
        seen.setdefault(unit, set()).add(worker)
    left = dict.fromkeys(workers.best_first, limit)
    pairs: list[tuple[int, int]] = []
    for unit in chosen.tolist():
        taken: list[int] = []
        known = seen.get(unit, set())
        for worker in left:
            if len(taken) == wanted[unit]:
                break
            if worker not in known:
                taken.append(worker)
        for worker in taken:
            pairs.append((unit, worker))
            left[worker] -= 1
            if not left[worker]:
                del left[worker]
        pairs += [(unit, -1)] * int(wanted[unit] - len(taken))
    return pairs
