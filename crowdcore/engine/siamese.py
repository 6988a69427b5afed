"""Siamese networks side by side: one a worker, all trained in the same products.

A network places items so that two of the same class lie near each other and two of different
classes one apart. Its last layer has no bias, for distances do not see one. The weights of P
networks are [P, D, H], [P, 1, H] and [P, H, E].
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

NEAR = 1e-6
"""Added to a squared distance whose root is taken: at 0 a root has no slope."""

FIRST, SECOND, STABLE = 0.9, 0.999, 1e-8
"""Adam's, as everybody has them."""

STEPS_A_REPORT = 50


def begin(features: int, hidden: int, dimension: int, device: torch.device) -> Weights:
    """One network with random weights, as torch begins linear layers."""

    def drawn(before: int, rows: int, columns: int) -> Tensor:
        bound = max(1, before) ** -0.5
        return torch.empty(1, rows, columns, device=device).uniform_(-bound, bound)

    return [
        drawn(features, features, hidden),
        drawn(features, 1, hidden),
        drawn(hidden, hidden, dimension),
    ]


def copies(weights: Weights, n: int) -> Weights:
    """As many networks as asked for, all like the first."""
    return [one.expand(n, -1, -1).clone() for one in weights]


def embed(weights: Weights, x: Tensor) -> Tensor:
    """Place items x [P, n, D], or [n, D] by every network -> [P, n, E]."""
    first, bias, second = weights
    return (x.matmul(first) + bias).relu_().matmul(second)


def embed_rows(
    weights: Weights, sizes: Tensor, shown: Callable[[Tensor], Tensor], most: int
) -> Tensor:
    """Place rows, which are ordered by owner, each by its owner's network -> [rows, E].

    `sizes` [P] says how many rows an owner has. `shown` makes inputs [p, n, D] of rows [p, n];
    about as many rows as `most` are worked on at a time.
    """
    starts = sizes.cumsum(0) - sizes
    placed = weights[2].new_empty(int(sizes.sum()), weights[2].shape[2])
    longest = int(sizes.max()) if len(sizes) else 0
    step = min(max(1, most // max(1, len(sizes))), max(1, longest))
    for at in range(0, longest, step):
        owner = (sizes > at).nonzero().squeeze(1)
        nth = at + torch.arange(step, device=sizes.device)
        there = nth < sizes[owner].unsqueeze(1)  # [p, step]
        rows = starts[owner].unsqueeze(1) + nth * there
        own = embed([one[owner] for one in weights], shown(rows))
        placed[rows[there]] = own[there]
    return placed


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """Where the rows of each owner and class are, ordered by owner and class."""

    begin: Tensor  # [P, K] the first row of an owner's class
    count: Tensor  # [P, K]
    known: Tensor  # [P, 1] how many classes an owner has
    named: Tensor  # [P, K] the classes, those that an owner has first

    @classmethod
    def of(cls, owner: Tensor, code: Tensor, owners: int, classes: int) -> Rows:
        """From the owner and the class of every row, ordered by both."""
        count = torch.bincount(owner * classes + code, minlength=owners * classes)
        begin = (count.cumsum(0) - count).reshape(-1, classes)
        count = count.reshape(-1, classes)
        return cls(
            begin=begin,
            count=count,
            known=(count > 0).sum(1, keepdim=True),
            named=(count == 0).to(torch.uint8).sort(dim=1, stable=True).indices,
        )

    def pairs(self, owners: int, n: int) -> tuple[Tensor, Tensor, Tensor]:
        """Draw n pairs for each of the first owners [owners, n]: two rows, and if classes differ.

        Every class of an owner begins a pair as often as any other, and as often as not the
        second row is of another class, so that neither large classes nor the many pairs that
        differ decide alone. An owner with a single class has no pairs that differ.
        """
        known, named = self.known[:owners], self.named[:owners]
        draw = torch.rand(6, owners, n, dtype=torch.float64, device=known.device)
        nth = (draw[0] * known).long()
        first, size = self._class(owners, named.gather(1, nth))
        place = (draw[1] * size).long()
        same = first + (place + 1 + (draw[2] * (size - 1)).long()) % size
        other = (nth + 1 + (draw[3] * (known - 1)).long()) % known
        start, number = self._class(owners, named.gather(1, other))
        differs = (draw[5] < 0.5) & (known > 1)  # noqa: PLR2004  (as often as not)
        second = torch.where(differs, start + (draw[4] * number).long(), same)
        return first + place, second, differs

    def _class(self, owners: int, code: Tensor) -> tuple[Tensor, Tensor]:
        return self.begin[:owners].gather(1, code), self.count[:owners].gather(1, code)


@dataclass(frozen=True, kw_only=True, eq=False)
class Lessons:
    """What networks learn from: pairs of rows, and what a network is shown of a row."""

    rows: Rows
    shown: Callable[[Tensor], Tensor]  # rows [P, n] of the first P owners -> [P, n, D]
    steps: list[int]  # [P] steps that each network makes; never more than the one before it
    batch: int
    rate: float


def train(weights: Weights, lessons: Lessons, run: Run, stage: str) -> None:
    """Train the networks in place; a network that has made its steps stays as it is."""
    moments = [(torch.zeros_like(one), torch.zeros_like(one)) for one in weights]
    total = max(lessons.steps, default=0)
    active = len(lessons.steps)
    for report in run.loop(-(-total // STEPS_A_REPORT), stage):
        for step in range(report * STEPS_A_REPORT, min(total, (report + 1) * STEPS_A_REPORT)):
            run.check()
            while lessons.steps[active - 1] <= step:
                active -= 1
            loss = _step(weights, moments, lessons, active, step + 1)
        run.log(loss=loss)


def _step(
    weights: Weights,
    moments: list[tuple[Tensor, Tensor]],
    lessons: Lessons,
    active: int,
    number: int,
) -> Tensor:
    """Let the first networks learn from a batch of pairs each, by Adam; returns the mean loss."""
    one, other, differs = lessons.rows.pairs(active, lessons.batch)
    own = [weight[:active].detach().requires_grad_() for weight in weights]
    placed = embed(own, lessons.shown(torch.cat([one, other], 1)))
    apart = placed[:, : lessons.batch] - placed[:, lessons.batch :]
    distance = (apart.square().sum(2) + NEAR).sqrt()
    losses = (distance - differs.to(distance.dtype)).square().mean(1)  # eq. 11
    slopes = torch.autograd.grad(losses.sum(), own)  # each loss has a network of its own
    for weight, slope, (mean, square) in zip(weights, slopes, moments, strict=True):
        mean[:active].lerp_(slope, 1 - FIRST)
        square[:active].lerp_(slope.square(), 1 - SECOND)
        spread = (square[:active] / (1 - SECOND**number)).sqrt_().add_(STABLE)
        weight[:active].addcdiv_(mean[:active], spread, value=-lessons.rate / (1 - FIRST**number))
    return losses.detach().mean()
