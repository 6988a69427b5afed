"""Centroids of a worker's classes in the embedding of items, and how far these scatter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch

if TYPE_CHECKING:
    from torch import Tensor

Condition = Literal["nearest within", "first within", "nearest"]

MIN_SPREAD = 1e-6
"""The smallest mean squared distance of a class's items from their centroid."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Centroids:
    """The classes of P workers in their embeddings; a class that a worker never gave has none."""

    centre: Tensor  # [P, K, E]
    radius: Tensor  # [P, K] mean distance of a class's items from its centre; -1 of a single item
    is_given: Tensor  # [P, K] whether the worker gave this class
    spread: Tensor  # [P] mean squared distance from a centre that was made without the item

    @classmethod
    def from_embedding(
        cls, embedded: Tensor, owner: Tensor, code: Tensor, shape: tuple[int, int]
    ) -> Centroids:
        """From the embedding [n, E], worker and class of each label; the shape is (P, K)."""
        key, size = owner * shape[1] + code, shape[0] * shape[1]
        count = torch.bincount(key, minlength=size)
        n = count.clamp(min=1).to(embedded.dtype)
        sums = embedded.new_zeros(size, embedded.shape[1]).index_add_(0, key, embedded)
        centre = sums / n.unsqueeze(1)  # eq. 16
        square = (embedded - centre[key]).square().sum(1)
        radius = embedded.new_zeros(size).index_add_(0, key, square.sqrt()) / n  # eq. 17
        # An item draws its centre towards itself; without it the centre lies further away.
        left_out = square * (n / (n - 1).clamp(min=1)).square()[key]
        total = embedded.new_zeros(shape[0]).index_add_(0, owner, left_out)
        n_labels = (count * (count > 1)).reshape(shape).sum(1).clamp(min=1)
        return cls(
            centre=centre.reshape(*shape, -1),
            radius=torch.where(count > 1, radius, -1.0).reshape(shape),
            is_given=(count > 0).reshape(shape),
            spread=(total / n_labels).clamp(min=MIN_SPREAD),
        )

    def classify(self, embedded: Tensor, condition: Condition) -> tuple[Tensor, Tensor]:
        """The class of items [P, n, E] by eq. 19, or -1 for none, and its probability [P, n].

        The probability takes a worker's classes for equally common and equally wide Gaussians,
        whose scatter points one way: held-out labels were predicted too boldly with more.
        """
        distance = torch.cdist(
            embedded, self.centre, compute_mode="donot_use_mm_for_euclid_dist"
        )  # [P, n, K], eq. 18
        is_given = self.is_given.unsqueeze(1)
        within = (distance <= self.radius.unsqueeze(1)) & is_given
        distance = torch.where(is_given, distance, torch.inf)
        if condition == "first within":
            chosen = within.to(torch.uint8).argmax(2)
        else:
            chosen = distance.argmin(2)
        allowed = within if condition != "nearest" else is_given.expand_as(within)
        index = chosen.unsqueeze(2)
        logs = -distance.square() / (2 * self.spread.reshape(-1, 1, 1))
        # A worker without any class has no probabilities; nothing is filled in there.
        probability = logs.softmax(2).gather(2, index).squeeze(2).nan_to_num(0.0)
        return torch.where(allowed.gather(2, index).squeeze(2), chosen, -1), probability
