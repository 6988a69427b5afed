"""AttentionMap: how much workers attend to workers and items to items, row by row on demand.

A fit keeps one or a few numbers a node; a row of attention weights is made when it is looked at,
so that nothing is ever dense in nodes × nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from crowdcore.data import CrowdData, Floats
    from crowdcore.result import Result

NAME = "attention"

Side = Literal["workers", "items"]

AT_ONCE = 4_000_000
"""Weights that are in memory together while rows are made."""


@dataclass(frozen=True, kw_only=True, eq=False)
class AttentionMap:
    """Attention within workers and within items, and of workers and items to their labels.

    Where `kind` is "additive", node i attends to node j by softmax of φ(query_i + key_j), φ being
    the leaky ReLU of slope `slope`; queries and keys are [n]. Where it is "dot", by softmax of
    query_i · key_j; queries and keys are [n, d], already scaled.
    """

    data: CrowdData
    kind: Literal["additive", "dot"]
    slope: float
    neighbourhood: Literal["full", "two_hop"]
    query: dict[str, NDArray[Any]]  # by side; empty where the method has no such attention
    key: dict[str, NDArray[Any]]
    of_worker: Floats | None  # [L] weight of a label among its worker's
    of_item: Floats | None  # [L] weight of a label among its item's

    @classmethod
    def of(cls, result: Result) -> AttentionMap | None:
        """The attention of a result, if its method attends."""
        found = result.artefacts.get(NAME)
        if found is None:
            return None
        sides = [side for side in ("workers", "items") if f"{side}_query" in found]
        return cls(
            data=result.data,
            kind=found["kind"],
            slope=found["slope"],
            neighbourhood=found["neighbourhood"],
            query={side: found[f"{side}_query"] for side in sides},
            key={side: found[f"{side}_key"] for side in sides},
            of_worker=found.get("of_worker"),
            of_item=found.get("of_item"),
        )

    def rows(self, side: Side, nodes: Sequence[int] | NDArray[Any]) -> Floats:
        """The attention weights of some nodes to all nodes of their side [m, n]."""
        n = len(self.key[side])
        return self.block(side, nodes, np.arange(n))

    def block(
        self,
        side: Side,
        nodes: Sequence[int] | NDArray[Any],
        others: Sequence[int] | NDArray[Any],
    ) -> Floats:
        """The weights of some nodes to some others [m, c]; each row is normalised over all."""
        nodes, others = np.asarray(nodes, np.int64), np.asarray(others, np.int64)
        found = np.empty((len(nodes), len(others)))
        step = max(1, AT_ONCE // max(1, len(self.key[side])))
        for at in range(0, len(nodes), step):
            part = nodes[at : at + step]
            score = self._scores(side, part)
            weight = np.exp(score - score.max(1, keepdims=True))
            found[at : at + step] = (weight / weight.sum(1, keepdims=True))[:, others]
        return found

    def _scores(self, side: Side, nodes: NDArray[np.int64]) -> Floats:
        query, key = self.query[side], self.key[side]
        if self.kind == "dot":
            score = np.asarray(query[nodes] @ key.T, np.float64)
        else:
            total = np.asarray(query[nodes], np.float64)[:, None] + key
            score = np.where(total > 0, total, self.slope * total)
        if self.neighbourhood == "two_hop":
            return np.where(self._near(side, nodes), score, -np.inf)
        data = self.data
        counts = data.labels_per_worker if side == "workers" else data.labels_per_item
        if (counts > 0).all():
            return score
        # Who has no label takes no part, and sees nobody else.
        near = (counts[nodes] > 0)[:, None] & (counts > 0)
        near[np.arange(len(nodes)), nodes] = True
        return np.where(near, score, -np.inf)

    def _near(self, side: Side, nodes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which nodes of a side share an item or a worker with some of them [m, n], or are them."""
        own, other = (
            (self.data.worker, self.data.item)
            if side == "workers"
            else (self.data.item, self.data.worker)
        )
        n_own, n_other = len(self.key[side]), int(other.max()) + 1
        near = np.zeros((len(nodes), n_own), bool)
        for row, node in enumerate(nodes):
            met = np.zeros(n_other, bool)
            met[other[own == node]] = True
            near[row, own[met[other]]] = True
            near[row, node] = True
        return near


def parts(
    *,
    kind: str,
    slope: float,
    neighbourhood: str,
    workers: tuple[Any, Any] | None,
    items: tuple[Any, Any] | None,
    of_worker: Any = None,
    of_item: Any = None,
) -> dict[str, Any]:
    """What a method puts into its estimate under `NAME`; sides are pairs of queries and keys.

    `of_worker` and `of_item` are in the order of the labels in the data.
    """
    found: dict[str, Any] = {"kind": kind, "slope": float(slope), "neighbourhood": neighbourhood}
    for side, pair in (("workers", workers), ("items", items)):
        if pair is not None:
            found[f"{side}_query"], found[f"{side}_key"] = pair
    labels = {"of_worker": of_worker, "of_item": of_item}
    return found | {name: one for name, one in labels.items() if one is not None}
