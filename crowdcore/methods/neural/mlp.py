"""MLP: a small network from an item's labels to its class, taught by gold alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from crowdcore.data import DataError
from crowdcore.method import Needs, TruthConfig, method
from crowdcore.result import Estimate

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from crowdcore.labels import Labels
    from crowdcore.run import Run


class PerceptronConfig(TruthConfig):
    """Settings of the MLP."""

    hidden: int = Field(30, ge=1, le=1000, description="Units in each of the two hidden layers.")
    epochs: int = Field(300, ge=1, le=10_000, description="Most epochs over the gold items.")
    rate: float = Field(0.01, gt=0, le=1, description="Learning rate of Adam.")
    held_out: float = Field(
        0.2, ge=0, le=0.9, description="Share of the gold held out to choose when to stop."
    )


FEWEST_HELD_OUT = 10
"""With fewer items to watch, stopping early would be a toss of a coin."""


@method(
    title="Multilayer perceptron on labels (MLP)",
    year=2022,
    paper="Baseline of HGNN: three layers on the row of worker labels",
    config=PerceptronConfig,
    needs=Needs(gold=True),
    quick={"epochs": 60},
)
def mlp(labels: Labels, cfg: PerceptronConfig, run: Run) -> Estimate:
    """Learn from the gold items which class a row of worker labels stands for."""
    import torch
    from torch.nn.functional import cross_entropy, one_hot

    from crowdcore.engine.onehot import linear

    taught = _labels_of_gold(labels)
    items, answers = labels.gold
    learn, watch = _split(labels, cfg.held_out, run.rng)
    net = _network(taught, cfg.hidden, run.generator())

    def logits(of: Labels) -> Tensor:
        hidden = (linear(of, net[0]) + net[1]).relu()
        hidden = (hidden @ net[2] + net[3]).relu()
        return hidden @ net[4] + net[5]

    def loss(scores: Tensor, part: Tensor) -> Tensor:
        rows = scores.index_select(0, items.index_select(0, part))
        return cross_entropy(rows, answers.index_select(0, part))

    optimiser = torch.optim.Adam(net, lr=cfg.rate)
    best = torch.full((), torch.inf, dtype=labels.dtype, device=labels.device)
    kept = [weight.detach().clone() for weight in net]
    for _ in run.loop(cfg.epochs, "Epochs"):
        optimiser.zero_grad()
        scores = logits(taught)
        cost = loss(scores, learn)
        watched = loss(scores.detach(), watch)
        run.log(loss=cost.detach(), held_out=watched)
        better = watched < best
        best = torch.where(better, watched, best)
        kept = [torch.where(better, w.detach(), k) for w, k in zip(net, kept, strict=True)]
        cost.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    run.converged = None  # so many epochs, of which the best was kept
    net = kept
    posterior = logits(labels).softmax(1)
    known = one_hot(answers, labels.n_classes).to(posterior.dtype)
    return Estimate(posterior=posterior.index_copy(0, items, known), notes=(_note(learn, watch),))


def _labels_of_gold(labels: Labels) -> Labels:
    """The labels of gold items only: an epoch costs no more than these."""
    data = labels.data
    keep = data.has_gold[data.item]
    if not keep.any():
        raise DataError("No item with gold has a label", fix="Add gold for items with labels.")
    return labels.of(data.only(keep))


def _split(labels: Labels, held_out: float, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Positions of the gold items to learn from, and of those to watch; all, where few."""
    order = rng.permutation(labels.data.n_gold)
    n = int(held_out * len(order))
    if n < FEWEST_HELD_OUT:
        everything = labels.tensor(order)
        return everything, everything
    return labels.tensor(order[n:]), labels.tensor(order[:n])


def _network(taught: Labels, hidden: int, generator: torch.Generator | None) -> list[Tensor]:
    """Weights and biases of three layers, drawn with the seed.

    What a worker gave on no gold item starts, and so stays, at zero: it says nothing.
    """
    import torch

    data, classes = taught.data, taught.n_classes
    keys = data.worker.astype(np.int64) * classes + data.label
    seen = np.bincount(keys, minlength=taught.n_workers * classes) > 0

    def uniform(*shape: int) -> Tensor:
        kind, device = taught.dtype, taught.device
        draw = torch.rand(shape, generator=generator, dtype=kind, device=device)
        return (2 * draw - 1) / math.sqrt(hidden)

    first = uniform(len(seen), hidden) * taught.tensor(seen, taught.dtype).unsqueeze(1)
    second, third = uniform(hidden, hidden), uniform(hidden, classes)
    biases = uniform(hidden), uniform(hidden), uniform(classes)
    layers = [first, biases[0], second, biases[1], third, biases[2]]
    return [layer.requires_grad_() for layer in layers]


def _note(learn: Tensor, watch: Tensor) -> str:
    """Say how much gold was used, and for what."""
    if learn is watch:
        return f"Learnt from {len(learn)} gold items; none were held out to choose when to stop."
    return f"Learnt from {len(learn)} gold items; {len(watch)} more chose when to stop."
