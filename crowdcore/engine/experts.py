"""MMLC's model: experts on the items' features, and a gate for every worker that blends them."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy, nll_loss

from crowdcore.engine import nets
from crowdcore.engine.items import Items, views_of
from crowdcore.engine.mixture import Mixture, Parallel, average
from crowdcore.engine.train import Learner, Split, Training, Triples, hold_out

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from crowdcore.labels import Labels
    from crowdcore.method import ExpertsConfig
    from crowdcore.run import Run

PACE = 10.0
"""How many times faster workers learn their place than the experts learn."""

BOUND_EPOCHS = 300
"""Passes over the gold that look for the best gate."""

AT_ONCE = 4_000_000
"""Numbers of one kind that are in memory together while labels are predicted."""


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """The sizes of a mixture of experts."""

    experts: int
    hidden: tuple[int, ...]  # of each expert
    tower: tuple[int, ...]  # hidden layers between the blend of experts and the classes
    gate: int  # hidden units between a worker and the experts
    rectified: bool = False  # weights on experts are rectified instead of summing to 1

    @property
    def sizes(self) -> dict[str, Any]:
        """What a `Mixture` must know, in JSON values."""
        return {"experts": self.experts, "hidden": list(self.hidden), "tower": list(self.tower)}


def architecture(name: str, workers: int) -> Architecture:
    """The paper's sizes for one of its data sets, or sizes that suit the number of workers."""
    if name == "labelme":
        return Architecture(experts=16, hidden=(500, 128, 32), tower=(32, 32), gate=59)
    if name == "text":
        return Architecture(experts=10, hidden=(780, 128, 32), tower=(32, 32), gate=154)
    if name == "music":
        return Architecture(experts=10, hidden=(128, 16), tower=(), gate=44, rectified=True)
    experts = min(16, max(2, round(sqrt(workers) / 2)))
    return Architecture(experts=experts, hidden=(128, 64), tower=(), gate=32)


class Gates(nn.Module):
    """From workers to weights on the experts of each member [n, M * E].

    All workers begin at one place: whoever gave few labels stays near the others.
    """

    def __init__(self, workers: int, members: int, shape: Architecture) -> None:
        super().__init__()
        self.members, self.rectified = members, shape.rectified
        self.place = nn.Parameter(torch.zeros(workers, members * shape.gate))
        self.bias = nn.Parameter(torch.rand(members * shape.gate) / sqrt(shape.gate))
        self.last = Parallel(members, shape.gate, shape.experts)

    def forward(self, worker: Tensor) -> Tensor:
        """The weights of some workers, who may repeat."""
        hidden = (PACE * self.place.index_select(0, worker) + self.bias).relu()
        split = hidden.reshape(len(hidden), self.members, -1).transpose(0, 1)
        scores: Tensor = self.last(split)  # [M, n, E]
        gates = scores.relu() if self.rectified else scores.softmax(2)
        return gates.transpose(0, 1).flatten(1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Experts:
    """A trained mixture: what any worker would say of any item."""

    items: Items
    description: dict[str, Any]  # of the net
    net: nets.Net
    gates: Tensor  # [W, M * E]

    @property
    def mixture(self) -> Mixture:
        """The experts themselves."""
        assert isinstance(self.net.head, Mixture)
        return self.net.head

    def scaled(self, gates: Tensor) -> Tensor:
        """Stretch gates [G, M * E] so that they weigh what the workers' weigh on average."""
        members = (-1, self.mixture.members, self.mixture.size)
        usual = self.gates.reshape(members).sum(2).mean(0)  # [M]; 1, if not rectified
        total = gates.reshape(members).sum(2).clamp(min=1e-12)
        return (gates.reshape(members) * (usual / total).unsqueeze(2)).flatten(1)

    def predict(self, item: Tensor, gates: Tensor) -> Tensor:
        """Logarithms of P(label | item, gate) for items [n] under gates [G, M * E] -> [n, G, K].

        Whoever wants all items and all workers asks for some items at a time.
        """
        mixture = self.mixture
        widest = max(mixture.widest, len(gates) * mixture.members * mixture.width)
        parts = torch.split(item, max(1, AT_ONCE // widest))
        self.net.eval()
        with torch.no_grad():
            return torch.cat([mixture.joint(self.states(part), gates) for part in parts])

    def states(self, item: Tensor) -> Tensor:
        """What the experts read of some items [n, D]."""
        states: Tensor = self.net.trunk(self.items.x.index_select(0, item))
        return states


class Imitation(nn.Module):
    """A net of experts and the workers' gates, which together imitate each worker."""

    def __init__(self, description: dict[str, Any], workers: int, shape: Architecture) -> None:
        super().__init__()
        self.net = nets.build(description)
        self.gates = Gates(workers, description["mixture"]["members"], shape)

    def forward(self, x: Tensor, worker: Tensor) -> Tensor:
        """Each member's logits of what workers [n] say of items with features x -> [M, n, K]."""
        assert isinstance(self.net.head, Mixture)
        return self.net.head.answers(self.net.trunk(x), self.gates(worker))


def train_experts(
    labels: Labels,
    cfg: ExpertsConfig,
    run: Run,
    stopped: Callable[[Experts, Tensor, Tensor], None] | None = None,
) -> Experts:
    """Train experts and gates to predict the labels that workers gave (eq. 7).

    Single labels are held out to tell when to stop: what matters is how well one more label of an
    item is foretold from those it has. `stopped` then gets the experts as they are, and the items
    and classes of the labels that were held out.
    """
    said = Triples.of(labels)
    split = hold_out(labels, np.arange(labels.n_labels), cfg.held_out, run)
    views = views_of(labels, split, cfg, run)
    shape = architecture(cfg.architecture, labels.n_workers)
    description = nets.describe(
        views[0].shape,
        labels.n_classes,
        hidden=(),
        dropout=cfg.dropout,
        mixture={"members": cfg.members, **shape.sizes},
    )
    everyone = labels.tensor(np.arange(labels.n_workers))

    def known(model: Imitation, items: Items) -> Experts:
        with torch.no_grad():
            gates = model.gates(everyone)
        return Experts(items=items, description=description, net=model.net, gates=gates)

    def build() -> Learner:
        items = views.pop(0) if len(views) > 1 else views[0]
        model = Imitation(description, labels.n_workers, shape).to(labels.device)

        def loss(rows: Tensor) -> Tensor:
            x = items.x.index_select(0, said.item.index_select(0, rows))
            logits = model(x, said.worker.index_select(0, rows))
            given = said.given.index_select(0, rows)
            if model.training:  # members learn on their own, and are judged together
                return cross_entropy(logits.flatten(0, 1), given.repeat(cfg.members))
            return nll_loss(average(logits), given)

        def tell(rows: Tensor) -> None:
            if stopped is not None:
                of = (one.index_select(0, rows) for one in (said.item, said.given))
                stopped(known(model, items), *of)

        return Learner(module=model, loss=loss, stopped=tell)

    model = Training(labels=labels, run=run, cfg=cfg).learn(split, build).module
    assert isinstance(model, Imitation)
    return known(model, views[0])


def bound(
    experts: Experts, labels: Labels, start: Tensor, cfg: ExpertsConfig, run: Run
) -> tuple[Tensor, float]:
    """The gate [M * E] that fits the gold best with experts as they are, and its accuracy there.

    It has seen all gold, so the accuracy is an upper bound of what any oracle could reach.
    """
    item, answer = labels.gold
    inner = start.reshape(experts.mixture.members, -1).clamp(min=1e-6).log()
    place = nn.Parameter(inner.to(torch.float32))
    experts.net.requires_grad_(False)

    def gate() -> Tensor:
        return experts.scaled(place.softmax(1).reshape(1, -1))

    def loss(rows: Tensor) -> Tensor:
        states = experts.states(item.index_select(0, rows))
        found = experts.mixture.joint(states, gate()).squeeze(1)
        return nll_loss(found, answer.index_select(0, rows))

    rows = labels.tensor(np.arange(len(item)))
    learner = Learner(module=nn.ParameterDict({"place": place}), loss=loss)
    settings = cfg.model_copy(update={"epochs": BOUND_EPOCHS, "rate": 0.05, "batch": 1024})
    stopped = run.converged
    Training(labels=labels, run=run, cfg=settings).learn(
        Split(learn=rows, watch=rows[:0]), lambda: learner, "Truth bound"
    )
    run.converged = stopped
    with torch.no_grad():
        best = gate()
    right = experts.predict(item, best).squeeze(1).argmax(1) == answer
    return best.squeeze(0), float(right.double().mean())
