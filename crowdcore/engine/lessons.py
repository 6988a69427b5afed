"""Lessons: how networks over a whole crowd learn from some answers, and when they stop."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils import clip_grad_norm_

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from crowdcore.engine.hetero import Network, States
    from crowdcore.run import Run

FOLDS = 5
MANY = 500
"""Of so many answers one network holds out a fifth; fewer are all held out in turn."""

PATIENCE = 100
"""Epochs without better answers after which networks stop."""

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
    """A network that learns from a part of a lesson.

    Its weights and their gradients are moved into one vector each: a network has dozens of small
    tables, and what is done to each of them in every epoch adds up.
    """

    def __init__(self, net: Network, lesson: Lesson, places: NDArray[np.int64]) -> None:
        self.net, self.lesson = net, lesson
        self._places = torch.tensor(places).to(lesson.rows.device)
        tables = list(net.parameters())
        self._weights = nn.Parameter(torch.cat([table.detach().flatten() for table in tables]))
        self._weights.grad = torch.zeros_like(self._weights)
        sizes = [table.numel() for table in tables]
        parts = (torch.split(whole, sizes) for whole in (self._weights.data, self._weights.grad))
        for table, weight, grad in zip(tables, *parts, strict=True):
            table.data, table.grad = weight.view_as(table), grad.view_as(table)
        self._optimiser = torch.optim.Adam([self._weights], lr=lesson.rate, fused=True)
        self._before = self._kept = self._weights.detach().clone()

    def step(self) -> tuple[Tensor, Tensor]:
        """Learn once; returns the loss and the scores [n, K], both from before."""
        self._before = self._weights.detach().clone()
        self._optimiser.zero_grad(set_to_none=False)
        scores, _ = self.net()
        loss = self.lesson.losses(scores, self._places).mean()
        loss.backward()  # type: ignore[no-untyped-call]
        clip_grad_norm_([self._weights], LONGEST)
        self._optimiser.step()
        return loss.detach(), scores.detach()

    def remember(self) -> None:
        """Keep the weights from before the last step."""
        self._kept = self._before

    def recall(self) -> Network:
        """The network with the weights that were kept."""
        with torch.no_grad():
            self._weights.copy_(self._kept)
        return self.net


def learn(net: Network, lesson: Lesson, run: Run) -> Tensor:
    """Teach a network everything for all epochs; the classes it gave before each [epochs, n]."""
    student, said = Student(net, lesson, np.arange(len(lesson.rows))), []
    for _ in run.loop(lesson.epochs, "Epochs"):
        loss, scores = student.step()
        run.log(loss=loss)
        said.append(scores.argmax(1).to(torch.int16))
    return torch.stack(said)


def learn_and_stop(make: Callable[[], Network], lesson: Lesson, run: Run) -> list[Network]:
    """Teach networks, and take them back to where the answers that they held out were likeliest.

    One network holds out a fifth of many answers. Of few answers a fifth says little: five
    networks hold out a fifth each, and stop together where all answers are likeliest.
    """
    device, splits = lesson.rows.device, _splits(len(lesson.rows), run.rng)
    students = [Student(make(), lesson, learnt) for learnt, _ in splits]
    watched = [torch.tensor(held).to(device) for _, held in splits]
    best, since = math.inf, 0
    for _ in run.loop(lesson.epochs, "Epochs"):
        losses, missed = [], []
        for student, places in zip(students, watched, strict=True):
            run.check()
            loss, scores = student.step()
            losses.append(loss)
            missed.append(lesson.losses(scores, places))
        held_out = float(torch.cat(missed).mean())
        run.log(loss=torch.stack(losses).mean(), held_out=held_out)
        since += 1
        if held_out < best:
            best, since = held_out, 0
            for student in students:
                student.remember()
        if since >= PATIENCE:
            break
    return [student.recall() for student in students]


def answer(nets: Sequence[Network]) -> tuple[Tensor, Network, States]:
    """The mean of what networks believe [n, K]; the one nearest to it, and its states."""
    answers = [net() for net in nets]
    beliefs = torch.stack([scores.softmax(1) for scores, _ in answers])
    mean = beliefs.mean(0)
    nearest = int((beliefs - mean).abs().sum((1, 2)).argmin()) if len(nets) > 1 else 0
    return mean, nets[nearest], answers[nearest][1]


def _splits(n: int, rng: np.random.Generator) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Places to learn from and to hold out, for each network; very few are used for both."""
    everything = np.arange(n)
    if n < FOLDS:
        return [(everything, everything)]
    folds = np.array_split(rng.permutation(n), FOLDS)
    return [(np.setdiff1d(everything, fold), fold) for fold in folds[: 1 if n >= MANY else FOLDS]]
