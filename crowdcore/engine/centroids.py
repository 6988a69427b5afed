"""A worker's classes as places: where the items lie that they gave a class, and how far around."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch

if TYPE_CHECKING:
    from torch import Tensor

Condition = Literal["nearest within", "first within", "nearest"]

LEAST = 1e-6
"""The least squared distance that items of a class are taken to scatter by."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Centroids:
    """The classes of P workers in their embeddings; a class that a worker never gave has none."""

    centre: Tensor  # [P, K, E]
    radius: Tensor  # [P, K] mean distance of a class's items from its centre; -1 of a single item
    known: Tensor  # [P, K] whether the worker gave this class
    spread: Tensor  # [P] mean squared distance from a centre that was made without the item

    @classmethod
    def of(cls, placed: Tensor, owner: Tensor, code: Tensor, shape: tuple[int, int]) -> Centroids:
        """From where each label's item lies [n, E], the label's worker and its class; (P, K)."""
        key, size = owner * shape[1] + code, shape[0] * shape[1]
        count = torch.bincount(key, minlength=size)
        n = count.clamp(min=1).to(placed.dtype)
        sums = placed.new_zeros(size, placed.shape[1]).index_add_(0, key, placed)
        centre = sums / n.unsqueeze(1)  # eq. 16
        square = (placed - centre[key]).square().sum(1)
        radius = placed.new_zeros(size).index_add_(0, key, square.sqrt()) / n  # eq. 17
        # An item draws its centre towards itself; without it the centre lies further away.
        free = square * (n / (n - 1).clamp(min=1)).square()[key]
        total = placed.new_zeros(shape[0]).index_add_(0, owner, free)
        labels = (count * (count > 1)).reshape(shape).sum(1).clamp(min=1)
        return cls(
            centre=centre.reshape(*shape, -1),
            radius=torch.where(count > 1, radius, -1.0).reshape(shape),
            known=(count > 0).reshape(shape),
            spread=(total / labels).clamp(min=LEAST),
        )

    def fill(self, placed: Tensor, condition: Condition) -> tuple[Tensor, Tensor]:
        """The class of items [P, n, E] by eq. 19, or -1 for none, and its probability [P, n].

        The probability takes a worker's classes for equally common and equally wide Gaussians,
        whose scatter points one way: held-out labels were foretold too boldly with more.
        """
        apart = torch.cdist(
            placed, self.centre, compute_mode="donot_use_mm_for_euclid_dist"
        )  # [P, n, K], eq. 18
        known = self.known.unsqueeze(1)
        within = (apart <= self.radius.unsqueeze(1)) & known
        apart = torch.where(known, apart, torch.inf)
        if condition == "first within":
            chosen = within.to(torch.uint8).argmax(2)
        else:
            chosen = apart.argmin(2)
        holds = within if condition != "nearest" else known.expand_as(within)
        place = chosen.unsqueeze(2)
        logs = -apart.square() / (2 * self.spread.reshape(-1, 1, 1))
        # A worker without any class has no probabilities; nothing is filled in there.
        sure = logs.softmax(2).gather(2, place).squeeze(2).nan_to_num(0.0)
        return torch.where(holds.gather(2, place).squeeze(2), chosen, -1), sure
