"""The one training loop: mini-batches, early stopping on what was held out, the best weights."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from crowdcore.labels import Labels
    from crowdcore.method import LearningConfig
    from crowdcore.run import Run

FEWEST_HELD_OUT = 20
"""With fewer rows to watch, stopping early would be a toss of a coin."""


AT_ONCE = 16_384
"""Rows that are judged together."""


def _nothing(_: Tensor) -> None:
    """Do nothing at some point of the training."""


@dataclass(frozen=True, kw_only=True)
class Learner:
    """A model to be trained: what holds the weights, and what rows of examples cost."""

    module: nn.Module
    loss: Callable[[Tensor], Tensor]  # rows -> mean loss
    each_epoch: Callable[[Tensor], None] = _nothing  # the rows that are learnt from
    stopped: Callable[[Tensor], None] = _nothing  # at the best weights: the rows that were watched


@dataclass(frozen=True, kw_only=True, eq=False)
class Split:
    """The rows to learn from, and those that decide when to stop."""

    learn: Tensor
    watch: Tensor

    @property
    def everything(self) -> Tensor:
        """All rows, in order."""
        return torch.cat([self.learn, self.watch]).sort().values


@dataclass(frozen=True, kw_only=True, eq=False)
class Triples:
    """The labels as rows, in an order that does not depend on the file's."""

    item: Tensor  # [L]
    worker: Tensor
    given: Tensor

    @classmethod
    def of(cls, labels: Labels) -> Triples:
        """Order the labels by item, worker and class."""
        data = labels.data
        order = np.lexsort((data.label, data.worker, data.item))
        item, worker, given = (
            labels.tensor(codes[order].astype(np.int64))
            for codes in (data.item, data.worker, data.label)
        )
        return cls(item=item, worker=worker, given=given)


def hold_out(labels: Labels, groups: NDArray[np.int64], share: float, run: Run) -> Split:
    """Hold out whole groups of rows, such as the labels of an item; `groups` is each row's.

    `np.arange(L)` holds out single rows.
    """
    names = np.unique(groups)
    held = run.rng.permutation(names)[: round(share * len(names))]
    out = np.isin(groups, held)
    if out.sum() < FEWEST_HELD_OUT or out.all():
        out[:] = False
    return Split(
        learn=labels.tensor(np.flatnonzero(~out)), watch=labels.tensor(np.flatnonzero(out))
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Training:
    """Trains learners by a method's settings; the run counts epochs and can stop it."""

    labels: Labels
    run: Run
    cfg: LearningConfig

    def learn(self, split: Split, build: Callable[[], Learner], stage: str = "Training") -> Learner:
        """Train until the held-out rows cost more again, then anew on all rows for as long.

        Without rows to watch, training takes all epochs. `build` makes a fresh learner.
        """
        learner = build()
        if not len(split.watch):
            self._train(learner, split.learn, self.cfg.epochs, stage)
            self.run.converged = None  # so many epochs, whatever comes of them
            return learner
        best = self._watched(learner, split, stage)
        if not self.cfg.refit:
            return learner
        stopped = self.run.converged
        learner = build()
        self._train(learner, split.everything, best, f"{stage} on all")
        self.run.converged = stopped
        return learner

    def _watched(self, learner: Learner, split: Split, stage: str) -> int:
        """Train with an eye on the held-out rows; leaves the best weights, returns their epoch."""
        best, since, at = float("inf"), 0, 1
        kept = copy.deepcopy(learner.module.state_dict())
        optimiser = self._optimiser(learner)
        for epoch in self.run.loop(self.cfg.epochs, stage):
            loss = self._epoch(learner, split.learn, optimiser)
            watched = mean_loss(learner, split.watch)
            self.run.log(loss=loss, held_out=watched)
            since += 1
            if watched < best:
                best, since, at = watched, 0, epoch + 1
                kept = copy.deepcopy(learner.module.state_dict())
            if since >= self.cfg.patience:
                self.run.converged = True
                break
        learner.module.load_state_dict(kept)
        learner.module.eval()
        learner.stopped(split.watch)
        return at

    def _train(self, learner: Learner, rows: Tensor, epochs: int, stage: str) -> None:
        optimiser = self._optimiser(learner)
        for _ in self.run.loop(epochs, stage):
            self.run.log(loss=self._epoch(learner, rows, optimiser))
        learner.module.eval()

    def _optimiser(self, learner: Learner) -> torch.optim.Optimizer:
        weights = [one for one in learner.module.parameters() if one.requires_grad]
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
    """What rows cost on average, without learning from them."""
    learner.module.eval()
    with torch.no_grad():
        parts = [learner.loss(part) * len(part) for part in torch.split(rows, AT_ONCE)]
    return float(torch.stack(parts).sum()) / len(rows)
