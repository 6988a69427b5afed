"""Lessons: how a network over a whole crowd learns from some answers, and what it keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.nn.utils import clip_grad_norm_

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crowdcore.engine.hetero import Network
    from crowdcore.run import Run

MANY = 500
"""Of so many answers a fifth is held out; with fewer it would say little, and be missed."""

HELD_OUT = 0.2
NEWEST = 0.1
"""How much the newest epoch counts in the running means of weights and losses."""

SKIPPED = 0.1
"""The share of epochs whose weights do not count where the weights of all others do."""

LONGEST = 1.0
"""Gradients longer than this are shortened."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Lesson:
    """What is taught: rows of a network's answer [T] and their classes [T]; and how."""

    rows: Tensor
    answers: Tensor
    epochs: int
    rate: float

    def losses(self, scores: Tensor, places: Tensor) -> Tensor:
        """What the answers at these places cost, by the scores of all rows [n, K]."""
        rows = self.rows.index_select(0, places)
        answers = self.answers.index_select(0, places)
        return cross_entropy(scores.index_select(0, rows), answers, reduction="none")


class Student:
    """A network that learns from a part of a lesson."""

    def __init__(self, net: Network, lesson: Lesson, places: NDArray[np.int64]) -> None:
        self.net, self.lesson = net, lesson
        self._places = torch.tensor(places).to(lesson.rows.device)
        self._weights = list(net.parameters())
        self.dtype = self._weights[0].dtype
        self._optimiser = torch.optim.Adam(self._weights, lr=lesson.rate, fused=True)
        self._mean = [weight.detach().clone() for weight in self._weights]
        self._kept = [weight.clone() for weight in self._mean]

    def step(self) -> tuple[Tensor, Tensor]:
        """Learn once; returns the loss and the scores [n, K], both from before."""
        self._optimiser.zero_grad()
        scores, _ = self.net()
        loss = self.lesson.losses(scores, self._places).mean()
        loss.backward()  # type: ignore[no-untyped-call]
        clip_grad_norm_(self._weights, LONGEST)
        self._optimiser.step()
        return loss.detach(), scores.detach()

    def remember(self, newest: float, better: Tensor) -> None:
        """Let the mean of the weights run on, and keep it if this epoch is the best so far."""
        for weight, mean, kept in zip(self._weights, self._mean, self._kept, strict=True):
            mean.lerp_(weight.detach(), newest)
            kept.copy_(torch.where(better, mean, kept))

    def recall(self) -> None:
        """Give the network the weights that were kept."""
        with torch.no_grad():
            for weight, kept in zip(self._weights, self._kept, strict=True):
                weight.copy_(kept)


def learn(net: Network, lesson: Lesson, run: Run) -> Tensor:
    """Teach a network everything for all epochs; the classes it gave before each [epochs, n]."""
    student, said = Student(net, lesson, np.arange(len(lesson.rows))), []
    for _ in run.loop(lesson.epochs, "Epochs"):
        loss, scores = student.step()
        run.log(loss=loss)
        said.append(scores.argmax(1).to(torch.int16))
    return torch.stack(said)


def learn_steadily(net: Network, lesson: Lesson, run: Run) -> None:
    """Teach a network, and give it weights that no single epoch decides.

    Of many answers a fifth is held out: the running mean of the weights is kept where that fifth
    was likeliest. Few answers are all learnt from: the mean over all epochs but the first is kept.
    """
    held, learnt = split(len(lesson.rows), run.rng)
    student, watched = Student(net, lesson, learnt), torch.tensor(held).to(lesson.rows.device)
    mean = best = torch.full((), torch.inf, dtype=student.dtype, device=lesson.rows.device)
    counted = 0
    for epoch in run.loop(lesson.epochs, "Epochs"):
        loss, scores = student.step()
        run.log(loss=loss)
        if len(held):
            missed, newest = lesson.losses(scores, watched).mean(), max(NEWEST, 1 / (epoch + 1))
            mean = missed if epoch == 0 else torch.lerp(mean, missed, newest)
            student.remember(newest, mean < best)
            best = torch.minimum(mean, best)
            run.log(held_out=missed)
        elif epoch + 1 > SKIPPED * lesson.epochs:
            counted += 1
            student.remember(1 / counted, torch.isinf(best))  # always
    student.recall()


def split(n: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places to hold out, and to learn from."""
    order = rng.permutation(n)
    held = int(HELD_OUT * n) if n >= MANY else 0
    return np.sort(order[:held]), np.sort(order[held:])
