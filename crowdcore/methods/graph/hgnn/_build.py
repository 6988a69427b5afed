"""From HGNN's settings to a network, and from a network to its artefacts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor

from crowdcore.artefacts.artefact import Artefact
from crowdcore.artefacts.attention import AttentionMap
from crowdcore.artefacts.embedding import Embedding
from crowdcore.engine import votes
from crowdcore.methods.graph.hgnn import _attention as attention
from crowdcore.methods.graph.hgnn import _layers as layers

if TYPE_CHECKING:
    from crowdcore.engine.labels import Labels
    from crowdcore.methods.graph.hgnn._graph import Graph
    from crowdcore.methods.graph.hgnn._layers import Attend, Network, States


DTYPE = torch.float32
"""Of networks: single precision is two thirds of the time, and far finer than a step of Adam."""


@dataclass(frozen=True, kw_only=True)
class Design:
    """The layers of a network, and how they work."""

    layers: Sequence[str]
    preset: Literal["paper", "authors"]
    init: Literal["agreement", "random"]
    neighbourhood: Literal["full", "uniform", "two_hop"]
    sample: int
    dot: bool
    hidden: int
    edge_size: int

    @property
    def merges(self) -> bool:
        """Whether items with the same labels have the same states, and so can be one node.

        Noise tells them apart, and so does a sample that holds one of them.
        """
        return self.init == "agreement" and self.neighbourhood != "uniform"


def build(
    labels: Labels,
    graph: Graph,
    design: Design,
    generator: torch.Generator | None,
    *,
    attend: Sequence[Attend] | None = None,
) -> Network:
    """A network with weights drawn by the generator; `attend` replaces the design's attention."""
    init = layers.Initialiser(DTYPE, labels.device, generator)
    rules = layers.PAPER if design.preset == "paper" else layers.AUTHORS
    attend, size = attend or _attention(design, graph, generator), design.hidden
    sizes = {"size": size, "classes": labels.n_classes}
    make: dict[str, Any] = {
        "mp1": partial(layers.MP1, graph, rules, init, **sizes),
        "mp2": partial(layers.MP2, graph, rules, init, edge_size=design.edge_size, **sizes),
        "cor": partial(layers.COR, attend, rules, init, size=size, dot=design.dot),
    }
    stack = [make[name]() for name in design.layers]
    noise = partial(_noise, graph, init, size)
    if design.init == "random":
        return layers.Network(noise, stack, init.affine(size, labels.n_classes))
    workers, items = (
        state.to(DTYPE).unsqueeze(1).expand(-1, size) for state in _agreement(labels, graph, design)
    )
    return layers.Network(lambda: (workers, items), stack, init.affine(size, labels.n_classes))


def _agreement(labels: Labels, graph: Graph, design: Design) -> States:
    """How far workers agree with the majority (eq. 1), and items do not (eq. 2).

    The authors' code takes for items, too, how far they agree.
    """
    workers = votes.agreement(labels, votes.winners(labels, labels.votes))
    majority_share = labels.votes.amax(1) / labels.counts.clamp(min=1)
    items = 1 - majority_share if design.preset == "paper" else majority_share
    return workers.index_select(0, graph.workers), items.index_select(0, graph.first)


def _noise(graph: Graph, init: layers.Initialiser, size: int) -> States:
    """New noise in every call."""
    return init.noise(len(graph.workers), size), init.noise(len(graph.first), size)


def _attention(design: Design, graph: Graph, generator: torch.Generator | None) -> list[Attend]:
    """The attention of COR among workers, and among items."""
    copies = (None, graph.copies)
    if design.neighbourhood == "two_hop":
        return [
            partial(attention.within, allowed=neighbours, copies=counts)
            for neighbours, counts in zip(graph.two_hop, copies, strict=True)
        ]
    if design.neighbourhood == "full":
        return [partial(attention.full, copies=counts) for counts in copies]

    def sampled(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        order = torch.randperm(len(key), generator=generator, device=key.device)
        chosen = order.narrow(0, 0, min(len(key), design.sample))
        return attention.sampled(query, key, value, chosen)

    return [sampled] * 2


def artefacts(
    labels: Labels, graph: Graph, design: Design, net: Network, states: States
) -> list[Artefact]:
    """The artefacts of a network that has just predicted: its states and its attention."""
    with_labels, sizes = (graph.workers, graph.items), (labels.n_workers, labels.n_items)

    def for_all(side: int, rows: Tensor) -> Tensor:
        """Rows of all workers or items; 0 for those without labels."""
        rows = rows.index_select(0, graph.node) if side else rows
        size = (sizes[side], *rows.shape[1:])
        return rows.new_zeros(size).index_copy(0, with_labels[side], rows)

    worker_states, item_states = map(for_all, range(2), states)
    left: list[Artefact] = [Embedding(workers=worker_states, items=item_states)]
    correlation = [layer for layer in net.layers if isinstance(layer, layers.COR)]
    passing = [layer for layer in net.layers if isinstance(layer, layers.MP2)]
    pairs: list[tuple[Any, ...]] = [(None, None), (None, None)]  # queries and keys of both sides
    if correlation and design.neighbourhood != "uniform":
        pairs = [
            tuple(for_all(side, rows) for rows in pair)
            for side, pair in enumerate(correlation[0].pairs)
        ]
    of_worker, of_item = passing[-1].weights() if passing else (None, None)
    if passing or pairs[0][0] is not None:
        (workers_query, workers_key), (items_query, items_key) = pairs
        attention_map = AttentionMap(
            data=labels.observed,
            kind="dot" if design.dot else "additive",
            slope=0.0,
            neighbourhood="two_hop" if design.neighbourhood == "two_hop" else "full",
            workers_query=workers_query,
            workers_key=workers_key,
            items_query=items_query,
            items_key=items_key,
            of_worker=of_worker,
            of_item=of_item,
        )
        left.append(attention_map)
    return left
