"""Networks on one-hot labels: an item's input is the sparse row of what each worker gave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.labels import Labels


class _Linear(torch.autograd.Function):
    """Add the rows of an item's labels; the gradient is the same sum, taken by key."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, labels: Labels) -> Tensor:
        ctx.labels = labels
        return labels.sum_over_items(weight)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return ctx.labels.sum_over_keys(grads[0].contiguous()), None


def linear(labels: Labels, weight: Tensor) -> Tensor:
    """Multiply the one-hot rows [N, W * K] by a weight [W * K, C], without ever making them.

    One pass over the labels forward and one backward.
    """
    product: Tensor = _Linear.apply(weight, labels)  # type: ignore[no-untyped-call]
    return product
