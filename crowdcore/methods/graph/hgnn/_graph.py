"""The bipartite graph of workers and items: messages along labels, in both directions.

A message along a label depends on the sender and on the label's class only. So messages are rows
of *cells*, the pairs (class, sender) that occur, and each label leads from a cell to its
receiver. Nodes without labels are no part of the graph. Items with the same labels by the same
workers send and receive the same, and may be one node that counts as often.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from crowdcore.data import DataError
from crowdcore.engine.bags import bag_starts
from crowdcore.engine.labels import canonical_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crowdcore.engine.labels import Labels

MAX_SCORE_DEPTH = {torch.float32: 120.0, torch.float64: 1200.0}
"""Scores further below the highest are held there, so that their exponentials do not vanish: who
receives only from such senders receives from all of them alike."""

PAIRS_PER_CHUNK = 16_000_000
"""Pairs of nodes that are counted together."""

MAX_PAIRS = 400_000_000
"""Pairs of nodes of a kind that are kept: 0.4 GB."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Graph:
    """The nodes, and the two directions in which messages go."""

    workers: Tensor  # those with labels
    items: Tensor
    node: Tensor  # of each of these items
    first: Tensor  # one of the items of each node
    copies: Tensor | None  # items that each node stands for; one each if there are none
    worker: NDArray[np.int64]  # [E] index among the workers, of each edge
    item: NDArray[np.int64]  # [E] nodes
    to_items: Direction
    to_workers: Direction

    @classmethod
    def from_labels(
        cls, labels: Labels, *, merge: bool = False, dtype: torch.dtype | None = None
    ) -> Graph:
        """The graph of some labels; their order does not change a sum.

        Merged, items with the same labels are one node, and the labels of one of them its edges.
        """
        data, dtype, order = labels.data, dtype or labels.dtype, canonical_order(labels.data)
        workers, worker = np.unique(data.worker[order], return_inverse=True)
        items, item, size = np.unique(data.item[order], return_inverse=True, return_counts=True)
        given = data.label[order].astype(np.int64)
        node = (
            _identical_items(worker * data.n_classes + given, size)
            if merge
            else np.arange(len(items))
        )
        _, first, copies = np.unique(node, return_index=True, return_counts=True)
        start = bag_starts(size)
        kept = np.isin(item, first)
        edge = np.cumsum(kept) - 1
        # Where each label of the data went: to the like label of the first item of its node.
        rank = edge[(start[first[node]] - start)[item] + np.arange(len(item))][np.argsort(order)]
        ends = worker[kept], node[item[kept]]
        return cls(
            workers=labels.tensor(workers.astype(np.int64)),
            items=labels.tensor(items.astype(np.int64)),
            node=labels.tensor(node),
            first=labels.tensor(items[first].astype(np.int64)),
            copies=labels.tensor(copies, dtype) if len(copies) < len(items) else None,
            worker=ends[0],
            item=ends[1],
            to_items=Direction(
                labels, *ends, given[kept], rank, copies=np.ones(len(workers)), dtype=dtype
            ),
            to_workers=Direction(
                labels, *ends[::-1], given[kept], rank, copies=copies, dtype=dtype
            ),
        )

    @cached_property
    def two_hop(self) -> tuple[Tensor, Tensor]:
        """Which workers share an item, and which items a worker, [n, n] each; all share theirs."""
        pairs = (self.worker, self.item), (self.item, self.worker)
        workers, items = (torch.tensor(_two_hops(*ends)).to(self.workers.device) for ends in pairs)
        return workers, items


class Direction:
    """Messages from all senders to all receivers, one along each edge, as often as it counts."""

    def __init__(
        self,
        labels: Labels,
        sender: NDArray[np.int64],
        receiver: NDArray[np.int64],
        given: NDArray[np.int64],
        rank: NDArray[np.int64],
        *,
        copies: NDArray[np.generic],
        dtype: torch.dtype,
    ) -> None:
        n_senders, n_receivers = int(sender.max()) + 1, int(receiver.max()) + 1
        cells, cell = np.unique(given * n_senders + sender, return_inverse=True)
        cell_sender, cell_class = cells % n_senders, cells // n_senders
        self.n_cells = len(cells)
        self.class_sizes = np.bincount(cell_class, minlength=labels.n_classes).tolist()
        n_received = np.bincount(receiver, weights=copies[sender])
        self.counts = labels.tensor(n_received, dtype).unsqueeze(1)
        cell_copies = labels.tensor(copies[cell_sender], dtype).unsqueeze(1)
        self._copies = cell_copies if copies.max() > 1 else None  # [cells, 1]
        self._sender, self._class = labels.tensor(cell_sender), labels.tensor(cell_class)
        self._of_sender = _Bags(labels, np.arange(self.n_cells), cell_sender, n_senders)
        self._of_class = _Bags(labels, np.arange(self.n_cells), cell_class, labels.n_classes)
        self._cell, self._rank = labels.tensor(cell), labels.tensor(rank)  # [E], [L]
        with_dgl = labels.device.type == "cpu" and has_dgl()
        kernels = DglKernels if with_dgl else TorchKernels
        self.kernels = kernels(labels, cell, receiver, (self.n_cells, n_receivers))

    def of_sender(self, rows: Tensor) -> Tensor:
        """For each cell its sender's row [senders, d] -> [cells, d]."""
        return _linear(rows, lambda x: x.index_select(0, self._sender), self._of_sender)

    def of_class(self, rows: Tensor) -> Tensor:
        """For each cell its class's row [K, d] -> [cells, d]."""
        return _linear(rows, lambda x: x.index_select(0, self._class), self._of_class)

    def sum(self, messages: Tensor) -> Tensor:
        """Add, for each receiver, the messages [cells, d] that reach it -> [receivers, d]."""
        messages = messages if self._copies is None else messages * self._copies
        return _linear(messages, self.kernels.to_targets, self.kernels.to_sources)

    def attend(self, scores: Tensor, messages: Tensor) -> Tensor:
        """Mean of the messages that reach a receiver, weighted by the softmax of their scores."""
        depth = MAX_SCORE_DEPTH[scores.dtype] / 2
        power = (scores - scores.detach().amax() + depth).clamp(min=-depth).exp().unsqueeze(1)
        total = self.sum(torch.cat([power * messages, power], 1))
        weighted, weight = torch.split(total, [messages.shape[1], 1], 1)
        return weighted / weight

    def weights(self, scores: Tensor) -> Tensor:
        """The weight of each label among its receiver's [L], in the order of the data."""
        scores = scores.double().index_select(0, self._cell)  # so that they add up to one
        if self._copies is None:
            weights = self.kernels.softmax(scores)
        else:
            copies = self._copies.double().squeeze(1).index_select(0, self._cell)
            weights = self.kernels.softmax(scores + copies.log()) / copies
        return weights.index_select(0, self._rank)


def _identical_items(key: NDArray[np.int64], size: NDArray[np.int64]) -> NDArray[np.int64]:
    """A number for each item [n]: the same for those with the same keys, which lie side by side."""
    start, number = bag_starts(size), np.empty(len(size), np.int64)
    n_distinct = 0
    for length in np.unique(size):
        items = np.flatnonzero(size == length)
        keys = key[start[items, None] + np.arange(length)]
        distinct, inverse = np.unique(keys, axis=0, return_inverse=True)
        number[items] = n_distinct + inverse.reshape(-1)
        n_distinct += len(distinct)
    return number


def _two_hops(node: NDArray[np.int64], neighbour: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which nodes [n, n] have a neighbour of the other kind in common, from both ends of edges."""
    from scipy.sparse import csr_matrix

    n = int(node.max()) + 1
    if n * n > MAX_PAIRS:
        raise DataError(
            f"The neighbourhood two_hop compares every two of {n:,} nodes; it takes at most "
            f"{int(MAX_PAIRS**0.5):,}",
            fix="Use the neighbourhood full, which is exact and takes any number.",
        )
    edges = csr_matrix((np.ones(len(node), np.float32), (node, neighbour)))
    connected = np.empty((n, n), bool)
    step = max(1, PAIRS_PER_CHUNK // n)
    for begin in range(0, n, step):
        rows = slice(begin, begin + step)
        connected[rows] = (edges[rows] @ edges.T).toarray() > 0
    return connected


def has_dgl() -> bool:
    """Whether DGL is installed; it is a CPU build, for some versions of Python."""
    return importlib.util.find_spec("dgl") is not None


class DglKernels:
    """Sums and softmax along edges by DGL, on the CPU."""

    def __init__(
        self,
        labels: Labels,
        source: NDArray[np.int64],
        target: NDArray[np.int64],
        sizes: tuple[int, int],
    ) -> None:
        os.environ.setdefault("DGLBACKEND", "pytorch")  # else it writes to the home folder
        import dgl

        ends = labels.tensor(source), labels.tensor(target)
        edges = {("source", "forward", "target"): ends, ("target", "back", "source"): ends[::-1]}
        graph = dgl.heterograph(edges, dict(zip(("source", "target"), sizes, strict=True)))
        self._ops, self._forward, self._back = dgl.ops, graph["forward"], graph["back"]

    def to_targets(self, rows: Tensor) -> Tensor:
        """Add rows [sources, d] at their targets."""
        total: Tensor = self._ops.copy_u_sum(self._forward, rows)
        return total

    def to_sources(self, rows: Tensor) -> Tensor:
        """Add rows [targets, d] at their sources."""
        total: Tensor = self._ops.copy_u_sum(self._back, rows)
        return total

    def softmax(self, scores: Tensor) -> Tensor:
        """The softmax of scores [L] over the edges of each target."""
        weights: Tensor = self._ops.edge_softmax(self._forward, scores)
        return weights


class TorchKernels:
    """The same in plain torch, on any device."""

    def __init__(
        self,
        labels: Labels,
        source: NDArray[np.int64],
        target: NDArray[np.int64],
        sizes: tuple[int, int],
    ) -> None:
        self.to_targets = _Bags(labels, source, target, sizes[1])
        self.to_sources = _Bags(labels, target, source, sizes[0])
        self._target, self._n = labels.tensor(target), sizes[1]

    def softmax(self, scores: Tensor) -> Tensor:
        """The softmax of scores [L] over the edges of each target."""
        lowest = scores.new_full((self._n,), -torch.inf)
        top = lowest.scatter_reduce(0, self._target, scores, "amax")
        power = (scores - top.index_select(0, self._target)).exp()
        total = scores.new_zeros(self._n).index_add(0, self._target, power)
        return power / total.index_select(0, self._target)


class _Bags:
    """Adds, for each bag, the rows that belong to it."""

    def __init__(
        self, labels: Labels, row: NDArray[np.int64], bag: NDArray[np.int64], n_bags: int
    ) -> None:
        sizes = np.bincount(bag, minlength=n_bags)
        self._rows = labels.tensor(row[np.argsort(bag, kind="stable")])
        self._starts = labels.tensor(bag_starts(sizes))

    def __call__(self, rows: Tensor) -> Tensor:
        return embedding_bag(self._rows, rows, self._starts, mode="sum")


class _Linear(torch.autograd.Function):
    """A linear map whose transpose is known, and faster than what autograd would find."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, apply: Any, transpose: Any) -> Tensor:
        ctx.transpose = transpose
        mapped: Tensor = apply(rows)
        return mapped

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        return ctx.transpose(grads[0].contiguous()), None, None


def _linear(
    rows: Tensor, apply: Callable[[Tensor], Tensor], transpose: Callable[[Tensor], Tensor]
) -> Tensor:
    mapped: Tensor = _Linear.apply(rows.contiguous(), apply, transpose)  # type: ignore[no-untyped-call]
    return mapped
