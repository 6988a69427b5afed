"""How networks over a whole crowd learn from some answers, and when they stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils import clip_grad_norm_

from crowdcore.engine.learning.training import FullBatchLearner, FullBatchLosses, full_batch
from crowdcore.engine.splits import folds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crowdcore.methods.graph.hgnn._layers import Network, States
    from crowdcore.run import Run

FOLDS = 5
MIN_ANSWERS_FOR_ONE_FOLD = 500
"""Of so many answers one network holds out a fifth; fewer are all held out in turn."""

PATIENCE_EPOCHS = 100
"""Epochs without better answers after which networks stop."""

MAX_GRADIENT_NORM = 1.0
"""Gradients longer than this are shortened."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Targets:
    """What is taught: rows of a network's output [T] and their classes [T]; and how."""

    rows: Tensor
    answers: Tensor
    epochs: int
    rate: float

    def losses(self, scores: Tensor, chosen: Tensor) -> Tensor:
        """What the chosen answers [n] cost, by the scores of all rows [R, K]."""
        rows = self.rows.index_select(0, chosen)
        answers = self.answers.index_select(0, chosen)
        return cross_entropy(scores.index_select(0, rows), answers, reduction="none")


def learner(
    net: Network,
    targets: Targets,
    train: NDArray[np.int64],
    held_out: NDArray[np.int64] | None = None,
    scored: Callable[[Tensor], None] | None = None,
) -> FullBatchLearner:
    """A network that learns from some of the targets; `scored` gets its scores before each step.

    Its weights and their gradients are moved into one vector each: a network has dozens of small
    tables, and what is done to each of them in every epoch adds up.
    """
    tables = list(net.parameters())
    weights = nn.Parameter(torch.cat([table.detach().flatten() for table in tables]))
    weights.grad = torch.zeros_like(weights)
    sizes = [table.numel() for table in tables]
    views = (torch.split(vector, sizes) for vector in (weights.data, weights.grad))
    for table, weight, gradient in zip(tables, *views, strict=True):
        table.data, table.grad = weight.view_as(table), gradient.view_as(table)
    device = targets.rows.device
    train_rows = torch.tensor(train).to(device)
    held_out_rows = None if held_out is None else torch.tensor(held_out).to(device)

    def backward() -> FullBatchLosses:
        scores, _ = net()
        loss = targets.losses(scores, train_rows).mean()
        loss.backward()  # type: ignore[no-untyped-call]
        clip_grad_norm_([weights], MAX_GRADIENT_NORM)
        scores = scores.detach()
        if scored is not None:
            scored(scores)
        held = None if held_out_rows is None else targets.losses(scores, held_out_rows)
        return FullBatchLosses(loss, held)

    optimiser = torch.optim.Adam([weights], lr=targets.rate, fused=True)
    return FullBatchLearner(optimiser=optimiser, backward=backward)


def learn(net: Network, targets: Targets, run: Run) -> Tensor:
    """Teach a network everything for all epochs; the classes it gave before each [epochs, n]."""
    predicted: list[Tensor] = []
    everything = np.arange(len(targets.rows))
    taught = learner(
        net,
        targets,
        everything,
        scored=lambda scores: predicted.append(scores.argmax(1).to(torch.int16)),
    )
    full_batch(run, [taught], epochs=targets.epochs)
    return torch.stack(predicted)


def learn_and_stop(make: Callable[[], Network], targets: Targets, run: Run) -> list[Network]:
    """Teach networks, and take them back to where the answers that they held out were likeliest.

    One network holds out a fifth of many answers. Of few answers a fifth says little: five
    networks hold out a fifth each, and stop together where all answers are likeliest.
    """
    splits = _splits(len(targets.rows), run.rng)
    nets = [make() for _ in splits]
    learners = [learner(net, targets, *split) for net, split in zip(nets, splits, strict=True)]
    full_batch(run, learners, epochs=targets.epochs, patience=PATIENCE_EPOCHS)
    return nets


def predict(nets: Sequence[Network]) -> tuple[Tensor, Network, States]:
    """The mean posterior of some networks [n, K]; the network nearest to it, and its states."""
    outputs = [net() for net in nets]
    posteriors = torch.stack([scores.softmax(1) for scores, _ in outputs])
    mean = posteriors.mean(0)
    nearest = int((posteriors - mean).abs().sum((1, 2)).argmin()) if len(nets) > 1 else 0
    return mean, nets[nearest], outputs[nearest][1]


def _splits(n: int, rng: np.random.Generator) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Targets to learn from and to hold out, for each network; very few are used for both."""
    everything = np.arange(n)
    if n < FOLDS:
        return [(everything, everything)]
    splits = [(np.sort(train), held_out) for train, held_out in folds(everything, FOLDS, rng)]
    return splits[:1] if n >= MIN_ANSWERS_FOR_ONE_FOLD else splits
