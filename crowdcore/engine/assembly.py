"""From HGNN's settings to a network, and from a network to what it leaves behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor

from crowdcore.artefacts import attention as attention_map
from crowdcore.artefacts import embedding
from crowdcore.engine import attention, hetero, votes

if TYPE_CHECKING:
    from crowdcore.engine.graph import Graph
    from crowdcore.engine.hetero import Network, Reach, States
    from crowdcore.labels import Labels


DTYPE = torch.float32
"""Of networks: single precision is two thirds of the time, and far finer than a step of Adam."""


@dataclass(frozen=True, kw_only=True)
class Design:
    """Which layers a network has, and how they work."""

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
    labels: Labels, graph: Graph, design: Design, generator: torch.Generator | None
) -> Network:
    """A network with weights drawn by the generator."""
    draw = hetero.Draw(DTYPE, labels.device, generator)
    rules = hetero.PAPER if design.preset == "paper" else hetero.AUTHORS
    reach, size = _reach(design, graph, generator), design.hidden
    of = {"size": size, "classes": labels.n_classes}
    make: dict[str, Any] = {
        "mp1": partial(hetero.MP1, graph, rules, draw, **of),
        "mp2": partial(hetero.MP2, graph, rules, draw, edge_size=design.edge_size, **of),
        "cor": partial(hetero.COR, reach, rules, draw, size=size, dot=design.dot),
    }
    layers = [make[name]() for name in design.layers]
    noise = partial(_noise, graph, draw, size)
    if design.init == "random":
        return hetero.Network(noise, layers, draw.affine(size, labels.n_classes))
    trust, doubt = (
        one.to(DTYPE).unsqueeze(1).expand(-1, size) for one in _agreement(labels, graph, design)
    )
    return hetero.Network(lambda: (trust, doubt), layers, draw.affine(size, labels.n_classes))


def _agreement(labels: Labels, graph: Graph, design: Design) -> States:
    """How far workers agree with the majority (eq. 1), and items do not (eq. 2).

    The authors' code takes for items, too, how far they agree.
    """
    trust = votes.agreement(labels, votes.winners(labels, labels.votes))
    agreed = labels.votes.amax(1) / labels.counts.clamp(min=1)
    doubt = 1 - agreed if design.preset == "paper" else agreed
    return trust.index_select(0, graph.workers), doubt.index_select(0, graph.first)


def _noise(graph: Graph, draw: hetero.Draw, size: int) -> States:
    """New noise, every time it is asked for."""
    return draw.noise(len(graph.workers), size), draw.noise(len(graph.first), size)


def _reach(design: Design, graph: Graph, generator: torch.Generator | None) -> list[Reach]:
    """Whom workers attend to in COR, and whom items."""
    copies = (None, graph.copies)
    if design.neighbourhood == "two_hop":
        return [
            partial(attention.within, near=near, copies=many)
            for near, many in zip(graph.near, copies, strict=True)
        ]
    if design.neighbourhood == "full":
        return [partial(attention.full, copies=many) for many in copies]

    def sampled(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        order = torch.randperm(len(key), generator=generator, device=key.device)
        chosen = order.narrow(0, 0, min(len(key), design.sample))
        return attention.sampled(query, key, value, chosen)

    return [sampled] * 2


def left_behind(
    labels: Labels, graph: Graph, design: Design, net: Network, states: States
) -> dict[str, Any]:
    """The artefacts of a network that has just answered: states, and who attended to whom."""
    ends, sizes = (graph.workers, graph.items), (labels.n_workers, labels.n_items)

    def everyone(side: int, rows: Tensor) -> Tensor:
        """Rows of all workers or items; 0 for those without labels."""
        rows = rows.index_select(0, graph.node) if side else rows
        size = (sizes[side], *rows.shape[1:])
        return rows.new_zeros(size).index_copy(0, ends[side], rows)

    found = {embedding.NAME: embedding.parts(*map(everyone, range(2), states))}
    correlation = [one for one in net.layers if isinstance(one, hetero.COR)]
    passing = [one for one in net.layers if isinstance(one, hetero.MP2)]
    pairs: list[Any] = [None, None]
    if correlation and design.neighbourhood != "uniform":
        pairs = [
            tuple(everyone(side, one) for one in pair)
            for side, pair in enumerate(correlation[0].pairs)
        ]
    of_worker, of_item = passing[-1].weights() if passing else (None, None)
    if passing or pairs[0] is not None:
        found[attention_map.NAME] = attention_map.parts(
            kind="dot" if design.dot else "additive",
            slope=0.0,
            neighbourhood="two_hop" if design.neighbourhood == "two_hop" else "full",
            workers=pairs[0],
            items=pairs[1],
            of_worker=of_worker,
            of_item=of_item,
        )
    return found
