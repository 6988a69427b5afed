"""Workers who know or spam: their trust and habits, from the labels that they are thought to know.

Columns S are starts side by side; a key is worker * K + given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from crowdcore.engine import dirichlet, em
from crowdcore.engine.leaps import Leaps

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.cells import Cells
    from crowdcore.run import Run

LEAST = 1e-10
"""Added to counts that are not smoothed, whose logarithm is taken."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Told:
    """How many labels were known and spammed [W, 2, S], and spammed by class [W, K, S]."""

    both: Tensor
    spam: Tensor


@dataclass(frozen=True, kw_only=True, eq=False)
class Model:
    """What is thought of the workers, and the logs that the E step needs."""

    trust: Tensor  # [W, S]
    habit: Tensor  # [W * K, S]
    log_known: Tensor  # [W * K, S]
    log_spam: Tensor  # [W * K, S]
    slack: Tensor  # [S] what the E step's total lacks to be a bound on the evidence


@dataclass(frozen=True, kw_only=True, eq=False)
class Fitted:
    """Starts that have settled; every part has a column a start."""

    bound: Tensor  # [1, S]
    cell: Tensor  # [C, S]
    rest: Tensor  # [N, S]
    prior: Tensor  # [K, S]
    trust: Tensor  # [W, S]
    habit: Tensor  # [W * K, S]

    def best(self, lead: float) -> Fitted:
        """The start with the highest bound; all but the first must lead by so much."""
        late = torch.arange(self.bound.shape[1], device=self.bound.device).clamp(max=1)
        place = (self.bound - lead * late).argmax(1)
        return Fitted(**{name: part.index_select(1, place) for name, part in vars(self).items()})

    @staticmethod
    def joined(parts: list[Fitted]) -> Fitted:
        """Put batches of starts side by side."""
        names = vars(parts[0])
        return Fitted(**{name: torch.cat([vars(p)[name] for p in parts], 1) for name in names})


def split(cells: Cells, knew: Tensor) -> Told:
    """Split the labels of every key into known ones [W * K, S] and spam."""
    labels = cells.labels
    size = (labels.n_workers, labels.n_classes, knew.shape[1])
    spam = (cells.key_counts.unsqueeze(1) - knew).clamp_(min=0).reshape(size)
    return Told(both=torch.stack([knew.reshape(size).sum(1), spam.sum(1)], 1), spam=spam)


def likeliest(told: Told, smoothing: float) -> Model:
    """Shares of the counts, after a little smoothing."""
    both = told.both + max(LEAST, smoothing)
    spam = told.spam + max(LEAST, smoothing / told.spam.shape[1])
    trust, habit = both / both.sum(1, keepdim=True), spam / spam.sum(1, keepdim=True)
    return _model(trust, habit, trust.log(), habit.log(), both.new_zeros(both.shape[2]))


def expected(told: Told, trust_prior: float, habit_prior: float) -> Model:
    """Means and expected logs under the Beta and Dirichlet that the counts lead to."""
    both, spam = told.both + trust_prior, told.spam + habit_prior
    log_both, log_habit = dirichlet.expected_log(both, 1), dirichlet.expected_log(spam, 1)
    slack = dirichlet.log_evidence(both.new_full((), trust_prior), told.both, 1).sum(0)
    slack = slack + dirichlet.log_evidence(both.new_full((), habit_prior), told.spam, 1).sum(0)
    slack = slack - (told.both * log_both).sum((0, 1)) - (told.spam * log_habit).sum((0, 1))
    trust, habit = both / both.sum(1, keepdim=True), spam / spam.sum(1, keepdim=True)
    return _model(trust, habit, log_both, log_habit, slack)


def _model(
    both: Tensor, habit: Tensor, log_both: Tensor, log_habit: Tensor, slack: Tensor
) -> Model:
    columns = habit.shape[2]
    log_known = log_both.select(1, 0).unsqueeze(1).expand_as(habit)
    log_spam = log_both.select(1, 1).unsqueeze(1) + log_habit
    return Model(
        trust=both.select(1, 0),
        habit=habit.reshape(-1, columns),
        log_known=log_known.reshape(-1, columns),
        log_spam=log_spam.reshape(-1, columns),
        slack=slack.double(),
    )


def recalled(cells: Cells, right: Tensor, learn: Callable[[Told], Model], steps: int) -> Tensor:
    """The chance [W * K, 1] that a right label was known, if so many [W * K, 1] are right.

    This is what an earlier posterior knew of the workers; no look at the labels is needed.
    """
    known = right / cells.key_counts.clamp(min=1).unsqueeze(1)
    for _ in range(steps):
        model = learn(split(cells, right * known))
        known = (model.log_known - model.log_spam).sigmoid()
    return known


def settle(
    cells: Cells,
    known: Tensor,
    run: Run,
    *,
    learn: Callable[[Told], Model],
    class_prior: bool,
    max_iter: int,
    tol: float,
) -> Fitted:
    """Iterate starts side by side until none gains more than `tol` a label.

    `known` [W * K, S] is the chance that a label which is right was known, not a lucky spam.
    """
    labels, given, n_starts = cells.labels, cells.key_counts.unsqueeze(1), known.shape[1]
    start = em.start(labels, "votes")
    right = cells.add_cells(cells.pick(start).unsqueeze(1).repeat(1, n_starts))
    totals = em.class_totals(labels, start).unsqueeze(1).repeat(1, n_starts)
    last = totals.new_zeros(n_starts)
    leaps = Leaps(on=labels.warm is not None)
    for _ in run.loop(max_iter, "Starts"):
        model = learn(split(cells, right * known))
        odds = torch.logaddexp(model.log_known, model.log_spam) - model.log_spam
        log_prior = dirichlet.expected_log(1 + totals, 0)
        prior = log_prior.exp() if class_prior else torch.ones_like(totals)
        cell, rest, total = cells.normalise(cells.add_keys(odds), prior if class_prior else None)
        bound = total + model.slack + (given * model.log_spam).sum(0).double()
        if class_prior:
            bound += dirichlet.log_evidence(totals.new_ones(()), totals, 0)
            bound -= (totals * log_prior).sum(0)
        moved, last = (bound - last).abs() / labels.n_labels, bound
        run.log(bound=bound.amax() / labels.n_labels)
        if run.settled(moved.amax(), tol) and not leaps.leapt:
            break
        # A start that has settled stays, however long the others take.
        moving = moved >= (0.0 if leaps.on else tol)
        known = torch.where(moving, (model.log_known - model.log_spam).sigmoid_(), known)
        right = torch.where(moving, cells.add_cells(cell), right)
        if class_prior:
            totals = torch.where(moving, cells.class_totals(cell, rest, prior), totals)
        if leaps.on:  # there is one start
            point = leaps.next(torch.cat([right, known, totals]).double().squeeze(1), bound.sum())
            sizes = [len(given), len(given), len(totals)]
            right, known, totals = torch.split(point.clamp(min=0).unsqueeze(1), sizes)
            right, known = right.to(cell.dtype), known.clamp(max=1).to(cell.dtype)
    return Fitted(
        bound=last.unsqueeze(0),
        cell=cell,
        rest=rest,
        prior=prior,
        trust=model.trust,
        habit=model.habit,
    )
