"""Variational autoencoders: embeddings of workers and items as normal distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import nn
from torch.nn.functional import cross_entropy

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor


class NormalEmbedding(NamedTuple):
    """Normal distributions [n, size], one per worker or item."""

    mean: Tensor
    log_variance: Tensor

    def draw(self) -> Tensor:
        """Draw one point of each."""
        noise = torch.randn_like(self.mean)
        return self.mean + noise * (self.log_variance / 2).exp()

    def select(self, rows: Tensor) -> NormalEmbedding:
        """The distributions at some rows, which may repeat."""
        return NormalEmbedding(*(values.index_select(0, rows) for values in self))

    def divergence(self) -> Tensor:
        """The divergence of each from the standard normal [n]."""
        spread = self.log_variance.exp() - self.log_variance
        return (self.mean**2 + spread - 1).sum(1) / 2


class Autoencoder(nn.Module):
    """Inputs -> embeddings -> reconstructed inputs.

    `first` is the layer that reads the inputs; `cost` is the loss [n] of reconstructions.
    """

    def __init__(
        self,
        first: nn.Module,
        hidden: int,
        size: int,
        outputs: int,
        cost: Callable[[Tensor, Tensor], Tensor],
    ) -> None:
        super().__init__()
        self.size = size
        self.encoder = nn.Sequential(
            first, nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 2 * size)
        )
        self.decoder = nn.Sequential(nn.Linear(size, hidden), nn.ReLU(), nn.Linear(hidden, outputs))
        self._cost = cost

    def forward(self, x: Tensor) -> NormalEmbedding:
        """Embed inputs."""
        return NormalEmbedding(*self.encoder(x).chunk(2, 1))

    def loss_on(self, inputs: Tensor, weight: float) -> Callable[[Tensor], Tensor]:
        """The mean loss of some of the inputs: reconstruction and weighted divergence."""

        def loss(rows: Tensor) -> Tensor:
            x = inputs.index_select(0, rows)
            embedding: NormalEmbedding = self(x)
            reconstruction = self._cost(self.decoder(embedding.draw()), x)
            return (reconstruction + weight * embedding.divergence()).mean()

        return loss


def vector_autoencoder(inputs: int, hidden: int, size: int) -> Autoencoder:
    """An autoencoder of vectors, whose loss is half of the squared errors."""

    def cost(reconstructed: Tensor, x: Tensor) -> Tensor:
        return ((reconstructed - x) ** 2).sum(1) / 2

    return Autoencoder(nn.Linear(inputs, hidden), hidden, size, inputs, cost)


def code_autoencoder(count: int, hidden: int, size: int) -> Autoencoder:
    """An autoencoder of codes, equivalent to one of one-hot vectors."""

    def cost(logits: Tensor, code: Tensor) -> Tensor:
        return cross_entropy(logits, code, reduction="none")

    return Autoencoder(nn.Embedding(count, hidden), hidden, size, count, cost)


class LabelGenerator(nn.Module):
    """Embeddings of worker and item -> logits of the label that the worker would give."""

    def __init__(self, workers: Autoencoder, items: Autoencoder, hidden: int, outputs: int) -> None:
        super().__init__()
        self.workers, self.items = workers, items
        size = workers.size + items.size
        self.label = nn.Sequential(nn.Linear(size, hidden), nn.ReLU(), nn.Linear(hidden, outputs))

    def forward(self, worker: NormalEmbedding, item: NormalEmbedding) -> Tensor:
        """Logits [n, K], each from one draw of both embeddings."""
        logits: Tensor = self.label(torch.cat([worker.draw(), item.draw()], 1))
        return logits
