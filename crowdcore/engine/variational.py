"""Variational autoencoders: descriptions of workers and items that are known up to some noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import nn
from torch.nn.functional import cross_entropy

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor


class Description(NamedTuple):
    """Normal distributions [n, size], one for each thing that is described."""

    mean: Tensor
    log_variance: Tensor

    def draw(self) -> Tensor:
        """One point of each."""
        noise = torch.randn_like(self.mean)
        return self.mean + noise * (self.log_variance / 2).exp()

    def of(self, places: Tensor) -> Description:
        """The distributions at some places, which may repeat."""
        return Description(*(one.index_select(0, places) for one in self))

    def divergence(self) -> Tensor:
        """How far each is from the standard normal [n]."""
        spread = self.log_variance.exp() - self.log_variance
        return (self.mean**2 + spread - 1).sum(1) / 2


class Autoencoder(nn.Module):
    """Things -> descriptions -> things again.

    `first` is the layer that reads the things, `cost` says what a thing [n] made again costs.
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

    def forward(self, x: Tensor) -> Description:
        """Describe things."""
        return Description(*self.encoder(x).chunk(2, 1))

    def cost_of(self, things: Tensor, weight: float) -> Callable[[Tensor], Tensor]:
        """What describing some of the things and making them again costs on average."""

        def loss(rows: Tensor) -> Tensor:
            x = things.index_select(0, rows)
            found: Description = self(x)
            made = self._cost(self.decoder(found.draw()), x)
            return (made + weight * found.divergence()).mean()

        return loss


def of_numbers(inputs: int, hidden: int, size: int) -> Autoencoder:
    """An autoencoder of vectors, judged by half of the squared errors."""

    def cost(made: Tensor, x: Tensor) -> Tensor:
        return ((made - x) ** 2).sum(1) / 2

    return Autoencoder(nn.Linear(inputs, hidden), hidden, size, inputs, cost)


def of_names(count: int, hidden: int, size: int) -> Autoencoder:
    """An autoencoder of codes, as good as one of one-hot vectors."""

    def cost(made: Tensor, code: Tensor) -> Tensor:
        return cross_entropy(made, code, reduction="none")

    return Autoencoder(nn.Embedding(count, hidden), hidden, size, count, cost)


class Generator(nn.Module):
    """Descriptions of worker and item -> logits of the label that the worker would give."""

    def __init__(self, workers: Autoencoder, items: Autoencoder, hidden: int, outputs: int) -> None:
        super().__init__()
        self.workers, self.items = workers, items
        size = workers.size + items.size
        self.label = nn.Sequential(nn.Linear(size, hidden), nn.ReLU(), nn.Linear(hidden, outputs))

    def forward(self, worker: Description, item: Description) -> Tensor:
        """Logits [n, K], each from one draw of both descriptions."""
        logits: Tensor = self.label(torch.cat([worker.draw(), item.draw()], 1))
        return logits
