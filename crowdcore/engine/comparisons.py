"""Comparisons: who preferred which of two items, as arrays that every ranking method shares."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from crowdcore.codes import sum_by
from crowdcore.data import CrowdData, DataError
from crowdcore.engine.pair_graph import PairGraph

if TYPE_CHECKING:
    import torch
    from numpy.typing import NDArray

    from crowdcore.data import Codes, Floats
    from crowdcore.warm_start import WarmStart

LEFT, RIGHT, TIE = 0, 1, 2
"""Codes of the outcomes: the left item won, the right one, or neither."""

POINTS = np.array([1.0, 0.0, 0.5])
"""What the left item gets of each outcome."""


class Comparisons:
    """Outcomes of comparisons, in an order that does not depend on that of the file.

    Parameters
    ----------
    data : CrowdData
        Labels that are comparisons.
    device : torch.device
        Not used: the systems of equations are sparse and solved on the host.
    use_gold : bool
        Not used: scores are known only up to a shift, so that none can be held.
    start : WarmStart, optional
        Not used: fits of comparisons begin anew.
    """

    warm_start_was_used = False

    def __init__(
        self,
        data: CrowdData,
        device: torch.device | None = None,
        *,
        use_gold: bool = False,
        start: WarmStart | None = None,
    ) -> None:
        del device, use_gold, start
        if data.other is None:
            raise DataError("These labels are not comparisons")
        order = np.lexsort([data.label, data.other, data.item, data.worker])
        self.left: Codes = data.item[order]
        self.right: Codes = data.other[order]
        self.worker: Codes = data.worker[order]
        self.outcome: Codes = data.label[order]
        self.n_items, self.n_workers = data.n_items, data.n_workers

    def __len__(self) -> int:
        return len(self.outcome)

    @cached_property
    def graph(self) -> PairGraph:
        """Which items were compared with which."""
        return PairGraph(self.left, self.right, self.n_items)

    @cached_property
    def points(self) -> Floats:
        """What the left item got of each comparison [L]: 1, 0, or a half for a tie."""
        return POINTS[self.outcome]

    @cached_property
    def worker_outcome(self) -> NDArray[np.int64]:
        """The worker and the outcome of each comparison as one code [L]: 3 * worker + outcome."""
        return self.worker * np.int64(3) + self.outcome

    @cached_property
    def given(self) -> Floats:
        """How often each worker gave each outcome [W, 3]."""
        counts = np.bincount(self.worker_outcome, minlength=3 * self.n_workers)
        return counts.reshape(-1, 3).astype(np.float64)

    @cached_property
    def n_ties(self) -> int:
        """How many comparisons ended in a tie."""
        return int((self.outcome == TIE).sum())

    def by_pair(self) -> tuple[PairGraph, Floats, Floats]:
        """Add up the comparisons of each pair.

        Returns
        -------
        graph : PairGraph
            With one row per pair, the lower code on the left.
        counts : array [P]
            How often each pair was compared.
        points : array [P]
            What the item of the lower code got of them.
        """
        graph = self.graph
        points = np.where(self.left < self.right, self.points, 1 - self.points)
        pairs = PairGraph(graph.first.astype(np.int32), graph.second.astype(np.int32), self.n_items)
        return (
            pairs,
            graph.pair_counts.astype(np.float64),
            sum_by(graph.pair, points, graph.n_pairs),
        )

    def sum_by_worker(self, values: Floats) -> Floats:
        """Add up values of comparisons by worker [W]."""
        return sum_by(self.worker, values, self.n_workers)
