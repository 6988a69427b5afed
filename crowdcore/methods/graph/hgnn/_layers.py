"""HGNN's layers: states of workers and items, passed along labels and among their own kind."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from crowdcore.methods.graph.hgnn._graph import Direction, Graph

Activation = Callable[[Tensor], Tensor]
States = tuple[Tensor, Tensor]  # of workers [W, d] and items [N, d]
QueryKey = tuple[Tensor, Tensor]
Attend = Callable[[Tensor, Tensor, Tensor], Tensor]  # queries, keys and values to their means


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Differences between the equations of the paper and the code of its authors."""

    mp1: tuple[float, float]  # weights of a node's own state and of its neighbours' mean
    mp1_act: Activation
    workers: tuple[float, float]  # the same in MP2
    items: tuple[float, float]
    act: Activation
    as_coded: bool  # states pass a matrix after messages and attention; weights as torch has them


PAPER = Rules(
    mp1=(1.0, 1.0),
    mp1_act=nn.Identity(),
    workers=(0.1, 0.9),
    items=(0.1, 0.9),
    act=torch.relu,
    as_coded=False,
)
AUTHORS = Rules(
    mp1=(0.2, 0.8),
    mp1_act=torch.relu,
    workers=(0.5, 1.0),
    items=(0.3, 0.7),
    act=torch.sigmoid,
    as_coded=True,
)


class Affine(nn.Module):
    """A linear map with a bias."""

    def __init__(self, weight: nn.Parameter, bias: nn.Parameter) -> None:
        super().__init__()
        self.weight, self.bias = weight, bias

    def forward(self, rows: Tensor) -> Tensor:
        """Map rows [n, d]."""
        return torch.addmm(self.bias, rows, self.weight)


class Initialiser:
    """Initial weights, drawn with the run's seed."""

    def __init__(
        self, dtype: torch.dtype, device: torch.device, generator: torch.Generator | None
    ) -> None:
        self.dtype, self.device, self.generator = dtype, device, generator

    def noise(self, *shape: int) -> Tensor:
        """Numbers between 0 and 1, which do not depend on the precision."""
        drawn = torch.rand(shape, generator=self.generator, dtype=torch.float64, device=self.device)
        return drawn.to(self.dtype)

    def uniform(self, *shape: int, bound: float) -> nn.Parameter:
        """Numbers between -bound and bound."""
        return nn.Parameter((2 * self.noise(*shape) - 1) * bound)

    def xavier(self, *shape: int, fans: int = 0) -> nn.Parameter:
        """Xavier's uniform numbers with the gain of ReLU, for rows that multiply from the left.

        Others count what goes in and out of a table otherwise; `fans` is their sum.
        """
        return self.uniform(*shape, bound=math.sqrt(12 / (fans or shape[-2] + shape[-1])))

    def affine(self, n_in: int, n_out: int) -> Affine:
        """A linear map as torch initialises it."""
        bound = 1 / math.sqrt(n_in)
        return Affine(self.uniform(n_in, n_out, bound=bound), self.uniform(n_out, bound=bound))


class MP1(nn.Module):
    """Mean of the neighbours' states, each times its label's matrix (eq. 3)."""

    def __init__(
        self, graph: Graph, rules: Rules, init: Initialiser, *, size: int, classes: int
    ) -> None:
        super().__init__()
        self.graph, self.rules = graph, rules
        # Torch takes the tables of all classes for one convolution.
        fans = size * (size + classes) if rules.as_coded else 0
        self.weight = init.xavier(classes, size, size, fans=fans)

    def forward(self, states: States) -> States:
        """Workers and items at once."""
        workers, items = states
        return (
            self._update(self.graph.to_workers, items, workers),
            self._update(self.graph.to_items, workers, items),
        )

    def _update(self, direction: Direction, senders: Tensor, receivers: Tensor) -> Tensor:
        rows = torch.split(direction.of_sender(senders), direction.class_sizes)
        messages = torch.cat([row @ weight for row, weight in zip(rows, self.weight, strict=True)])
        mean = direction.sum(messages) / direction.counts
        return self.rules.mp1_act(self.rules.mp1[0] * receivers + self.rules.mp1[1] * mean)


class MP2(nn.Module):
    """Messages from a neighbour's state and label, weighted by attention (eqs. 4-9)."""

    def __init__(
        self,
        graph: Graph,
        rules: Rules,
        init: Initialiser,
        *,
        size: int,
        edge_size: int,
        classes: int,
    ) -> None:
        super().__init__()
        sizes = {"size": size, "edge_size": edge_size, "classes": classes}
        self.workers = _AttentiveMessages(graph.to_workers, rules.workers, rules, init, **sizes)
        self.items = _AttentiveMessages(graph.to_items, rules.items, rules, init, **sizes)

    def forward(self, states: States) -> States:
        """Workers first, then items from the new workers."""
        workers, items = states
        workers = self.workers(items, workers)
        return workers, self.items(workers, items)

    def weights(self) -> tuple[Tensor, Tensor]:
        """Weight of each label for its worker and for its item [L], in the last pass."""
        workers, items = (
            side.direction.weights(side.last_scores) for side in (self.workers, self.items)
        )
        return workers, items


class _AttentiveMessages(nn.Module):
    """Messages from the nodes of one kind to those of the other in MP2."""

    def __init__(
        self,
        direction: Direction,
        mix: tuple[float, float],
        rules: Rules,
        init: Initialiser,
        *,
        size: int,
        edge_size: int,
        classes: int,
    ) -> None:
        super().__init__()
        self.direction, self.mix, self.act = direction, mix, rules.act
        as_coded = rules.as_coded
        self.edge = init.xavier(
            classes, edge_size, fans=as_coded * edge_size * (classes + 1)
        )  # W_e
        self.weight = init.xavier(size + edge_size, size)
        self.bias = init.xavier(size, fans=size + 1) if as_coded else init.uniform(size, bound=0.0)
        self.score = init.xavier(size, 1, fans=as_coded * (2 * size + 1))
        self.after = None
        if as_coded:
            self.after = Affine(init.xavier(size, size), init.xavier(size, fans=size + 1))
        self.last_scores = torch.empty(0)  # [cells] of the last pass

    def forward(self, senders: Tensor, receivers: Tensor) -> Tensor:
        """New states of the receivers, from those of the senders and their own."""
        of_state, of_edge = torch.split(self.weight, [receivers.shape[1], self.edge.shape[1]])
        by_class = self.edge @ of_edge + self.bias  # [K, d]
        direction = self.direction
        message = self.act(direction.of_sender(senders @ of_state) + direction.of_class(by_class))
        # The receiver's state and the bias in eqs. 6 and 8 are the same for all of its labels:
        # the softmax cancels them.
        score = (message @ self.score).squeeze(1)
        self.last_scores = score.detach()
        state = self.mix[0] * receivers + self.mix[1] * direction.attend(score, message)
        return self.act(state if self.after is None else self.after(state))


class COR(nn.Module):
    """Attention among workers and among items (eqs. 10-13)."""

    def __init__(
        self, attend: Sequence[Attend], rules: Rules, init: Initialiser, *, size: int, dot: bool
    ) -> None:
        super().__init__()
        projection = DotProjection if dot else AdditiveProjection
        self.workers, self.items = projection(init, size), projection(init, size)
        self.after = init.affine(size, size) if rules.as_coded else None  # of both kinds
        self.attend = attend
        self.pairs: list[QueryKey] = []

    def forward(self, states: States) -> States:
        """Workers and items, each among themselves."""
        projections = self.workers, self.items
        self.pairs = [project(state) for project, state in zip(projections, states, strict=True)]
        workers, items = map(self._update, states, projections, self.attend, self.pairs)
        return workers, items

    def _update(
        self, state: Tensor, projection: Projection, attend: Attend, pair: QueryKey
    ) -> Tensor:
        if self.after is None:
            return torch.relu(attend(*pair, state @ projection.value.weight))
        attended: Tensor = self.after(attend(*pair, projection.value(state)))
        return attended


class AdditiveProjection(nn.Module):
    """Queries and keys [n] of the paper's attention: two numbers of each state."""

    def __init__(self, init: Initialiser, size: int) -> None:
        super().__init__()
        self.weight = init.xavier(size, size)  # W3, W4
        self.vector = init.xavier(size, 2)  # the halves of a, b
        self.value = init.affine(size, size)  # W_c

    def forward(self, state: Tensor) -> QueryKey:
        """From states [n, d]."""
        query, key = (state @ self.weight @ self.vector).unbind(1)
        return query, key


class DotProjection(nn.Module):
    """Queries and keys [n, d] of the authors' attention, scaled."""

    def __init__(self, init: Initialiser, size: int) -> None:
        super().__init__()
        self.query, self.key = init.affine(size, size), init.affine(size, size)
        self.value = init.affine(size, size)

    def forward(self, state: Tensor) -> QueryKey:
        """From states [n, d]."""
        return self.query(state) / math.sqrt(state.shape[1]), self.key(state)


Projection = AdditiveProjection | DotProjection


class Network(nn.Module):
    """First states, layers, and a linear map from the items' states to their classes (eq. 14)."""

    def __init__(
        self, first: Callable[[], States], layers: Sequence[nn.Module], head: Affine
    ) -> None:
        super().__init__()
        self.first, self.layers, self.head = first, nn.ModuleList(layers), head

    def forward(self) -> tuple[Tensor, States]:
        """Scores of the classes [N, K], and the states that they come from."""
        states = self.first()
        for layer in self.layers:
            states = layer(states)
        return self.head(states[1]), states
