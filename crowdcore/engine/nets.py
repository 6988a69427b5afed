"""Networks from an item's features to its class: described by plain values, built from them."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

IMAGE = 3
"""Dimensions of one item's features if it is a picture: channels, height, width."""

POOLED = 4
"""Side of the smallest map that a convolution leaves."""


class Net(nn.Module):
    """A trunk from features to a hidden state, and a linear head from there to logits [n, K]."""

    def __init__(self, trunk: nn.Module, head: nn.Linear) -> None:
        super().__init__()
        self.trunk, self.head = trunk, head

    def forward(self, x: Tensor) -> Tensor:
        """Logits [n, K] of items with features x [n, ...]."""
        logits: Tensor = self.head(self.trunk(x))
        return logits


def describe(
    shape: Sequence[int],
    outputs: int,
    *,
    hidden: Sequence[int] = (128,),
    dropout: float = 0.0,
    channels: Sequence[int] = (32, 64),
) -> dict[str, Any]:
    """Say in JSON values what net suits features of this shape: linear where nothing is hidden."""
    facts = {"shape": list(shape), "outputs": outputs, "hidden": list(hidden), "dropout": dropout}
    if len(shape) == IMAGE:
        return {"kind": "convolution", "channels": list(channels), **facts}
    return {"kind": "perceptron" if hidden else "linear", **facts}


def build(description: dict[str, Any]) -> Net:
    """Make the net that was described, with fresh weights from torch's seed."""
    layers: list[nn.Module] = []
    width = prod(description["shape"])
    if description["kind"] == "convolution":
        before, height, across = description["shape"]
        for channels in description["channels"]:
            layers += [nn.Conv2d(before, channels, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
            before, height, across = channels, height // 2, across // 2
        layers += [nn.AdaptiveMaxPool2d(POOLED), nn.Flatten()]
        width = before * POOLED * POOLED
    for size in description["hidden"]:
        layers += [nn.Linear(width, size), nn.ReLU()]
        if description["dropout"]:
            layers.append(nn.Dropout(description["dropout"]))
        width = size
    return Net(nn.Sequential(*layers), nn.Linear(width, description["outputs"]))


def trunk_width(net: Net) -> int:
    """The size of the hidden state that a net's head reads."""
    return int(net.head.in_features)


def in_parts(net: nn.Module, x: Tensor, at_once: int = 4096) -> Tensor:
    """Apply a net to many items without gradients, some at a time."""
    net.eval()
    with torch.no_grad():
        return torch.cat([net(part) for part in torch.split(x, at_once)])
