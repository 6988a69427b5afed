"""AttentionMap: how much workers attend to workers and items to items, row by row on demand.

A fit keeps one or a few numbers per node; a row of attention weights is made when it is looked
at, so that nothing is ever dense in nodes × nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from crowdcore.artefacts.artefact import Array, Artefact
from crowdcore.data import CrowdData, Floats

Side = Literal["workers", "items"]

WEIGHTS_PER_CHUNK = 4_000_000
"""Weights that are in memory together while rows are made."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AttentionMap(Artefact):
    """Attention within workers and within items, and of workers and items to their labels.

    Where `kind` is "additive", node i attends to node j by softmax of φ(query_i + key_j), φ being
    the leaky ReLU of slope `slope`; queries and keys are [n]. Where it is "dot", by softmax of
    query_i . key_j; queries and keys are [n, d], already scaled.
    """

    name: ClassVar[str] = "attention"
    data: CrowdData
    kind: Literal["additive", "dot"]
    slope: float
    neighbourhood: Literal["full", "two_hop"]
    workers_query: Array | None = None  # None where the method has no such attention
    workers_key: Array | None = None
    items_query: Array | None = None
    items_key: Array | None = None
    of_worker: Array | None = None  # [L] weight of a label among its worker's
    of_item: Array | None = None  # [L] weight of a label among its item's

    @property
    def query(self) -> dict[Side, Array]:
        """The queries by side, of the sides that attend."""
        return _given({"workers": self.workers_query, "items": self.items_query})

    @property
    def key(self) -> dict[Side, Array]:
        """The keys by side, of the sides that attend."""
        return _given({"workers": self.workers_key, "items": self.items_key})

    def rows(self, side: Side, nodes: Sequence[int] | NDArray[Any]) -> Floats:
        """Make the attention weights of some nodes to all nodes of their side.

        Parameters
        ----------
        side : {"workers", "items"}
            Whose attention.
        nodes : sequence of int
            Codes of the m nodes that attend.

        Returns
        -------
        array [m, n]
            Rows that sum to 1.
        """
        return self.block(side, nodes, np.arange(len(self.key[side])))

    def block(
        self,
        side: Side,
        nodes: Sequence[int] | NDArray[Any],
        others: Sequence[int] | NDArray[Any],
    ) -> Floats:
        """Make the attention weights of some nodes to some others.

        Parameters
        ----------
        side : {"workers", "items"}
            Whose attention.
        nodes, others : sequence of int
            Codes of the m nodes that attend, and of the c nodes attended to.

        Returns
        -------
        array [m, c]
            Columns of rows that sum to 1 over all nodes.
        """
        nodes, others = np.asarray(nodes, np.int64), np.asarray(others, np.int64)
        weights = np.empty((len(nodes), len(others)))
        n_rows = max(1, WEIGHTS_PER_CHUNK // max(1, len(self.key[side])))
        for start in range(0, len(nodes), n_rows):
            chunk = slice(start, start + n_rows)
            score = self._scores(side, nodes[chunk])
            exponential = np.exp(score - score.max(1, keepdims=True))
            weights[chunk] = (exponential / exponential.sum(1, keepdims=True))[:, others]
        return weights

    def _scores(self, side: Side, nodes: NDArray[np.int64]) -> Floats:
        query, key = self.query[side], self.key[side]
        if self.kind == "dot":
            score = np.asarray(query[nodes] @ key.T, np.float64)
        else:
            total = np.asarray(query[nodes], np.float64)[:, None] + key
            score = np.where(total > 0, total, self.slope * total)
        if self.neighbourhood == "two_hop":
            return np.where(self._in_reach(side, nodes), score, -np.inf)
        counts = self.data.labels_per_worker if side == "workers" else self.data.labels_per_item
        if (counts > 0).all():
            return score
        # Who has no label takes no part, and sees nobody else.
        in_reach = (counts[nodes] > 0)[:, None] & (counts > 0)
        in_reach[np.arange(len(nodes)), nodes] = True
        return np.where(in_reach, score, -np.inf)

    def _in_reach(self, side: Side, nodes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which nodes [m, n] share an item or a worker with some of them, or are them."""
        own_code, other_code = (
            (self.data.worker, self.data.item)
            if side == "workers"
            else (self.data.item, self.data.worker)
        )
        n_own, n_other = len(self.key[side]), int(other_code.max()) + 1
        in_reach = np.zeros((len(nodes), n_own), bool)
        for row, node in enumerate(nodes):
            is_linked = np.zeros(n_other, bool)
            is_linked[other_code[own_code == node]] = True
            in_reach[row, own_code[is_linked[other_code]]] = True
            in_reach[row, node] = True
        return in_reach


def _given(by_side: dict[Side, Array | None]) -> dict[Side, Array]:
    return {side: array for side, array in by_side.items() if array is not None}
