"""MLP: a small network from an item's labels to its class, taught by gold alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from crowdcore.config import TruthConfig
from crowdcore.data import DataError
from crowdcore.method import method
from crowdcore.needs import Needs
from crowdcore.results.classes import ClassEstimate

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from crowdcore.engine.labels import Labels
    from crowdcore.run import Run


class PerceptronConfig(TruthConfig):
    """Settings of the MLP."""

    hidden: int = Field(
        30, ge=1, le=1000, description="Number of units in each of the two hidden layers."
    )
    epochs: int = Field(300, ge=1, le=10_000, description="Number of epochs over the gold items.")
    rate: float = Field(0.01, gt=0, le=1, description="Learning rate of Adam.")
    held_out: float = Field(
        0.2, ge=0, le=0.9, description="Share of the gold held out to choose when to stop."
    )


MIN_HELD_OUT_ITEMS = 10
"""With fewer held-out items, stopping early would be a toss of a coin."""


@method(
    title="Multilayer perceptron on labels (MLP)",
    year=2022,
    paper="Baseline of HGNN: three layers on the row of worker labels",
    config=PerceptronConfig,
    needs=Needs(gold=True),
    quick={"epochs": 60},
    excuses={
        "renaming": "The weights of every worker and class start at random draws.",
    },
)
def mlp(labels: Labels, cfg: PerceptronConfig, run: Run) -> ClassEstimate:
    """Learn from gold items to predict an item's class from its labels."""
    import torch
    from torch.nn.functional import cross_entropy

    from crowdcore.engine.learning.one_hot import linear
    from crowdcore.engine.learning.supervision import hold_at_gold
    from crowdcore.engine.learning.training import FullBatchLearner, FullBatchLosses, full_batch

    taught = _labels_of_gold(labels)
    items, answers = labels.gold
    train, held_out = _split(labels, cfg.held_out, run.rng)
    net = _network(taught, cfg.hidden, run.generator())

    def logits(of: Labels) -> Tensor:
        hidden = (linear(of, net[0]) + net[1]).relu()
        hidden = (hidden @ net[2] + net[3]).relu()
        return hidden @ net[4] + net[5]

    def mean_loss(scores: Tensor, rows: Tensor) -> Tensor:
        gold_scores = scores.index_select(0, items.index_select(0, rows))
        return cross_entropy(gold_scores, answers.index_select(0, rows))

    def backward() -> FullBatchLosses:
        scores = logits(taught)
        loss = mean_loss(scores, train)
        loss.backward()  # type: ignore[no-untyped-call]
        return FullBatchLosses(loss, mean_loss(scores.detach(), held_out).reshape(1))

    learner = FullBatchLearner(optimiser=torch.optim.Adam(net, lr=cfg.rate), backward=backward)
    full_batch(run, [learner], epochs=cfg.epochs)
    with torch.no_grad():
        posterior = hold_at_gold(labels, logits(labels).softmax(1))
    return ClassEstimate(posterior=posterior, notes=(_note(train, held_out),))


def _labels_of_gold(labels: Labels) -> Labels:
    """The labels of gold items only: an epoch costs no more than these."""
    data = labels.data
    keep = data.has_gold[data.item]
    if not keep.any():
        raise DataError("No item with gold has a label", fix="Add gold for items with labels.")
    return labels.with_data(data.only(keep))


def _split(labels: Labels, held_out: float, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Positions of the gold items to learn from, and of those to watch; all, where few."""
    from crowdcore.engine.splits import hold_out_rows

    n_gold = labels.data.n_gold
    n_held = int(held_out * n_gold)
    if n_held < MIN_HELD_OUT_ITEMS:
        everything, _ = hold_out_rows(n_gold, 0, rng)
        rows = labels.tensor(everything)
        return rows, rows
    train, held = hold_out_rows(n_gold, n_held, rng)
    return labels.tensor(train), labels.tensor(held)


def _network(taught: Labels, hidden: int, generator: torch.Generator | None) -> list[Tensor]:
    """Weights and biases of three layers, drawn with the seed.

    What a worker gave on no gold item starts, and so stays, at zero: it says nothing.
    """
    import torch

    data, classes = taught.data, taught.n_classes
    keys = data.worker.astype(np.int64) * classes + data.label
    occurs = np.bincount(keys, minlength=taught.n_workers * classes) > 0

    def uniform(*shape: int) -> Tensor:
        kind, device = taught.dtype, taught.device
        draw = torch.rand(shape, generator=generator, dtype=kind, device=device)
        return (2 * draw - 1) / math.sqrt(hidden)

    first = uniform(len(occurs), hidden) * taught.tensor(occurs, taught.dtype).unsqueeze(1)
    second, third = uniform(hidden, hidden), uniform(hidden, classes)
    biases = uniform(hidden), uniform(hidden), uniform(classes)
    layers = [first, biases[0], second, biases[1], third, biases[2]]
    return [layer.requires_grad_() for layer in layers]


def _note(train: Tensor, held_out: Tensor) -> str:
    """Say how much gold was used, and for what."""
    if train is held_out:
        return f"Learnt from {len(train)} gold items; none were held out to choose when to stop."
    return f"Learnt from {len(train)} gold items; {len(held_out)} more chose when to stop."
