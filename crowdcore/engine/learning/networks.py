"""Networks from an item's features to its class: described by plain values, built from them."""

from __future__ import annotations

from itertools import pairwise
from math import log, prod
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from crowdcore.artefacts.trained_network import TAGGER
from crowdcore.engine.texts.tagger import TokenTrunk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from torch import Tensor

PICTURE_DIMENSIONS = 3
"""Dimensions of one item's features if it is a picture: channels, height, width."""

POOLED_SIDE = 4
"""Side of the smallest map that a convolution leaves, in pixels."""

HEADS_PER_CHUNK = 32
"""Heads whose outputs are computed together."""

ITEMS_PER_CHUNK = 4096
"""Items that a net is applied to together."""


class Heads(nn.Module):
    """Many linear heads on one hidden state [n, H], and the share of each in a joint answer.

    A head is what is common to all plus a change of its own, which begins at zero: one that
    learns from few examples stays near the others.

    Parameters
    ----------
    in_features : int
        Size of the hidden state.
    outputs : int
        Number of classes K.
    heads : int
        Number of heads.
    """

    def __init__(self, in_features: int, outputs: int, heads: int) -> None:
        super().__init__()
        self.in_features = in_features
        self.common = nn.Linear(in_features, outputs)
        self.weight = nn.Parameter(torch.zeros(heads, in_features, outputs))
        self.bias = nn.Parameter(torch.zeros(heads, 1, outputs))
        self.share = nn.Parameter(torch.zeros(heads))  # a softmax over all makes them shares

    def logits(self, hidden: Tensor, head: Tensor) -> Tensor:
        """Logits [n, K] of one head for each row; `head` [n] says which."""
        weight, bias = self.weight.index_select(0, head), self.bias.index_select(0, head)
        change = torch.einsum("nh,nhk->nk", hidden, weight) + bias.squeeze(1)
        logits: Tensor = self.common(hidden) + change
        return logits

    def log_probabilities(self, hidden: Tensor) -> Iterator[Tensor]:
        """Log-probabilities [., n, K] of all rows by every head, some heads at a time."""
        common = self.common(hidden)
        weights = torch.split(self.weight, HEADS_PER_CHUNK)
        biases = torch.split(self.bias, HEADS_PER_CHUNK)
        for weight, bias in zip(weights, biases, strict=True):
            yield (common + (hidden @ weight + bias)).log_softmax(2)

    def forward(self, hidden: Tensor) -> Tensor:
        """The logarithm [n, K] of the heads' probabilities, averaged by their shares."""
        shares = torch.split(self.share.log_softmax(0).reshape(-1, 1, 1), HEADS_PER_CHUNK)
        chunks = zip(self.log_probabilities(hidden), shares, strict=True)
        sums = [(by_head + share).logsumexp(0) for by_head, share in chunks]
        return torch.stack(sums).logsumexp(0)


class ParallelLinear(nn.Module):
    """Linear layers side by side, each with an input of its own: [P, n, in] -> [P, n, out].

    Parameters
    ----------
    layers : int
        Number of layers P.
    in_features, out_features : int
        Sizes of each layer's input and output.
    """

    def __init__(self, layers: int, in_features: int, out_features: int) -> None:
        super().__init__()
        bound = in_features**-0.5  # as torch begins a linear layer
        weight = torch.empty(layers, in_features, out_features)
        self.weight = nn.Parameter(weight.uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(layers, 1, out_features).uniform_(-bound, bound))

    def forward(self, x: Tensor) -> Tensor:
        """Apply every layer to its own input."""
        return torch.baddbmm(self.bias, x, self.weight)


class Mixture(nn.Module):
    """M models of E experts each; a gate [M * E] says how much of each expert is in an answer.

    As the head of a net it answers for the one gate that it keeps. The members' probabilities
    are averaged.

    Parameters
    ----------
    in_features : int
        Size of the hidden state that all experts read.
    outputs : int
        Number of classes K.
    members : int
        Number of models M that begin differently.
    experts : int
        Number of experts E per model.
    hidden : sequence of int
        Sizes of an expert's layers.
    tower : sequence of int
        Sizes of the hidden layers between the blend of experts and the classes.
    dropout : float
        Share of the hidden units that are silenced in a step.
    """

    gate: Tensor

    def __init__(
        self,
        in_features: int,
        outputs: int,
        *,
        members: int,
        experts: int,
        hidden: Sequence[int],
        tower: Sequence[int],
        dropout: float,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.members, self.size = members, experts
        self.width = hidden[-1]  # of an expert's output
        count = members * experts
        self.max_width = count * max(hidden)
        # All experts read the same input, so that their first layers are one.
        self.first = nn.Linear(in_features, count * hidden[0])
        self.dropout = nn.Dropout(dropout)
        self.experts = nn.Sequential(*_parallel_layers(count, hidden, dropout))
        self.tower = nn.Sequential(
            *_parallel_layers(members, (hidden[-1], *tower), dropout),
            ParallelLinear(members, (hidden[-1], *tower)[-1], outputs),
        )
        self.register_buffer("gate", torch.full((count,), 1 / experts))

    def expert_outputs(self, x: Tensor) -> Tensor:
        """What each expert makes of items with features x [n, D] -> [M, E, n, H]."""
        first = self.dropout(self.first(x).relu()).reshape(len(x), self.members * self.size, -1)
        outputs: Tensor = self.experts(first.transpose(0, 1))
        return outputs.reshape(self.members, self.size, len(x), self.width)

    def member_logits(self, x: Tensor, gates: Tensor) -> Tensor:
        """Each member's logits for items x [n, D] with a gate each [n, M * E] -> [M, n, K]."""
        gates = gates.reshape(-1, self.members, self.size)
        logits: Tensor = self.tower(torch.einsum("nme,menh->mnh", gates, self.expert_outputs(x)))
        return logits

    def log_probabilities(self, x: Tensor, gates: Tensor) -> Tensor:
        """Log-probabilities of all items under all gates [G, M * E] -> [n, G, K]."""
        gates = gates.reshape(-1, self.members, self.size)
        blends = torch.einsum("gme,menh->mngh", gates, self.expert_outputs(x))  # eq. 5
        logits = self.tower(blends.flatten(1, 2)).reshape(*blends.shape[:3], -1)
        return average_members(logits)

    def forward(self, x: Tensor) -> Tensor:
        """Log-probabilities [n, K] for the gate that is kept."""
        return self.log_probabilities(x, self.gate.unsqueeze(0)).squeeze(1)


def average_members(logits: Tensor) -> Tensor:
    """The logarithm of the members' mean probabilities [M, ..., K] -> [..., K]."""
    return logits.log_softmax(-1).logsumexp(0) - log(len(logits))


def _parallel_layers(count: int, widths: Sequence[int], dropout: float) -> list[nn.Module]:
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layers += [ParallelLinear(count, before, after), nn.ReLU(), nn.Dropout(dropout)]
    return layers


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
    """Say in JSON values which net suits features of some shape.

    Parameters
    ----------
    shape : sequence of int
        Shape of one item's features: (D,), or (channels, height, width) of a picture.
    outputs : int
        Number of classes K.
    hidden : sequence of int
        Sizes of the hidden layers; without any the net is linear.
    dropout : float
        Share of the hidden units that are silenced in a step.
    channels : sequence of int
        Channels of the convolutions, for pictures.
    heads : int
        Number of heads that answer jointly; 0 for a single linear one.
    mixture : mapping, optional
        Settings of a `Mixture` that answers instead.

    Returns
    -------
    dict
        What `build` takes.
    """
    facts: dict[str, Any] = {"shape": list(shape), "outputs": outputs}
    facts |= {"hidden": list(hidden), "dropout": dropout}
    if heads:
        facts["heads"] = heads
    if mixture:
        facts["mixture"] = dict(mixture)
    if len(shape) == PICTURE_DIMENSIONS:
        return {"kind": "convolution", "channels": list(channels), **facts}
    kind = "perceptron" if hidden else "linear"
    return {"kind": "experts" if mixture else kind, **facts}


def describe_tagger(
    outputs: int,
    *,
    shape: Sequence[int],
    buckets: int,
    width: int,
    dropout: float,
    heads: int = 0,
) -> dict[str, Any]:
    """Say in JSON values which net tags the tokens of texts.

    Parameters
    ----------
    outputs : int
        Number of tags K.
    shape : sequence of int
        Shape of one token's features.
    buckets : int
        Rows of the table of embeddings.
    width : int
        Size of embeddings and hidden state.
    dropout : float
        Share of the hidden units that are silenced in a step.
    heads : int
        Number of heads that answer jointly; 0 for a single linear one.

    Returns
    -------
    dict
        What `build` takes.
    """
    facts: dict[str, Any] = {"kind": TAGGER, "shape": list(shape), "outputs": outputs}
    facts |= {"buckets": buckets, "width": width, "dropout": dropout}
    return facts | ({"heads": heads} if heads else {})


def build(description: dict[str, Any]) -> Net:
    """Make the net that was described, with fresh weights from torch's seed.

    Parameters
    ----------
    description : dict
        What `describe` or `describe_tagger` returned.

    Returns
    -------
    Net
    """
    if description["kind"] == TAGGER:
        width, dropout = description["width"], description["dropout"]
        return Net(TokenTrunk(description["buckets"], width, dropout), _head(width, description))
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
        layers += [nn.AdaptiveMaxPool2d(POOLED_SIDE), nn.Flatten()]
        width = before * POOLED_SIDE * POOLED_SIDE
    elif len(description["shape"]) == PICTURE_DIMENSIONS:  # linear in the pixels
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
    """Return the size of the hidden state that a net's head reads."""
    return int(net.head.in_features)


def apply_in_chunks(net: nn.Module, x: Tensor, chunk_size: int = ITEMS_PER_CHUNK) -> Tensor:
    """Apply a net to many items without gradients, some at a time.

    Parameters
    ----------
    net : torch.nn.Module
        Put into evaluation mode.
    x : Tensor [n, ...]
        Features of the items.
    chunk_size : int
        Items that are worked on together.

    Returns
    -------
    Tensor [n, ...]
        The net's outputs.
    """
    net.eval()
    with torch.no_grad():
        return torch.cat([net(chunk) for chunk in torch.split(x, chunk_size)])
