"""Networks from an item's features to its class: described by plain values, built from them."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from crowdcore.engine.mixture import Mixture

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from torch import Tensor

IMAGE = 3
"""Dimensions of one item's features if it is a picture: channels, height, width."""

POOLED = 4
"""Side of the smallest map that a convolution leaves."""

HEADS_AT_ONCE = 32
"""Heads that are asked together."""


class Heads(nn.Module):
    """Many linear heads on one hidden state [n, H], and the share of each in a joint answer.

    A head is what is common to all plus a change of its own, which begins at zero: one that
    learns from few examples stays near the others.
    """

    def __init__(self, in_features: int, outputs: int, heads: int) -> None:
        super().__init__()
        self.in_features = in_features
        self.common = nn.Linear(in_features, outputs)
        self.weight = nn.Parameter(torch.zeros(heads, in_features, outputs))
        self.bias = nn.Parameter(torch.zeros(heads, 1, outputs))
        self.share = nn.Parameter(torch.zeros(heads))  # a softmax over all makes them shares

    def one(self, hidden: Tensor, head: Tensor) -> Tensor:
        """Logits [n, K] of one head for each row; `head` [n] says which."""
        weight, bias = self.weight.index_select(0, head), self.bias.index_select(0, head)
        own = torch.einsum("nh,nhk->nk", hidden, weight) + bias.squeeze(1)
        logits: Tensor = self.common(hidden) + own
        return logits

    def every(self, hidden: Tensor) -> Iterator[Tensor]:
        """What the heads think of all rows, in logarithms [., n, K], some heads at a time."""
        common = self.common(hidden)
        some = torch.split(self.weight, HEADS_AT_ONCE), torch.split(self.bias, HEADS_AT_ONCE)
        for weight, bias in zip(*some, strict=True):
            yield (common + (hidden @ weight + bias)).log_softmax(2)

    def forward(self, hidden: Tensor) -> Tensor:
        """The logarithm [n, K] of the heads' probabilities, averaged by their shares."""
        shares = torch.split(self.share.log_softmax(0).reshape(-1, 1, 1), HEADS_AT_ONCE)
        some = zip(self.every(hidden), shares, strict=True)
        parts = [(thought + share).logsumexp(0) for thought, share in some]
        return torch.stack(parts).logsumexp(0)


class Net(nn.Module):
    """A trunk from features to a hidden state, and a head from there to logits [n, K]."""

    def __init__(self, trunk: nn.Module, head: nn.Linear | Heads | Mixture) -> None:
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
    heads: int = 0,
    mixture: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Say in JSON values what net suits features of this shape: linear where nothing is hidden.

    With `heads` as many answer jointly; otherwise there is one. With the settings of a `Mixture`
    it is experts that answer.
    """
    facts: dict[str, Any] = {"shape": list(shape), "outputs": outputs}
    facts |= {"hidden": list(hidden), "dropout": dropout}
    if heads:
        facts["heads"] = heads
    if mixture:
        facts["mixture"] = dict(mixture)
    if len(shape) == IMAGE:
        return {"kind": "convolution", "channels": list(channels), **facts}
    kind = "perceptron" if hidden else "linear"
    return {"kind": "experts" if mixture else kind, **facts}


def build(description: dict[str, Any]) -> Net:
    """Make the net that was described, with fresh weights from torch's seed."""
    layers: list[nn.Module] = []
    width = prod(description["shape"])
    if description["kind"] == "convolution":
        before, height, across = description["shape"]
        for channels in description["channels"]:
            layers += [nn.Conv2d(before, channels, 3, padding=1), nn.ReLU()]
            if min(height, across) > 1:  # what is one pixel wide cannot be halved
                layers.append(nn.MaxPool2d(2))
                height, across = height // 2, across // 2
            before = channels
        layers += [nn.AdaptiveMaxPool2d(POOLED), nn.Flatten()]
        width = before * POOLED * POOLED
    elif len(description["shape"]) == IMAGE:  # linear in the pixels
        layers.append(nn.Flatten())
    for size in description["hidden"]:
        layers += [nn.Linear(width, size), nn.ReLU()]
        if description["dropout"]:
            layers.append(nn.Dropout(description["dropout"]))
        width = size
    return Net(nn.Sequential(*layers), _head(width, description))


def _head(width: int, description: dict[str, Any]) -> nn.Linear | Heads | Mixture:
    outputs = description["outputs"]
    if "mixture" in description:
        return Mixture(width, outputs, dropout=description["dropout"], **description["mixture"])
    heads = description.get("heads", 0)
    return Heads(width, outputs, heads) if heads else nn.Linear(width, outputs)


def trunk_width(net: Net) -> int:
    """The size of the hidden state that a net's head reads."""
    return int(net.head.in_features)


def in_parts(net: nn.Module, x: Tensor, at_once: int = 4096) -> Tensor:
    """Apply a net to many items without gradients, some at a time."""
    net.eval()
    with torch.no_grad():
        return torch.cat([net(part) for part in torch.split(x, at_once)])
