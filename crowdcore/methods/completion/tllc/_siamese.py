"""Siamese networks side by side: one per worker, all trained in the same products.

A network embeds items so that two of the same class lie near each other and two of different
classes at distance one. Its last layer has no bias, for distances do not depend on one. The
weights of P networks are [P, D, H], [P, 1, H] and [P, H, E].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.run import Run

Weights = list["Tensor"]

MIN_SQUARED_DISTANCE = 1e-6
"""Added to a squared distance whose root is taken: at 0 a root has no gradient."""

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
"""Adam's usual settings."""

STEPS_PER_REPORT = 50


def new_weights(features: int, hidden: int, dimension: int, device: torch.device) -> Weights:
    """One network with random weights, as torch initialises linear layers."""

    def drawn(inputs: int, rows: int, columns: int) -> Tensor:
        bound = max(1, inputs) ** -0.5
        return torch.empty(1, rows, columns, device=device).uniform_(-bound, bound)

    return [
        drawn(features, features, hidden),
        drawn(features, 1, hidden),
        drawn(hidden, hidden, dimension),
    ]


def copies(weights: Weights, n: int) -> Weights:
    """Repeat one network n times."""
    return [table.expand(n, -1, -1).clone() for table in weights]


def embed(weights: Weights, x: Tensor) -> Tensor:
    """Embed items x [P, n, D], or [n, D] by every network -> [P, n, E]."""
    first, bias, second = weights
    return (x.matmul(first) + bias).relu_().matmul(second)


def embed_rows(
    weights: Weights, sizes: Tensor, inputs: Callable[[Tensor], Tensor], max_rows: int
) -> Tensor:
    """Embed rows, which are ordered by owner, each by its owner's network -> [rows, E].

    `sizes` [P] says how many rows an owner has. `inputs` makes inputs [p, n, D] of rows [p, n];
    about `max_rows` rows are worked on at a time.
    """
    starts = sizes.cumsum(0) - sizes
    embedded = weights[2].new_empty(int(sizes.sum()), weights[2].shape[2])
    longest = int(sizes.max()) if len(sizes) else 0
    step = min(max(1, max_rows // max(1, len(sizes))), max(1, longest))
    for begin in range(0, longest, step):
        owner = (sizes > begin).nonzero().squeeze(1)
        nth = begin + torch.arange(step, device=sizes.device)
        exists = nth < sizes[owner].unsqueeze(1)  # [p, step]
        rows = starts[owner].unsqueeze(1) + nth * exists
        by_owner = embed([table[owner] for table in weights], inputs(rows))
        embedded[rows[exists]] = by_owner[exists]
    return embedded


@dataclass(frozen=True, kw_only=True, eq=False)
class RowsByClass:
    """Where the rows of each owner and class are, ordered by owner and class."""

    begin: Tensor  # [P, K] the first row of an owner's class
    count: Tensor  # [P, K]
    n_classes: Tensor  # [P, 1] how many classes an owner has
    classes: Tensor  # [P, K] the classes, those that an owner has first

    @classmethod
    def from_codes(cls, owner: Tensor, code: Tensor, owners: int, classes: int) -> RowsByClass:
        """From the owner and the class of every row, ordered by both."""
        count = torch.bincount(owner * classes + code, minlength=owners * classes)
        begin = (count.cumsum(0) - count).reshape(-1, classes)
        count = count.reshape(-1, classes)
        return cls(
            begin=begin,
            count=count,
            n_classes=(count > 0).sum(1, keepdim=True),
            classes=(count == 0).to(torch.uint8).sort(dim=1, stable=True).indices,
        )

    def pairs(self, owners: int, n: int) -> tuple[Tensor, Tensor, Tensor]:
        """Draw n pairs for each of the first owners: two rows, and if classes differ [owners, n].

        Every class of an owner begins a pair as often as any other, and as often as not the
        second row is of another class, so that neither large classes nor the many pairs that
        differ decide alone. An owner with a single class has no pairs that differ.
        """
        n_classes, classes = self.n_classes[:owners], self.classes[:owners]
        draw = torch.rand(6, owners, n, dtype=torch.float64, device=n_classes.device)
        nth_class = (draw[0] * n_classes).long()
        begin, size = self._class_rows(owners, classes.gather(1, nth_class))
        nth_row = (draw[1] * size).long()
        same_class = begin + (nth_row + 1 + (draw[2] * (size - 1)).long()) % size
        nth_other = (nth_class + 1 + (draw[3] * (n_classes - 1)).long()) % n_classes
        other_begin, other_size = self._class_rows(owners, classes.gather(1, nth_other))
        differs = (draw[5] < 0.5) & (n_classes > 1)  # noqa: PLR2004  (as often as not)
        other_class = other_begin + (draw[4] * other_size).long()
        return begin + nth_row, torch.where(differs, other_class, same_class), differs

    def _class_rows(self, owners: int, code: Tensor) -> tuple[Tensor, Tensor]:
        return self.begin[:owners].gather(1, code), self.count[:owners].gather(1, code)


@dataclass(frozen=True, kw_only=True, eq=False)
class PairTask:
    """What networks learn from: pairs of rows, and a network's input for a row."""

    rows: RowsByClass
    inputs: Callable[[Tensor], Tensor]  # rows [P, n] of the first P owners -> [P, n, D]
    steps: list[int]  # [P] steps that each network makes; never more than the one before it
    batch: int
    rate: float


def train(weights: Weights, task: PairTask, run: Run, stage: str) -> None:
    """Train the networks in place; a network that has made its steps stays as it is."""
    moments = [(torch.zeros_like(table), torch.zeros_like(table)) for table in weights]
    total = max(task.steps, default=0)
    active = len(task.steps)
    for report in run.loop(-(-total // STEPS_PER_REPORT), stage):
        for step in range(report * STEPS_PER_REPORT, min(total, (report + 1) * STEPS_PER_REPORT)):
            run.check()
            while task.steps[active - 1] <= step:
                active -= 1
            loss = _step(weights, moments, task, active, step + 1)
        run.log(loss=loss)


def _step(
    weights: Weights,
    moments: list[tuple[Tensor, Tensor]],
    task: PairTask,
    active: int,
    number: int,
) -> Tensor:
    """One step of Adam of the first networks, by a batch of pairs each; returns the mean loss."""
    first, second, differs = task.rows.pairs(active, task.batch)
    active_weights = [weight[:active].detach().requires_grad_() for weight in weights]
    embedded = embed(active_weights, task.inputs(torch.cat([first, second], 1)))
    difference = embedded[:, : task.batch] - embedded[:, task.batch :]
    distance = (difference.square().sum(2) + MIN_SQUARED_DISTANCE).sqrt()
    losses = (distance - differs.to(distance.dtype)).square().mean(1)  # eq. 11
    gradients = torch.autograd.grad(losses.sum(), active_weights)  # each loss has its own network
    for weight, gradient, (mean, square) in zip(weights, gradients, moments, strict=True):
        mean[:active].lerp_(gradient, 1 - BETA1)
        square[:active].lerp_(gradient.square(), 1 - BETA2)
        scale = (square[:active] / (1 - BETA2**number)).sqrt_().add_(EPSILON)
        weight[:active].addcdiv_(mean[:active], scale, value=-task.rate / (1 - BETA1**number))
    return losses.detach().mean()
