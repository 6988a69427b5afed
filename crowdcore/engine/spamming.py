"""Workers who know or spam: their trust and habits, from the labels that they are thought to know.

Columns S are starts side by side; a key is worker * K + given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from crowdcore.engine import dirichlet

if TYPE_CHECKING:
    from torch import Tensor

    from crowdcore.engine.cells import Cells

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
