"""The training loops: mini-batches or all examples at once, early stopping, the best weights."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import nn

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.config import LearningConfig
    from crowdcore.engine.labels import Labels
    from crowdcore.engine.ratings import Ratings
    from crowdcore.engine.splits import Split
    from crowdcore.run import Run

ROWS_PER_CHUNK = 16_384
"""Rows whose loss is computed together."""


def _do_nothing(_: Tensor) -> None:
    """Do nothing at some point of the training."""


@dataclass(frozen=True, kw_only=True)
class Learner:
    """A model to be trained by mini-batches.

    Attributes
    ----------
    module : torch.nn.Module
        Holds the weights.
    loss : callable
        From rows of examples to their mean loss.
    each_epoch : callable
        Called before every epoch with the rows that are learnt from.
    stopped : callable
        Called at the best weights with the rows that were held out.
    rows_per_chunk : int
        Rows whose loss is computed together where nothing is learnt.
    """

    module: nn.Module
    loss: Callable[[Tensor], Tensor]
    each_epoch: Callable[[Tensor], None] = _do_nothing
    stopped: Callable[[Tensor], None] = _do_nothing
    rows_per_chunk: int = ROWS_PER_CHUNK


@dataclass(frozen=True, kw_only=True, eq=False)
class Training:
    """Trains learners by mini-batches; the run counts epochs and can stop it.

    Attributes
    ----------
    labels : Labels or Ratings
        Whose device is used.
    run : Run
        Counts epochs, draws the batches, and can stop the training.
    cfg : LearningConfig
        Epochs, batch size, learning rate and patience.
    """

    labels: Labels | Ratings
    run: Run
    cfg: LearningConfig

    def learn(self, split: Split, build: Callable[[], Learner], stage: str = "Training") -> Learner:
        """Train until the held-out rows cost more again, then anew on all rows for as long.

        Without held-out rows, training takes all epochs.

        Parameters
        ----------
        split : Split
            The rows to learn from, and those that are held out.
        build : callable
            Makes a fresh learner.
        stage : str
            What the run calls the training.

        Returns
        -------
        Learner
            The last one that was built, trained.
        """
        learner = build()
        if not len(split.held_out):
            self._train(learner, split.train, self.cfg.epochs, stage)
            self.run.converged = None  # so many epochs, whatever comes of them
            return learner
        best_epochs = self._train_and_stop(learner, split, stage)
        if not self.cfg.refit:
            return learner
        converged = self.run.converged
        learner = build()
        self._train(learner, split.all_rows, best_epochs, f"{stage} on all")
        self.run.converged = converged
        return learner

    def _train_and_stop(self, learner: Learner, split: Split, stage: str) -> int:
        """Train with an eye on the held-out rows; leaves the best weights, returns their epoch."""
        best, since, best_epochs = math.inf, 0, 1
        kept = copy.deepcopy(learner.module.state_dict())
        optimiser = self._optimiser(learner)
        for epoch in self.run.loop(self.cfg.epochs, stage):
            loss = self._epoch(learner, split.train, optimiser)
            held_out = mean_loss(learner, split.held_out)
            self.run.log(loss=loss, held_out=held_out)
            since += 1
            if held_out < best:
                best, since, best_epochs = held_out, 0, epoch + 1
                kept = copy.deepcopy(learner.module.state_dict())
            if since >= self.cfg.patience:
                self.run.converged = True
                break
        learner.module.load_state_dict(kept)
        learner.module.eval()
        learner.stopped(split.held_out)
        return best_epochs

    def _train(self, learner: Learner, rows: Tensor, epochs: int, stage: str) -> None:
        optimiser = self._optimiser(learner)
        for _ in self.run.loop(epochs, stage):
            self.run.log(loss=self._epoch(learner, rows, optimiser))
        learner.module.eval()

    def _optimiser(self, learner: Learner) -> torch.optim.Optimizer:
        weights = [weight for weight in learner.module.parameters() if weight.requires_grad]
        rate, decay = self.cfg.rate, self.cfg.decay
        return torch.optim.AdamW(weights, lr=rate, weight_decay=decay, fused=True)

    def _epoch(self, learner: Learner, rows: Tensor, optimiser: torch.optim.Optimizer) -> Tensor:
        """Go once over the rows in random order; returns the mean loss."""
        learner.each_epoch(rows)
        learner.module.train()
        device = self.labels.device
        order = rows.index_select(0, self.labels.tensor(self.run.rng.permutation(len(rows))))
        total = torch.zeros((), device=device)
        half = device.type == "cuda" and torch.cuda.is_available()
        for batch in torch.split(order, self.cfg.batch):
            self.run.check()
            optimiser.zero_grad()
            with torch.autocast(device.type, dtype=torch.bfloat16, enabled=half):
                loss = learner.loss(batch)
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            total += loss.detach() * len(batch)
        return total / max(1, len(rows))


def mean_loss(learner: Learner, rows: Tensor) -> float:
    """Return the mean loss of some rows, without learning from them."""
    learner.module.eval()
    chunks = torch.split(rows, learner.rows_per_chunk)
    with torch.no_grad():
        sums = [learner.loss(chunk) * len(chunk) for chunk in chunks]
    return float(torch.stack(sums).sum()) / len(rows)


class FullBatchLosses(NamedTuple):
    """What all examples cost before a step."""

    loss: Tensor  # of the examples that are learnt from
    held_out: Tensor | None = None  # [n] of those that are held out


@dataclass(frozen=True, kw_only=True, eq=False)
class FullBatchLearner:
    """A model that learns from all of its examples in every step.

    Attributes
    ----------
    optimiser : torch.optim.Optimizer
        Holds the weights and makes the step.
    backward : callable
        Adds the gradients of all examples to those of the weights, and returns the losses.
    """

    optimiser: torch.optim.Optimizer
    backward: Callable[[], FullBatchLosses]

    @property
    def weights(self) -> list[Tensor]:
        """The weights that the optimiser moves."""
        return [weight for group in self.optimiser.param_groups for weight in group["params"]]


def full_batch(
    run: Run,
    learners: Sequence[FullBatchLearner],
    *,
    epochs: int,
    stage: str = "Epochs",
    patience: int | None = None,
) -> None:
    """Train models side by side, one step per epoch, each on all of its examples.

    Where examples are held out, all models return to the weights at which the mean loss of the
    held-out examples of all of them was lowest.

    Parameters
    ----------
    run : Run
        Counts epochs, and can stop the training.
    learners : sequence of FullBatchLearner
        The models; all of them hold out examples, or none.
    epochs : int
        Maximum number of epochs.
    stage : str
        What the run calls the training.
    patience : int, optional
        Epochs without a lower held-out loss after which training stops; never, if not given.
    """
    weights = [weight for learner in learners for weight in learner.weights]
    kept: list[Tensor] = []  # the best weights, once examples are held out
    best, since = None, 0
    for _ in run.loop(epochs, stage):
        losses = []
        for learner in learners:
            run.check()
            learner.optimiser.zero_grad(set_to_none=False)  # memory that is there is used again
            losses.append(learner.backward())
        run.log(loss=torch.stack([each.loss.detach() for each in losses]).mean())
        held_out = [each.held_out for each in losses if each.held_out is not None]
        if held_out:
            value = torch.cat(held_out).mean()
            run.log(held_out=value)
            best = torch.full_like(value, math.inf) if best is None else best
            better = value < best
            best = torch.where(better, value, best)
            # Chosen on the device: a GPU is waited for only if patience is asked for.
            kept = [
                torch.where(better, weight.detach(), before)
                for weight, before in zip(weights, kept or weights, strict=True)
            ]
            since = 0 if patience is not None and bool(better) else since + 1
        for learner in learners:
            learner.optimiser.step()
        if held_out and patience is not None and since >= patience:
            break
    with torch.no_grad():
        for weight, best_weight in zip(weights, kept, strict=bool(kept)):
            weight.zero_().add_(best_weight)  # `copy_` cannot be tried without a GPU
    run.converged = None  # so many epochs, whatever comes of them
