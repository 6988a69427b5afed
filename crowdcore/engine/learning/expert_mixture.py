"""MMLC's model: experts on the items' features, and a gate for every worker that blends them."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy, nll_loss

from crowdcore.engine.learning import networks
from crowdcore.engine.learning.item_features import ItemFeatures, features_per_training
from crowdcore.engine.learning.networks import Mixture, ParallelLinear, average_members
from crowdcore.engine.learning.training import Learner, Training
from crowdcore.engine.splits import Split, hold_out_groups

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from crowdcore.config import ExpertsConfig
    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run

GATE_PACE = 10.0
"""How many times faster the workers' vectors are learnt than the experts."""

BOUND_EPOCHS = 300
"""Passes over the gold that look for the best gate."""

NUMBERS_PER_CHUNK = 4_000_000
"""Numbers of one kind that are in memory together while labels are predicted."""


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """The sizes of a mixture of experts.

    Attributes
    ----------
    experts : int
        Number of experts.
    hidden : tuple of int
        Sizes of each expert's layers.
    tower : tuple of int
        Sizes of the hidden layers between the blend of experts and the classes.
    gate : int
        Hidden units between a worker and the experts.
    rectified : bool
        Whether weights on experts are rectified instead of summing to 1.
    """

    experts: int
    hidden: tuple[int, ...]
    tower: tuple[int, ...]
    gate: int
    rectified: bool = False

    @property
    def sizes(self) -> dict[str, Any]:
        """What a `Mixture` must know, in JSON values."""
        return {"experts": self.experts, "hidden": list(self.hidden), "tower": list(self.tower)}


def architecture(name: str, workers: int) -> Architecture:
    """Return the paper's sizes for one of its data sets, or sizes that suit so many workers."""
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

    All workers begin with the same vector: whoever gave few labels stays near the others.
    """

    def __init__(self, workers: int, members: int, shape: Architecture) -> None:
        super().__init__()
        self.members, self.rectified = members, shape.rectified
        self.vector = nn.Parameter(torch.zeros(workers, members * shape.gate))
        self.bias = nn.Parameter(torch.rand(members * shape.gate) / sqrt(shape.gate))
        self.last = ParallelLinear(members, shape.gate, shape.experts)

    def forward(self, worker: Tensor) -> Tensor:
        """The weights of some workers, who may repeat."""
        hidden = (GATE_PACE * self.vector.index_select(0, worker) + self.bias).relu()
        split = hidden.reshape(len(hidden), self.members, -1).transpose(0, 1)
        scores: Tensor = self.last(split)  # [M, n, E]
        gates = scores.relu() if self.rectified else scores.softmax(2)
        return gates.transpose(0, 1).flatten(1)


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedExperts:
    """A trained mixture: what any worker would say of any item.

    Attributes
    ----------
    items : Items
        Features of the items.
    description : dict
        What the net was built from.
    net : Net
        The net, whose head is the mixture.
    gates : Tensor [W, M * E]
        The workers' weights on the experts.
    """

    items: ItemFeatures
    description: dict[str, Any]
    net: networks.Net
    gates: Tensor

    @property
    def mixture(self) -> Mixture:
        """The experts themselves."""
        assert isinstance(self.net.head, Mixture)
        return self.net.head

    def scaled(self, gates: Tensor) -> Tensor:
        """Scale gates [G, M * E] so that they add up to what the workers' do on average."""
        by_member = (-1, self.mixture.members, self.mixture.size)
        mean_total = self.gates.reshape(by_member).sum(2).mean(0)  # [M]; 1, if not rectified
        total = gates.reshape(by_member).sum(2).clamp(min=1e-12)
        return (gates.reshape(by_member) * (mean_total / total).unsqueeze(2)).flatten(1)

    def predict(self, item: Tensor, gates: Tensor) -> Tensor:
        """Log P(label | item, gate) for items [n] under gates [G, M * E] -> [n, G, K].

        Whoever wants all items and all workers asks for some items at a time.
        """
        mixture = self.mixture
        numbers_per_item = max(mixture.max_width, len(gates) * mixture.members * mixture.width)
        chunks = torch.split(item, max(1, NUMBERS_PER_CHUNK // numbers_per_item))
        self.net.eval()
        with torch.no_grad():
            return torch.cat(
                [mixture.log_probabilities(self.states(chunk), gates) for chunk in chunks]
            )

    def states(self, item: Tensor) -> Tensor:
        """The hidden states [n, D] of some items, which the experts read."""
        states: Tensor = self.net.trunk(self.items.x.index_select(0, item))
        return states


class Imitation(nn.Module):
    """A net of experts and the workers' gates, which together imitate each worker."""

    def __init__(self, description: dict[str, Any], workers: int, shape: Architecture) -> None:
        super().__init__()
        self.net = networks.build(description)
        self.gates = Gates(workers, description["mixture"]["members"], shape)

    def forward(self, x: Tensor, worker: Tensor) -> Tensor:
        """Each member's logits of what workers [n] say of items with features x -> [M, n, K]."""
        assert isinstance(self.net.head, Mixture)
        return self.net.head.member_logits(self.net.trunk(x), self.gates(worker))


def train_experts(
    labels: Labels,
    cfg: ExpertsConfig,
    run: Run,
    stopped: Callable[[TrainedExperts, Tensor, Tensor], None] | None = None,
) -> TrainedExperts:
    """Train experts and gates to predict the labels that workers gave (eq. 7).

    Single labels are held out to tell when to stop: what matters is how well one more label of an
    item is predicted from those it has.

    Parameters
    ----------
    labels : Labels
        The labels to predict.
    cfg : ExpertsConfig
        Sizes and training settings.
    run : Run
        Counts epochs, and can stop the training.
    stopped : callable, optional
        Called when training has stopped, with the experts as they are then and the items and
        classes of the held-out labels.

    Returns
    -------
    TrainedExperts
    """
    observed = labels.rows
    split = hold_out_groups(labels, np.arange(labels.n_labels), cfg.held_out, run)
    views = features_per_training(labels, split, cfg, run)
    shape = architecture(cfg.architecture, labels.n_workers)
    description = networks.describe(
        views[0].shape,
        labels.n_classes,
        hidden=(),
        dropout=cfg.dropout,
        mixture={"members": cfg.members, **shape.sizes},
    )
    all_workers = labels.tensor(np.arange(labels.n_workers))

    def trained(model: Imitation, items: ItemFeatures) -> TrainedExperts:
        with torch.no_grad():
            gates = model.gates(all_workers)
        return TrainedExperts(items=items, description=description, net=model.net, gates=gates)

    def build() -> Learner:
        items = views.pop(0) if len(views) > 1 else views[0]
        model = Imitation(description, labels.n_workers, shape).to(labels.device)

        def loss(rows: Tensor) -> Tensor:
            x = items.x.index_select(0, observed.item.index_select(0, rows))
            logits = model(x, observed.worker.index_select(0, rows))
            given = observed.given.index_select(0, rows)
            if model.training:  # members learn on their own, and are judged together
                return cross_entropy(logits.flatten(0, 1), given.repeat(cfg.members))
            return nll_loss(average_members(logits), given)

        def report(rows: Tensor) -> None:
            if stopped is not None:
                item, given = (
                    codes.index_select(0, rows) for codes in (observed.item, observed.given)
                )
                stopped(trained(model, items), item, given)

        return Learner(module=model, loss=loss, stopped=report)

    model = Training(labels=labels, run=run, cfg=cfg).learn(split, build).module
    assert isinstance(model, Imitation)
    return trained(model, views[0])


def gold_bound(
    experts: TrainedExperts, labels: Labels, start: Tensor, cfg: ExpertsConfig, run: Run
) -> tuple[Tensor, float]:
    """Find the gate that fits the gold best with experts as they are.

    Parameters
    ----------
    experts : TrainedExperts
        The experts; their weights stay as they are.
    labels : Labels
        Labels with gold.
    start : Tensor [M * E]
        The gate to begin from.
    cfg : ExpertsConfig
        Training settings.
    run : Run
        Counts epochs, and can stop the training.

    Returns
    -------
    gate : Tensor [M * E]
    accuracy : float
        On the gold. The gate has seen all of it, so no oracle could reach more.
    """
    item, answer = labels.gold
    log_start = start.reshape(experts.mixture.members, -1).clamp(min=1e-6).log()
    log_gate = nn.Parameter(log_start.to(torch.float32))
    experts.net.requires_grad_(False)

    def gate() -> Tensor:
        return experts.scaled(log_gate.softmax(1).reshape(1, -1))

    def loss(rows: Tensor) -> Tensor:
        states = experts.states(item.index_select(0, rows))
        log_probabilities = experts.mixture.log_probabilities(states, gate()).squeeze(1)
        return nll_loss(log_probabilities, answer.index_select(0, rows))

    rows = labels.tensor(np.arange(len(item)))
    learner = Learner(module=nn.ParameterDict({"log_gate": log_gate}), loss=loss)
    settings = cfg.model_copy(update={"epochs": BOUND_EPOCHS, "rate": 0.05, "batch": 1024})
    converged = run.converged
    Training(labels=labels, run=run, cfg=settings).learn(
        Split(train=rows, held_out=rows[:0]), lambda: learner, "Truth bound"
    )
    run.converged = converged
    with torch.no_grad():
        best = gate()
    right = experts.predict(item, best).squeeze(1).argmax(1) == answer
    return best.squeeze(0), float(right.double().mean())
